#include "io/formats/text/line_table.h"

#include <algorithm>
#include <memory>

#include "core/error.h"
#include "core/hash.h"
#include "core/interrupt.h"
#include "io/formats/compressed/compression.h"

namespace headrace {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;

}  // namespace

absl::StatusOr<LineTable> LineTable::Build(const FileSystem& files, const std::vector<std::string>& paths,
                                           const Format& format, Choose choose) {
  LineTable table;
  for (const std::string& path : paths) HEADRACE_RETURN_IF_ERROR(table.Add(files, path, format, choose));
  return table;
}

absl::Status LineTable::CheckPlain(const FileSystem& files, const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(const Compression compression, CompressionOfFile(files, path));
  if (compression == Compression::kNone) return absl::OkStatus();
  absl::Status status =
      GraphError("an index says at which byte of its file a line begins, and a file that is compressed by ",
                 CompressionName(compression), " is read from its start on; decompress it, or leave out index=");
  AddErrorField(status, ErrorField::kFile, path);
  return status;
}

absl::Status LineTable::Add(const FileSystem& files, const std::string& path, const Format& format, Choose choose) {
  HEADRACE_RETURN_IF_ERROR(CheckPlain(files, path));
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<RecordReader> reader,
                            format.Open(files, path, Split(), 0, kBlockBytes));
  files_.push_back({path, reader->file_size(), size()});
  RecordBlock block;
  while (true) {
    HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
    absl::Status read = reader->Next(block);
    if (!read.ok()) AddErrorField(read, ErrorField::kFile, Cat(path, ", byte ", reader->offset()));
    HEADRACE_RETURN_IF_ERROR(read);
    if (block.records.empty()) break;
    choose(block);
    for (const Record& line : block.records) begins_.push_back(line.offset);
  }
  begins_.push_back(reader->file_size());
  return absl::OkStatus();
}

uint64_t LineTable::FileOf(uint64_t line) const {
  const auto behind = std::upper_bound(files_.begin(), files_.end(), line,
                                       [](uint64_t number, const File& file) { return number < file.first; });
  return static_cast<uint64_t>(behind - files_.begin()) - 1;
}

uint64_t LineTable::fingerprint() const {
  return HashBytes({reinterpret_cast<const char*>(begins_.data()), begins_.size() * sizeof(int64_t)}, files_.size());
}

}  // namespace headrace
