#include "ops/source/arrow/arrow_columns.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "core/error.h"
#include "ops/source/arrow/gathered_column.h"

namespace headrace {
namespace {

using Places = absl::Span<const ArrowPlace>;

bool AreSideBySide(Places places) {
  for (size_t i = 1; i < places.size(); ++i) {
    const bool next = places[i].batch == places[0].batch && places[i].row == places[0].row + static_cast<int64_t>(i);
    if (!next) return false;
  }
  return true;
}

// A row of files that names one.
absl::StatusOr<Tensor> ReadNamed(std::string_view path, const ArrowFiles& files) {
  HEADRACE_RETURN_IF_ERROR(CheckNoNul("the path of a row", path));
  const bool relative = !files.root.empty() && RootOf(path).empty();
  const std::string whole = relative ? JoinPath(files.root, path) : std::string(path);
  absl::StatusOr<Tensor> read = files.files->Read(whole);
  if (read.ok()) return read;
  absl::Status wrong = std::move(read).status();
  AddErrorField(wrong, ErrorField::kFile, whole);
  return wrong;
}

absl::StatusOr<Tensor> RowAt(size_t column, const ArrowPlace& place, const ArrowFiles& files) {
  const ArrowRows& rows = place.batch->column(column);
  HEADRACE_ASSIGN_OR_RETURN(const std::optional<std::string_view> path, rows.PathOf(place.row));
  return path.has_value() ? ReadNamed(*path, files) : rows.Row(place.row);
}

BlockColumn RowByRow(size_t column, Places places, const ArrowFiles& files, absl::Status& wrong) {
  BlockColumn rows;
  for (const ArrowPlace& place : places) {
    absl::StatusOr<Tensor> row = RowAt(column, place, files);
    if (!row.ok()) {
      wrong = std::move(row).status();
      break;
    }
    rows.Append(*std::move(row));
  }
  return rows;
}

// Rows that lie in memory as tensors have them; nullopt: others.
std::optional<BlockColumn> GatheredAsTheyLie(size_t column, Places places) {
  absl::InlinedVector<RowOfArrow, 16> rows;
  rows.reserve(places.size());
  for (const ArrowPlace& place : places) rows.push_back({&place.batch->column(column), place.row});
  return GatheredColumn(rows);
}

BlockColumn Gathered(const ArrowColumn& type, size_t column, Places places, absl::Status& wrong) {
  Shape shape = type.shape;
  shape.insert(shape.begin(), static_cast<int64_t>(places.size()));
  absl::StatusOr<Tensor> rows = Tensor::Allocate(type.dtype, shape);
  if (!rows.ok()) {
    wrong = std::move(rows).status();
    return {};
  }
  const size_t bytes = rows->bytes() / places.size();
  size_t made = 0;
  for (; made < places.size() && wrong.ok(); ++made) {
    const ArrowPlace& place = places[made];
    wrong = place.batch->column(column).CopyRow(place.row, rows->mutable_raw() + made * bytes);
    if (!wrong.ok()) break;
  }
  if (made == 0) return {};
  return BlockColumn::Stacked(made == places.size() ? *std::move(rows) : rows->Slice(0, 0, static_cast<int64_t>(made)));
}

BlockColumn Column(const ArrowColumn& type, size_t column, Places places, bool side_by_side, const ArrowFiles& files,
                   absl::Status& wrong) {
  if (side_by_side && places[0].batch->column(column).slices()) {
    absl::StatusOr<Tensor> slice =
        places[0].batch->column(column).Slice(places[0].row, static_cast<int64_t>(places.size()));
    if (slice.ok()) return BlockColumn::Stacked(*std::move(slice));
    // Row by row, up to the one that fails.
  }
  if (side_by_side && places[0].batch->column(column).joins()) {
    absl::StatusOr<JoinedLists> lists =
        places[0].batch->column(column).Join(places[0].row, static_cast<int64_t>(places.size()));
    if (lists.ok()) return BlockColumn::Ragged(std::move(lists->values), std::move(lists->splits));
  }
  if (places.size() > 1) {
    std::optional<BlockColumn> gathered = GatheredAsTheyLie(column, places);
    if (gathered.has_value()) return *std::move(gathered);
  }
  if (type.stacks()) return Gathered(type, column, places, wrong);
  return RowByRow(column, places, files, wrong);
}

}  // namespace

size_t AddArrowColumns(const ArrowMapping& mapping, absl::Span<const ArrowPlace> places, const ArrowFiles& files,
                       Block& block, absl::Status& wrong) {
  const bool side_by_side = AreSideBySide(places);
  size_t made = places.size();
  for (size_t i = 0; i < mapping.columns().size() && made > 0; ++i) {
    absl::Status failed;
    block.columns.push_back(Column(mapping.columns()[i], i, places.subspan(0, made), side_by_side, files, failed));
    if (failed.ok()) continue;
    made = static_cast<size_t>(block.columns.back().rows());
    wrong = std::move(failed);
  }
  if (made == 0) block.columns.clear();
  for (BlockColumn& column : block.columns) column.Truncate(static_cast<int>(made));
  return made;
}

ir::Schema SchemaOfArrow(const ArrowMapping& mapping) {
  ir::Schema schema;
  for (const ArrowColumn& column : mapping.columns()) {
    schema.columns.push_back({column.name, ir::ColumnType::Of(column.dtype, column.shape)});
  }
  return schema;
}

}  // namespace headrace
