#include "io/formats/tfrecord/tf_record_table.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/interrupt.h"
#include "io/formats/item_index.h"
#include "io/formats/recordio/text_fields.h"
#include "io/formats/tfrecord/tf_record_format.h"
#include "io/formats/tfrecord/tf_record_frame.h"
#include "io/formats/tfrecord/tf_record_heads.h"

namespace headrace {
namespace {

// Names what the heads of a file say in the indices beside it.
constexpr std::string_view kWalkOfHeads = "tfrecord 1";
// The same of its records that are whole and have their checksums.
constexpr std::string_view kWalkOfRecords = "tfrecord checked 1";
constexpr size_t kWalkBlockBytes = size_t{1} << 20;
constexpr auto kLeastFrame = static_cast<int64_t>(TfRecordFrame::kAroundBytes);

// Records of an index that are looked up before it is trusted: all of smaller files; of larger ones, or of many, as
// many at equal distances, but this many of each file.
constexpr size_t kMostLookedUp = size_t{1} << 15;
constexpr size_t kLeastLookedUp = 64;
// No line of an index is longer.
constexpr int64_t kMostLineBytes = 64;

absl::Status LocatedAt(absl::Status status, const std::string& path, int64_t offset) {
  if (!status.ok()) AddErrorField(status, ErrorField::kFile, Cat(path, ", byte ", offset));
  return status;
}

absl::Status CheckPlainTfRecords(const FileSystem& files, const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(const Compression compression, TfRecordCompressionOfFile(files, path));
  if (compression == Compression::kNone) return absl::OkStatus();
  absl::Status status = CannotBeIndexed(compression, "a file", "record");
  AddErrorField(status, ErrorField::kFile, path);
  return status;
}

absl::StatusOr<ItemIndex> WalkHeads(const std::string& path, const RandomAccessFile& file, int64_t size) {
  TfRecordHeads heads(&file, size);
  ItemSpans spans;
  spans.end = size;
  for (int64_t at = 0; at < size;) {
    const absl::StatusOr<int64_t> end = heads.EndAt(at);
    if (!end.ok()) return LocatedAt(end.status(), path, at);
    spans.begins.push_back(at);
    at = *end;
  }
  ItemIndex index;
  index.parts.push_back(std::move(spans));
  return index;
}

// Of the records that TfRecordFormat gives where it skips damage.
absl::StatusOr<ItemIndex> WalkGoodRecords(const FileSystem& files, const std::string& path, TfRecordTable& table) {
  const TfRecordFormat format(OnDamage::kSkip, Compression::kNone);
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<RecordReader> reader,
                            format.Open(files, path, Split(), 0, kWalkBlockBytes));
  ItemIndex index;
  ItemSpans spans;
  RecordBlock block;
  do {
    HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
    const absl::Status read = reader->Next(block);
    if (!read.ok()) return LocatedAt(read, path, reader->offset());
    for (const Record& record : block.records) {
      spans.begins.push_back(record.offset);
      spans.ends.push_back(record.offset + kLeastFrame + record.length);
    }
    for (const LostBytes& lost : block.lost) {
      table.notes.push_back({path, lost.offset, Cat(lost.bytes, " bytes left out: ", lost.reason)});
      index.left_out = true;
    }
  } while (!block.records.empty());
  spans.end = reader->file_size();
  index.parts.push_back(std::move(spans));
  return index;
}

absl::Status NotTheIndexOf(const std::string& index_path, const std::string& path, int64_t offset,
                           std::string_view reason) {
  return DataError(index_path, ": it names a record at byte ", offset, " of ", path, ", ", reason,
                   ": is it the index of another file? Make it anew, or read with index=\"build\"");
}

// The lines are in order of their offsets.
absl::Status CheckLines(const std::vector<TfRecordIndexLine>& lines, const std::string& index_path,
                        const std::string& path, int64_t size) {
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto [offset, bytes] = lines[i];
    if (offset > size || bytes > size - offset) {
      return NotTheIndexOf(index_path, path, offset, Cat("of ", bytes, " bytes, and the file has ", size));
    }
    if (i + 1 < lines.size() && lines[i + 1].offset < offset + bytes) {
      return NotTheIndexOf(index_path, path, lines[i + 1].offset, Cat("within the one at byte ", offset));
    }
  }
  return absl::OkStatus();
}

absl::Status LookUp(const std::vector<TfRecordIndexLine>& lines, const std::string& index_path, const std::string& path,
                    const RandomAccessFile& file, int64_t size, size_t looked_up) {
  TfRecordHeads heads(&file, size);
  const size_t step = lines.empty() ? 1 : (lines.size() - 1) / looked_up + 1;
  for (size_t i = 0; i < lines.size(); i += step) {
    const absl::StatusOr<int64_t> end = heads.EndAt(lines[i].offset);
    if (!end.ok() && KindOf(end.status()) != ErrorKind::kData) return end.status();
    if (!end.ok()) return NotTheIndexOf(index_path, path, lines[i].offset, "where none begins");
    if (*end != lines[i].offset + lines[i].bytes) {
      return NotTheIndexOf(index_path, path, lines[i].offset,
                           Cat("of ", lines[i].bytes, " bytes, and it has ", *end - lines[i].offset));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TfRecordIndexLine>> ReadLines(const FileSystem& files, const std::string& index_path,
                                                         int64_t size) {
  HEADRACE_ASSIGN_OR_RETURN(const FileStat stat, files.Stat(index_path));
  if (stat.size > (size / kLeastFrame + 1) * kMostLineBytes) {
    return DataError(index_path, ": it has ", stat.size, " bytes, more than an index of a file of ", size,
                     " bytes; is it an index?");
  }
  HEADRACE_ASSIGN_OR_RETURN(const Tensor text, files.Read(index_path));
  HEADRACE_ASSIGN_OR_RETURN(std::vector<TfRecordIndexLine> lines, ParseTfRecordIndex(text.bytes_value(), index_path));
  const auto before = [](const TfRecordIndexLine& a, const TfRecordIndexLine& b) { return a.offset < b.offset; };
  if (!std::is_sorted(lines.begin(), lines.end(), before)) std::stable_sort(lines.begin(), lines.end(), before);
  return lines;
}

absl::Status AddIndexed(const FileSystem& files, const std::string& path, const std::string& index_path,
                        size_t looked_up, TfRecordTable& table) {
  HEADRACE_RETURN_IF_ERROR(CheckPlainTfRecords(files, path));
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const RandomAccessFile> file, files.Open(path));
  HEADRACE_ASSIGN_OR_RETURN(const int64_t size, file->Size());
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<TfRecordIndexLine> lines, ReadLines(files, index_path, size));
  if (lines.empty() && size > 0) {
    return DataError(index_path, ": it names no record, and ", path, " has ", size,
                     " bytes: make the index anew, or read with index=\"build\"");
  }
  HEADRACE_RETURN_IF_ERROR(CheckLines(lines, index_path, path, size));
  HEADRACE_RETURN_IF_ERROR(LookUp(lines, index_path, path, *file, size, looked_up));
  ItemSpans spans;
  spans.begins.reserve(lines.size());
  spans.ends.reserve(lines.size());
  for (const auto& [offset, bytes] : lines) {
    spans.begins.push_back(offset);
    spans.ends.push_back(offset + bytes);
  }
  spans.end = size;
  const int64_t named = lines.empty() ? 0 : spans.ends.back();
  if (named < size) {
    table.notes.push_back({path, named,
                           Cat("the index ", index_path, " names no record of the last ", size - named,
                               " bytes; is it older than the file?")});
  }
  table.records.Add(path, size, std::move(spans));
  table.indices.push_back(index_path);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<TfRecordIndexLine>> ParseTfRecordIndex(std::string_view text, std::string_view path) {
  std::vector<TfRecordIndexLine> lines;
  HEADRACE_RETURN_IF_ERROR(ForEachLine(text, [&](size_t number, std::string_view line) {
    const size_t blank = line.find_first_of(" \t");
    TfRecordIndexLine parsed;
    const bool good = blank != std::string_view::npos && ReadNumber(line.substr(0, blank), parsed.offset) &&
                      ReadNumber(WithoutSpaces(line.substr(blank)), parsed.bytes);
    if (!good || parsed.offset < 0 || parsed.bytes < kLeastFrame) {
      return DataError(path, ", line ", number, ": an index has lines of an offset and a size, both in bytes; got \"",
                       line.substr(0, 100), "\"");
    }
    lines.push_back(parsed);
    return absl::OkStatus();
  }));
  return lines;
}

absl::StatusOr<TfRecordTable> BuildTfRecordTable(const FileSystem& files, const std::vector<std::string>& paths,
                                                 OnDamage on_damage, bool writes) {
  TfRecordTable table;
  const bool skips = on_damage == OnDamage::kSkip;
  for (const std::string& path : paths) {
    HEADRACE_RETURN_IF_ERROR(CheckPlainTfRecords(files, path));
    const auto walk = [&](const RandomAccessFile& file, int64_t size) {
      return skips ? WalkGoodRecords(files, path, table) : WalkHeads(path, file, size);
    };
    HEADRACE_ASSIGN_OR_RETURN(FoundItems found,
                              FindItems(files, path, skips ? kWalkOfRecords : kWalkOfHeads, writes, walk));
    if (found.index.parts.size() != 1) {
      return DataError(path, kItemIndexEnding, ": it is not of a TFRecord file; delete it, and it is made anew");
    }
    table.records.Add(path, found.size, std::move(found.index.parts[0]));
  }
  return table;
}

absl::StatusOr<TfRecordTable> ReadTfRecordTable(const FileSystem& files, const std::vector<std::string>& paths,
                                                const std::vector<std::string>& indices) {
  TfRecordTable table;
  const size_t looked_up = std::max(kLeastLookedUp, kMostLookedUp / std::max<size_t>(1, paths.size()));
  for (size_t i = 0; i < paths.size(); ++i) {
    HEADRACE_RETURN_IF_ERROR(AddIndexed(files, paths[i], indices[i], looked_up, table));
  }
  return table;
}

}  // namespace headrace
