#include "io/formats/text/line_table.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/error.h"
#include "core/interrupt.h"
#include "io/formats/compressed/compression.h"

namespace headrace {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;

absl::Status CheckPlain(const FileSystem& files, const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(const Compression compression, CompressionOfFile(files, path));
  if (compression == Compression::kNone) return absl::OkStatus();
  absl::Status status = CannotBeIndexed(compression, "a file", "line");
  AddErrorField(status, ErrorField::kFile, path);
  return status;
}

absl::Status AddLines(const FileSystem& files, const std::string& path, const Format& format, ChooseLines choose,
                      ItemTable& table) {
  HEADRACE_RETURN_IF_ERROR(CheckPlain(files, path));
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<RecordReader> reader,
                            format.Open(files, path, Split(), 0, kBlockBytes));
  ItemSpans lines;
  lines.end = reader->file_size();
  RecordBlock block;
  while (true) {
    HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
    absl::Status read = reader->Next(block);
    if (!read.ok()) AddErrorField(read, ErrorField::kFile, Cat(path, ", byte ", reader->offset()));
    HEADRACE_RETURN_IF_ERROR(read);
    if (block.records.empty()) break;
    // The last element of an array reaches as far as the bracket that ends the array, which shows its end.
    lines.end = std::min(block.end + 1, reader->file_size());
    choose(block);
    for (const Record& line : block.records) lines.begins.push_back(line.offset);
  }
  table.Add(path, reader->file_size(), std::move(lines));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ItemTable> BuildLineTable(const FileSystem& files, const std::vector<std::string>& paths,
                                         const Format& format, ChooseLines choose) {
  ItemTable table;
  for (const std::string& path : paths) HEADRACE_RETURN_IF_ERROR(AddLines(files, path, format, choose, table));
  return table;
}

}  // namespace headrace
