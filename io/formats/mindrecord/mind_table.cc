#include "io/formats/mindrecord/mind_table.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "io/formats/item_index.h"

namespace headrace {
namespace {

// A walk that finds other spans has another number.
constexpr std::string_view kMindWalk = "mindrecord 1";

void AppendSpans(ItemSpans from, ItemSpans& to) {
  to.begins.insert(to.begins.end(), from.begins.begin(), from.begins.end());
  to.ends.insert(to.ends.end(), from.ends.begin(), from.ends.end());
}

// Whether an index has the rows that the header says, whoever wrote it.
bool FitsHeader(const ItemIndex& index, const MindHeader& header) {
  const auto rows = static_cast<size_t>(header.rows);
  return index.parts.size() == 2 && std::all_of(index.parts.begin(), index.parts.end(), [&](const ItemSpans& spans) {
           return spans.begins.size() == rows && spans.ends.size() == rows;
         });
}

absl::StatusOr<ItemIndex> WalkFile(const FileSystem& files, const MindFile& file) {
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const RandomAccessFile> opened, files.Open(file.path));
  absl::StatusOr<ItemIndex> index = WalkMindRows(*opened, file.header);
  if (index.ok()) return index;
  absl::Status error = std::move(index).status();
  AddErrorField(error, ErrorField::kFile, file.path);
  return error;
}

absl::StatusOr<ItemIndex> KeptOrWalked(const FileSystem& files, const MindFile& file, bool writes) {
  const auto walk = [&](const RandomAccessFile& opened, int64_t) { return WalkMindRows(opened, file.header); };
  HEADRACE_ASSIGN_OR_RETURN(FoundItems found, FindItems(files, file.path, kMindWalk, writes, walk));
  if (FitsHeader(found.index, file.header)) return std::move(found.index);
  return WalkFile(files, file);
}

}  // namespace

void MindTable::Add(const MindFile& file, ItemSpans scalars, ItemSpans blobs) {
  AppendSpans(std::move(blobs), scalars);
  items_.Add(file.path, file.size, std::move(scalars));
  pages_.push_back({file.header.header_size, file.header.page_size});
}

uint64_t MindTable::RowsIn(uint64_t file) const {
  const std::vector<ItemTable::File>& files = items_.files();
  const uint64_t end = file + 1 < files.size() ? files[file + 1].first : items_.size();
  return (end - files[file].first) / 2;
}

// Each row before has two items.
MindTable::RowItems MindTable::ItemsOf(uint64_t row) const {
  const uint64_t file = items_.FileOf(2 * row);
  const uint64_t first = items_.files()[file].first;
  const uint64_t scalars = first + (row - first / 2);
  return {scalars, scalars + RowsIn(file)};
}

uint64_t MindTable::RowOf(uint64_t item) const {
  const uint64_t file = items_.FileOf(item);
  return items_.files()[file].first / 2 + PlaceOf(item).row;
}

MindTable::Place MindTable::PlaceOf(uint64_t item) const {
  Place place;
  place.file = items_.FileOf(item);
  const uint64_t rows = RowsIn(place.file);
  const uint64_t within = item - items_.files()[place.file].first;
  place.in_blob = within >= rows;
  place.row = place.in_blob ? within - rows : within;
  place.offset = items_.Begin(item, place.file);
  const Pages& pages = pages_[place.file];
  place.page = (place.offset - pages.header_size) / pages.page_size;
  return place;
}

absl::StatusOr<MindTable> MakeMindTable(const FileSystem& files, const std::vector<std::string>& paths,
                                        MindNaming naming, bool keep, bool writes) {
  HEADRACE_ASSIGN_OR_RETURN(std::vector<MindFile> set, ReadMindSet(files, paths, naming));
  MindTable table({set[0].header.packed, set[0].header.fields, set[0].header.blob_fields});
  for (MindFile& file : set) {
    HEADRACE_ASSIGN_OR_RETURN(ItemIndex index, keep ? KeptOrWalked(files, file, writes) : WalkFile(files, file));
    table.Add(file, std::move(index.parts[0]), std::move(index.parts[1]));
    // Of many pages.
    file.header.groups = {};
    file.header.page_bytes = {};
  }
  return table;
}

}  // namespace headrace
