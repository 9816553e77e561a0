#include "io/formats/recordio/record_index.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/interrupt.h"
#include "io/formats/recordio/record_io_format.h"
#include "io/formats/recordio/text_fields.h"

namespace headrace {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;
// Places of damage that are told one by one.
constexpr size_t kMostTold = size_t{1} << 16;

absl::Status NotALine(std::string_view path, size_t number, std::string_view line) {
  return DataError(path, ", line ", number, ": an index has lines of a key, a tab and an offset in bytes; got \"",
                   line.substr(0, 100), "\"");
}

}  // namespace

absl::StatusOr<std::vector<RecordIndexLine>> ParseRecordIndexLines(std::string_view text, std::string_view path) {
  std::vector<RecordIndexLine> lines;
  HEADRACE_RETURN_IF_ERROR(ForEachLine(text, [&](size_t number, std::string_view line) {
    const size_t tab = line.find('\t');
    RecordIndexLine parsed{number, WithoutSpaces(line.substr(0, tab)), 0};
    const bool good = tab != std::string_view::npos && ReadNumber(WithoutSpaces(line.substr(tab)), parsed.offset);
    if (!good || parsed.offset < 0) return NotALine(path, number, line);
    lines.push_back(parsed);
    return absl::OkStatus();
  }));
  return lines;
}

absl::StatusOr<RecordIndex> ParseRecordIndex(std::string_view text, std::string_view path) {
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<RecordIndexLine> lines, ParseRecordIndexLines(text, path));
  RecordIndex index;
  index.keys.reserve(lines.size());
  index.offsets.reserve(lines.size());
  for (const RecordIndexLine& line : lines) {
    uint64_t key = 0;
    if (!ReadNumber(line.key, key)) {
      return DataError(path, ", line ", line.number, ": the key \"", line.key.substr(0, 100),
                       "\" is not a whole number from 0 to 2^64 - 1");
    }
    index.keys.push_back(key);
    index.offsets.push_back(line.offset);
  }
  return index;
}

std::string FormatRecordIndex(const RecordIndex& index) {
  std::string text;
  for (size_t i = 0; i < index.keys.size(); ++i) Append(text, index.keys[i], "\t", index.offsets[i], "\n");
  return text;
}

absl::StatusOr<RecordIndex> ScanRecords(const FileSystem& files, const std::string& path, OnDamage on_damage,
                                        std::vector<LostBytes>* lost) {
  const RecordIoFormat format(on_damage);
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<RecordReader> reader,
                            format.Open(files, path, Split(), 0, kBlockBytes));
  RecordIndex index;
  RecordBlock block;
  int64_t further = 0;
  LostBytes last;  // of further places, all together
  do {
    HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
    absl::Status read = reader->Next(block);
    if (!read.ok()) AddErrorField(read, ErrorField::kFile, Cat(path, ", byte ", reader->offset()));
    HEADRACE_RETURN_IF_ERROR(read);
    for (const Record& record : block.records) {
      index.keys.push_back(index.keys.size());
      index.offsets.push_back(record.offset);
    }
    for (LostBytes& each : block.lost) {
      if (lost == nullptr) break;
      if (lost->size() < kMostTold) {
        lost->push_back(std::move(each));
        continue;
      }
      if (further++ == 0) last = {each.offset, 0, ""};
      last.bytes += each.bytes;
    }
  } while (!block.records.empty());
  if (further > 0) {
    last.reason = Cat("from here on, in ", further, " further places");
    lost->push_back(std::move(last));
  }
  return index;
}

}  // namespace headrace
