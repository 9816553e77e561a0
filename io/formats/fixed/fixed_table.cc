#include "io/formats/fixed/fixed_table.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <unordered_set>

#include "core/error.h"
#include "core/interrupt.h"
#include "core/row_id.h"
#include "core/seeded_hash.h"
#include "io/formats/compressed/compression.h"
#include "io/formats/compressed/unpacked_file.h"

namespace headrace {
namespace {

absl::Status WholeRows(int64_t bytes, const FixedLayout::Part& part) {
  if (bytes < part.head_bytes) {
    return DataError("it has ", bytes, " bytes, and its header has ", part.head_bytes, ": the file was cut off");
  }
  const int64_t over = (bytes - part.head_bytes) % part.row_bytes;
  if (over == 0) return absl::OkStatus();
  return DataError("byte ", bytes - over, ": ", over, " bytes are left, and a row has ", part.row_bytes,
                   ": the file was cut off, or is of another layout");
}

struct FoundRun {
  FixedTable::File file;
  FixedTable::Run run;
};

absl::StatusOr<FoundRun> FindRun(const FileSystem& files, const std::string& path, const FixedLayout::Part& part) {
  FoundRun found;
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const RandomAccessFile> opened, files.Open(path));
  HEADRACE_ASSIGN_OR_RETURN(const int64_t size, opened->Size());
  HEADRACE_ASSIGN_OR_RETURN(const Compression compression, CompressionOfFile(files, path));
  found.file = {path, size};
  int64_t bytes = size;
  if (compression == Compression::kGzip) {
    HEADRACE_ASSIGN_OR_RETURN(UnpackedFile unpacked, UnpackFile(files, path, compression));
    bytes = unpacked.bytes;
    found.run.unpacked = std::move(unpacked.buffer);
  }
  HEADRACE_RETURN_IF_ERROR(WholeRows(bytes, part));
  found.run.begin = part.head_bytes;
  found.run.rows = static_cast<uint64_t>((bytes - part.head_bytes) / part.row_bytes);
  if (!found.run.unpacked && found.run.rows > 0) {
    HEADRACE_RETURN_IF_ERROR(CheckHeld(path, *opened, part.row_bytes));
  }
  return found;
}

}  // namespace

void FixedTable::Part::Add(Run run) {
  run.first = rows();
  if (run.rows > 0) runs.push_back(std::move(run));
}

const FixedTable::Run& FixedTable::Part::RunOf(uint64_t row) const {
  const auto after = std::upper_bound(runs.begin(), runs.end(), row,
                                      [](uint64_t wanted, const Run& run) { return wanted < run.first; });
  return *(after - 1);
}

absl::StatusOr<FixedTable> FixedTable::Of(std::vector<File> files, std::vector<Part> parts,
                                          const std::vector<std::string>& names) {
  const uint64_t rows = parts[0].rows();
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].rows() == rows) continue;
    return DataError(names[i], " has ", parts[i].rows(), " rows, and ", names[0], " has ", rows,
                     "; choose columns of equally many");
  }
  return FixedTable(std::move(files), std::move(parts), rows);
}

int64_t FixedTable::held_bytes() const {
  int64_t bytes = 0;
  for (const Part& part : parts_) {
    for (const Run& run : part.runs) bytes += run.unpacked ? static_cast<int64_t>(run.unpacked->capacity()) : 0;
  }
  return bytes;
}

uint64_t FixedTable::fingerprint() const {
  uint64_t hash = rows_;
  for (const Part& part : parts_) {
    hash = MixKey(hash, static_cast<uint64_t>(part.row_bytes));
    for (const Run& run : part.runs) {
      hash = MixKey(MixKey(MixKey(hash, run.file), static_cast<uint64_t>(run.begin)), run.rows);
    }
  }
  return hash;
}

absl::Status CheckFixedFields(const FixedTable::Part& part) {
  if (part.row_bytes <= 0) return DataError("its rows have no bytes");
  std::unordered_set<std::string_view, SeededHash> names;
  for (const FixedField& field : part.fields) {
    if (field.offset < 0 || field.bytes() > part.row_bytes - field.offset) {
      return DataError("the field \"", field.name, "\" reaches over the row's ", part.row_bytes, " bytes");
    }
    if (!names.insert(field.name).second) return DataError("the field \"", field.name, "\" comes twice");
  }
  return absl::OkStatus();
}

absl::StatusOr<FixedTable> MakeFixedTable(const FileSystem& files, const FixedLayout& layout) {
  std::vector<FixedTable::File> listed;
  std::vector<FixedTable::Part> parts;
  std::vector<std::string> names;
  for (const FixedLayout::Part& part : layout.parts) {
    FixedTable::Part made{part.row_bytes, part.fields};
    HEADRACE_RETURN_IF_ERROR(CheckFixedFields(made));
    for (const std::string& path : part.paths) {
      HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
      absl::StatusOr<FoundRun> found = FindRun(files, path, part);
      if (!found.ok()) {
        absl::Status error = std::move(found).status();
        AddErrorField(error, ErrorField::kFile, path);
        return error;
      }
      found->run.file = listed.size();
      listed.push_back(std::move(found->file));
      made.Add(std::move(found->run));
    }
    names.push_back(part.paths.empty() ? "a part without files" : part.paths[0]);
    parts.push_back(std::move(made));
  }
  return FixedTable::Of(std::move(listed), std::move(parts), names);
}

}  // namespace headrace
