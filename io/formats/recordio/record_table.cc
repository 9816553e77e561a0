#include "io/formats/recordio/record_table.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/interrupt.h"
#include "io/files/far_of.h"
#include "io/formats/recordio/frame_chains.h"
#include "io/formats/recordio/record_frame.h"

namespace headrace {
namespace {

// Records that are looked up before the indices of a table are trusted: all of smaller files; of larger ones, or of
// many, as many at equal distances, but this many of each file.
constexpr size_t kMostLookedUp = size_t{1} << 15;
constexpr size_t kLeastLookedUp = 64;
// Of each far file: one is a request. All are looked at again when they are read.
constexpr size_t kFarLookedUp = 4;

// Damaged records that are named one by one, of each file.
constexpr int64_t kMostNamed = 1000;

// Puts the records in order of their offsets.
void SortByOffset(RecordIndex& index) {
  if (std::is_sorted(index.offsets.begin(), index.offsets.end())) return;
  std::vector<size_t> order(index.offsets.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return index.offsets[a] < index.offsets[b]; });
  RecordIndex sorted;
  sorted.keys.reserve(order.size());
  sorted.offsets.reserve(order.size());
  for (const size_t i : order) {
    sorted.keys.push_back(index.keys[i]);
    sorted.offsets.push_back(index.offsets[i]);
  }
  index = std::move(sorted);
}

// The byte after the record at `offset`; nullopt if no whole record is there that ends by `most`. Reads the heads of
// its frames alone. `chains`: of a caller that looks up many records, from the first to the last; or null.
absl::StatusOr<std::optional<int64_t>> EndOfRecord(const RandomAccessFile& file, int64_t offset, int64_t most,
                                                   FrameChains* chains = nullptr) {
  constexpr auto kHead = static_cast<int64_t>(RecordFrame::kHeadBytes);
  FrameChains::Walk walk(chains, offset);
  FrameChains::Way way = {offset};
  for (bool first = true; way.more; first = false) {
    const FrameChains::Way* const known = first ? nullptr : walk.At(way.to, way.length);
    if (known != nullptr) {
      way = {known->to, way.length + known->length, known->more};
      if (way.length > RecordFrame::kLongest) return std::nullopt;
      continue;
    }
    HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
    uint8_t head[RecordFrame::kHeadBytes];
    HEADRACE_ASSIGN_OR_RETURN(const int64_t got, file.ReadAt(way.to, absl::MakeSpan(head)));
    uint32_t magic, word;
    std::memcpy(&magic, head, sizeof(magic));
    std::memcpy(&word, head + sizeof(magic), sizeof(word));
    const uint32_t part = word >> RecordFrame::kPartShift;
    const bool begins = part == RecordFrame::kWhole || part == RecordFrame::kFirst;
    const size_t length = word & RecordFrame::kLongest;
    const size_t whole_length = way.length + length + (first ? 0 : sizeof(magic));
    if (got < kHead || magic != RecordFrame::kMagic || begins != first || part > RecordFrame::kLast ||
        whole_length > RecordFrame::kLongest || way.to > most) {
      walk.Note(way);
      return std::nullopt;
    }
    way.to += kHead + static_cast<int64_t>(RecordFrame::Padded(length));
    way.length = whole_length;
    way.more = part == RecordFrame::kFirst || part == RecordFrame::kMiddle;
  }
  walk.Note(way);
  return way.to <= most ? std::optional(way.to) : std::nullopt;
}

// The two with the same offset that come first; the size: there are none.
size_t FindEqual(const std::vector<int64_t>& sorted) {
  return static_cast<size_t>(std::adjacent_find(sorted.begin(), sorted.end()) - sorted.begin());
}

// How many records of each of these files are looked up.
size_t LookedUpOf(const FileSystem& files, const std::vector<std::string>& paths) {
  if (paths.empty()) return kLeastLookedUp;
  if (FarOf(files, paths[0]) != nullptr) return kFarLookedUp;
  return std::max(kLeastLookedUp, kMostLookedUp / paths.size());
}

// Whether the offsets, in order, are those of all records: each record ends where the next one begins. The last one and
// those at equal distances before it are looked up, at most `looked_up`.
absl::StatusOr<bool> NamesAll(const RandomAccessFile& file, int64_t size, const std::vector<int64_t>& offsets,
                              size_t looked_up) {
  if (offsets.empty()) return size == 0;
  if (offsets.front() != 0 || offsets.back() >= size || FindEqual(offsets) < offsets.size()) return false;
  const size_t step = (offsets.size() - 1) / looked_up + 1;
  for (size_t i = offsets.size() - 1;; i -= step) {
    const int64_t wanted = i + 1 < offsets.size() ? offsets[i + 1] : size;
    HEADRACE_ASSIGN_OR_RETURN(const std::optional<int64_t> end, EndOfRecord(file, offsets[i], wanted));
    if (end != wanted) return false;
    if (i < step) return true;
  }
}

struct OpenedFile {
  std::shared_ptr<const RandomAccessFile> file;
  int64_t size;
};
absl::StatusOr<OpenedFile> Open(const FileSystem& files, const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<const RandomAccessFile> file, files.Open(path));
  HEADRACE_ASSIGN_OR_RETURN(const int64_t size, file->Size());
  return OpenedFile{std::move(file), size};
}

// The damage of the record at byte `offset`, as far as heads show it; empty: there is none.
absl::StatusOr<std::string> DamageAt(const RandomAccessFile& file, int64_t size, int64_t offset, FrameChains& chains) {
  HEADRACE_ASSIGN_OR_RETURN(const std::optional<int64_t> end, EndOfRecord(file, offset, size, &chains));
  if (!end.has_value()) return Cat("no whole record is at byte ", offset);
  if (*end == size) return "";
  uint8_t head[RecordFrame::kHeadBytes];
  HEADRACE_ASSIGN_OR_RETURN(const int64_t got, file.ReadAt(*end, absl::MakeSpan(head)));
  if (BeginsLikeHead(absl::MakeSpan(head).first(static_cast<size_t>(got)))) return "";
  return Cat("the record at byte ", offset, " ends at byte ", *end, ", where no other one begins");
}

// Leaves the damaged records out of the index, which is in order of offsets, and notes them. kData: they are more than
// three quarters, as with the index of another file.
absl::Status LeaveOutDamaged(const OpenedFile& opened, const std::string& path, const std::string& index_path,
                             RecordIndex& index, RecordTable& table) {
  RecordIndex good;
  int64_t left_out = 0;
  int64_t last = 0;
  FrameChains chains;
  for (size_t i = 0; i < index.offsets.size(); ++i) {
    HEADRACE_ASSIGN_OR_RETURN(const std::string damage, DamageAt(*opened.file, opened.size, index.offsets[i], chains));
    if (damage.empty()) {
      good.keys.push_back(index.keys[i]);
      good.offsets.push_back(index.offsets[i]);
      continue;
    }
    last = index.offsets[i];
    if (++left_out > kMostNamed) continue;
    table.Add({path, last, Cat("left out, though ", index_path, " names it by key ", index.keys[i], ": ", damage)});
  }
  if (left_out > kMostNamed) {
    table.Add({path, last, Cat("the last of ", left_out - kMostNamed, " more records that were left out")});
  }
  if (good.offsets.size() < (index.offsets.size() + 3) / 4) {
    return DataError(index_path, ": ", left_out, " of the ", index.offsets.size(), " records that it names are not in ",
                     path, ": is it the index of another file? Make it anew, or read with index=\"build\"");
  }
  index = std::move(good);
  return absl::OkStatus();
}

absl::Status CheckOffsets(const RecordIndex& index, const std::string& index_path, const std::string& path,
                          int64_t size) {
  for (size_t i = 0; i < index.offsets.size(); ++i) {
    const int64_t offset = index.offsets[i];
    if (offset >= size) {
      return DataError(index_path, ": key ", index.keys[i], " points to byte ", offset, " of ", path,
                       ", which has only ", size, " bytes: was the file cut off, or is it the index of another one?");
    }
    if (offset % static_cast<int64_t>(RecordFrame::kAlignment) != 0) {
      return DataError(index_path, ": key ", index.keys[i], " points to byte ", offset, " of ", path,
                       ", between records, which begin at multiples of ", RecordFrame::kAlignment,
                       ": is it the index of another file?");
    }
  }
  return absl::OkStatus();
}

// `index` is in order of its offsets.
absl::Status CheckDifferent(const RecordIndex& index, const std::string& index_path, const std::string& path) {
  const size_t i = FindEqual(index.offsets);
  if (i == index.offsets.size()) return absl::OkStatus();
  return DataError(index_path, ": keys ", index.keys[i], " and ", index.keys[i + 1], " both point to byte ",
                   index.offsets[i], " of ", path, ": make the index anew, or read with index=\"build\"");
}

// An index beside the file that names all its records; otherwise nullopt, and whether it may be replaced.
absl::StatusOr<std::optional<RecordIndex>> FittingIndex(const FileSystem& files, const std::string& index_path,
                                                        const OpenedFile& opened, OnDamage on_damage, size_t looked_up,
                                                        bool& replaceable) {
  replaceable = true;
  const absl::StatusOr<FileStat> stat = files.Stat(index_path);
  if (!stat.ok() && KindOf(stat.status()) == ErrorKind::kNotFound) return std::nullopt;
  HEADRACE_RETURN_IF_ERROR(stat.status());
  replaceable = false;
  const absl::StatusOr<Tensor> text = files.Read(index_path);
  if (!text.ok()) return std::nullopt;
  absl::StatusOr<RecordIndex> index = ParseRecordIndex(text->bytes_value(), index_path);
  // Not an index: somebody's other file.
  if (!index.ok()) return std::nullopt;
  replaceable = true;
  SortByOffset(*index);
  // Under kSkip no record may be damaged that is read by its number.
  if (on_damage == OnDamage::kSkip) looked_up = std::numeric_limits<size_t>::max();
  HEADRACE_ASSIGN_OR_RETURN(const bool all, NamesAll(*opened.file, opened.size, index->offsets, looked_up));
  return all ? std::optional(*std::move(index)) : std::nullopt;
}

absl::Status AddChosen(const FileSystem& files, const std::string& path, int64_t size, RecordTable::Source source,
                       RecordIndex index, ChooseRecords choose, RecordTable& table) {
  HEADRACE_ASSIGN_OR_RETURN(const int64_t end, choose(files, path, size, index));
  table.Add(path, size, std::move(source), std::move(index), end);
  return absl::OkStatus();
}

absl::Status AddFromIndex(const FileSystem& files, const std::string& path, const std::string& index_path,
                          OnDamage on_damage, size_t looked_up, ChooseRecords choose, RecordTable& table) {
  HEADRACE_ASSIGN_OR_RETURN(const OpenedFile opened, Open(files, path));
  HEADRACE_ASSIGN_OR_RETURN(const Tensor text, files.Read(index_path));
  HEADRACE_ASSIGN_OR_RETURN(RecordIndex index, ParseRecordIndex(text.bytes_value(), index_path));
  if (index.offsets.empty() && opened.size > 0) {
    return DataError(index_path, ": it names no record, and ", path, " has ", opened.size,
                     " bytes: make the index anew, or read with index=\"build\"");
  }
  HEADRACE_RETURN_IF_ERROR(CheckOffsets(index, index_path, path, opened.size));
  SortByOffset(index);
  HEADRACE_RETURN_IF_ERROR(CheckDifferent(index, index_path, path));
  const int64_t last = index.offsets.empty() ? -1 : index.offsets.back();
  if (on_damage == OnDamage::kSkip) {
    HEADRACE_RETURN_IF_ERROR(LeaveOutDamaged(opened, path, index_path, index, table));
  }
  HEADRACE_ASSIGN_OR_RETURN(const bool all, NamesAll(*opened.file, opened.size, index.offsets, looked_up));
  if (!all) {
    std::optional<int64_t> end = 0;
    if (last >= 0) {
      HEADRACE_ASSIGN_OR_RETURN(end, EndOfRecord(*opened.file, last, opened.size));
    }
    if (end.has_value() && *end < opened.size) {
      table.Add({path, *end,
                 Cat("the index ", index_path, " names no record of the last ", opened.size - *end,
                     " bytes; is it older than the file?")});
    }
  }
  return AddChosen(files, path, opened.size, {index_path, all}, std::move(index), choose, table);
}

absl::Status AddBuilt(const FileSystem& files, const std::string& path, OnDamage on_damage, size_t looked_up,
                      ChooseRecords choose, bool writes, RecordTable& table) {
  const std::string index_path = IndexPathOf(path);
  HEADRACE_ASSIGN_OR_RETURN(const OpenedFile opened, Open(files, path));
  bool replaceable = false;
  HEADRACE_ASSIGN_OR_RETURN(std::optional<RecordIndex> found,
                            FittingIndex(files, index_path, opened, on_damage, looked_up, replaceable));
  if (found.has_value()) {
    return AddChosen(files, path, opened.size, {index_path, true}, *std::move(found), choose, table);
  }
  std::vector<LostBytes> lost;
  HEADRACE_ASSIGN_OR_RETURN(RecordIndex index, ScanRecords(files, path, on_damage, &lost));
  if (index.offsets.empty() && !lost.empty()) {
    return DataError(path, ": it has ", opened.size, " bytes and no record: is it a RecordIO file?");
  }
  for (const LostBytes& each : lost) {
    table.Add({path, each.offset, Cat(each.bytes, " bytes left out: ", each.reason)});
  }
  // An index with gaps would hide the damage from the next run.
  if (writes && replaceable && lost.empty()) files.Write(index_path, {FormatRecordIndex(index)}).IgnoreError();
  return AddChosen(files, path, opened.size, {"", lost.empty()}, std::move(index), choose, table);
}

}  // namespace

void RecordTable::Add(std::string path, int64_t size, Source source, RecordIndex index, int64_t end) {
  sources_.push_back(std::move(source));
  bool counted = true;
  for (size_t i = 0; i < index.keys.size() && counted; ++i) counted = index.keys[i] == i;
  keys_.push_back(counted ? std::vector<uint64_t>() : std::move(index.keys));
  ItemTable::Add(std::move(path), size, {.begins = std::move(index.offsets), .end = end});
}

uint64_t RecordTable::Key(uint64_t record, uint64_t file) const {
  const uint64_t within = record - files()[file].first;
  return keys_[file].empty() ? within : keys_[file][within];
}

absl::StatusOr<int64_t> ChooseAll(const FileSystem& /*files*/, const std::string& /*path*/, int64_t size,
                                  RecordIndex& /*index*/) {
  return size;
}

absl::StatusOr<RecordTable> ReadIndices(const FileSystem& files, const std::vector<std::string>& paths,
                                        const std::vector<std::string>& indices, OnDamage on_damage,
                                        ChooseRecords choose) {
  RecordTable table;
  const size_t looked_up = LookedUpOf(files, paths);
  for (size_t i = 0; i < paths.size(); ++i) {
    HEADRACE_RETURN_IF_ERROR(AddFromIndex(files, paths[i], indices[i], on_damage, looked_up, choose, table));
  }
  return table;
}

absl::StatusOr<RecordTable> BuildIndices(const FileSystem& files, const std::vector<std::string>& paths,
                                         OnDamage on_damage, ChooseRecords choose, bool writes) {
  RecordTable table;
  const size_t looked_up = LookedUpOf(files, paths);
  for (const std::string& path : paths) {
    HEADRACE_RETURN_IF_ERROR(AddBuilt(files, path, on_damage, looked_up, choose, writes, table));
  }
  return table;
}

std::string IndexPathOf(const std::string& path) {
  const bool ends = path.size() > kRecordEnding.size() &&
                    path.compare(path.size() - kRecordEnding.size(), kRecordEnding.size(), kRecordEnding) == 0;
  return Cat(ends ? path.substr(0, path.size() - kRecordEnding.size()) : path, kIndexEnding);
}

}  // namespace headrace
