#include "ops/source/parquet/parquet_columns.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "core/utf8.h"
#include "io/formats/arrow/arrow_array.h"
#include "ops/source/arrow/gathered_column.h"
#include "ops/source/parquet/hive_folders.h"

namespace headrace {
namespace {

std::string_view NameOfField(const ArrowSchema* schema) {
  return schema == nullptr || schema->name == nullptr ? "" : schema->name;
}

ir::ColumnType TypeOfArrow(const ArrowColumn& column) { return ir::ColumnType::Of(column.dtype, column.shape); }

// The fields at the top of a schema that are read, as a schema of its own, which borrows from it.
struct ChosenSchema {
  std::vector<ArrowSchema*> fields = {};
  ArrowSchema schema = {};
};

void ChooseSchema(const ArrowSchema& whole, const std::vector<std::string>& names, ChosenSchema& chosen) {
  for (const std::string& name : names) {
    ArrowSchema** const end = whole.children + whole.n_children;
    chosen.fields.push_back(
        *std::find_if(whole.children, end, [&](const ArrowSchema* field) { return NameOfField(field) == name; }));
  }
  chosen.schema = whole;
  chosen.schema.children = chosen.fields.data();
  chosen.schema.n_children = static_cast<int64_t>(chosen.fields.size());
}

// The fields at the top that columns lie in, in the order of the file.
std::vector<std::string> TopFields(const ArrowSchema& schema, const std::vector<ArrowColumn>& columns) {
  std::set<int> numbers;
  for (const ArrowColumn& column : columns) numbers.insert(column.path[0]);
  std::vector<std::string> names;
  for (const int number : numbers) names.emplace_back(NameOfField(schema.children[number]));
  return names;
}

// Whether a file's column is what the graph says.
absl::Status CheckParquetColumn(const ParquetFields& fields, const ArrowColumn& column) {
  const ir::ColumnType& expected = fields.columns[static_cast<size_t>(fields.columns.IndexOf(column.name))].type;
  const auto differs = [&](std::string_view is, std::string_view was) {
    return DataError(ColumnText(column.name), "is ", is, ", and ", was,
                     " as the first file has it; write the files with one schema, or read them by themselves");
  };
  if (TypeOfArrow(column) != expected) return differs(ir::TypeName(TypeOfArrow(column)), ir::TypeName(expected));
  const bool classes = fields.choices.classes.find(column.name) != fields.choices.classes.end();
  if (column.has_classes() != classes) {
    return classes ? differs("no dictionary or text", "names of classes") : differs("a dictionary", "numbers");
  }
  const auto unit = fields.units.find(column.name);
  const std::string_view of_first = unit == fields.units.end() ? std::string_view() : std::string_view(unit->second);
  if (column.unit != of_first) {
    return differs(column.unit.empty() ? "no time" : Cat("a time in ", column.unit),
                   of_first.empty() ? "no time" : Cat("a time in ", of_first));
  }
  return absl::OkStatus();
}

// Of byte strings, or of the elements of lists.
int64_t BetweenOffsets(ArrowLayout layout, const ArrowArray& array) {
  const void* const offsets = array.buffers[1];
  if (offsets == nullptr || array.length == 0) return 0;
  return OffsetAt(layout, offsets, array.offset + array.length) - OffsetAt(layout, offsets, array.offset);
}

// The buffers that views point into have their lengths in the last one.
int64_t BytesOfViews(const ArrowArray& array) {
  int64_t bytes = 16 * array.length;
  for (int64_t i = 0; i + 3 < array.n_buffers; ++i) {
    bytes += NumberAt<int64_t>(array.buffers[array.n_buffers - 1], i);
  }
  return bytes;
}

int64_t BytesOfValues(const ArrowFormat& format, const ArrowArray& array) {
  switch (format.layout) {
    case ArrowLayout::kSpans32:
    case ArrowLayout::kSpans64:
      return BetweenOffsets(format.layout, array) + (HasWideOffsets(format.layout) ? 8 : 4) * array.length;
    case ArrowLayout::kViews:
      return BytesOfViews(array);
    case ArrowLayout::kFixedBytes:
      return format.width * array.length;
    case ArrowLayout::kBits:
      return array.length / 8;
    default:
      return static_cast<int64_t>(ItemSize(format.dtype)) * array.length;
  }
}

absl::StatusOr<Tensor> Repeated(const Tensor& row, size_t count) {
  if (IsVariableLength(row.dtype())) {
    const std::vector<std::string_view> texts(count, row.bytes_value());
    return Tensor::CopyBytesArray(row.dtype(), {static_cast<int64_t>(count)}, texts);
  }
  HEADRACE_ASSIGN_OR_RETURN(Tensor rows, Tensor::Allocate(row.dtype(), {static_cast<int64_t>(count)}));
  std::fill_n(rows.mutable_data<int64_t>(), count, row.value<int64_t>());
  return rows;
}

}  // namespace

bool ParquetFields::IsOfFolders(std::string_view name) const {
  return std::find(folders.begin(), folders.end(), name) != folders.end();
}

absl::StatusOr<std::unique_ptr<const ParquetColumns>> ParquetColumns::Of(const ParquetFields& fields,
                                                                         const ArrowSchema& schema, std::string path,
                                                                         const FileSystem* files) {
  std::unique_ptr<ParquetColumns> columns(new ParquetColumns(std::move(path), files));
  HEADRACE_RETURN_IF_ERROR(columns->Map(fields, schema));
  HEADRACE_RETURN_IF_ERROR(columns->AddSources(fields));
  return columns;
}

absl::Status ParquetColumns::Map(const ParquetFields& fields, const ArrowSchema& schema) {
  if (fields.choices.columns.has_value() && fields.choices.columns->empty()) return absl::OkStatus();
  HEADRACE_ASSIGN_OR_RETURN(const ArrowMapping whole, ArrowMapping::Of(schema, fields.choices));
  if (whole.root_children() < 0) return DataError("its schema has no columns");
  for (const ArrowColumn& column : whole.columns()) {
    HEADRACE_RETURN_IF_ERROR(CheckParquetColumn(fields, column));
  }
  read_ = TopFields(schema, whole.columns());
  ChosenSchema chosen;
  ChooseSchema(schema, read_, chosen);
  HEADRACE_ASSIGN_OR_RETURN(mapping_, ArrowMapping::Of(chosen.schema, fields.choices));
  return absl::OkStatus();
}

absl::StatusOr<ParquetColumns::Source> ParquetColumns::FolderSource(const ir::Column& column) const {
  for (const auto& [name, value] : HiveFolders(path_)) {
    if (name != column.name) continue;
    if (value == kHiveMissing) {
      return DataError(ColumnText(name), "is missing: the folder is ", name, "=", value,
                       "; leave the column out, or the folder");
    }
    const std::optional<int64_t> number = HiveNumber(value);
    if (IsVariableLength(column.type.dtype)) {
      if (!IsUtf8(value)) {
        return DataError(ColumnText(name), "is not UTF-8 in the name of its folder; rename the folder: ", value);
      }
      HEADRACE_ASSIGN_OR_RETURN(Tensor text, Tensor::CopyBytes(column.type.dtype, value));
      return Source{-1, std::move(text)};
    }
    if (!number.has_value()) {
      return DataError(ColumnText(name), "is a whole number in the names of other folders, and here \"", value, "\"");
    }
    HEADRACE_ASSIGN_OR_RETURN(Tensor scalar, Tensor::Scalar<int64_t>(*number));
    return Source{-1, std::move(scalar)};
  }
  return DataError("no folder of its path is named ", column.name, "=…, as those of other files are");
}

absl::Status ParquetColumns::AddSources(const ParquetFields& fields) {
  for (const ir::Column& column : fields.columns) {
    if (fields.IsOfFolders(column.name)) {
      HEADRACE_ASSIGN_OR_RETURN(Source source, FolderSource(column));
      sources_.push_back(std::move(source));
      continue;
    }
    const std::vector<ArrowColumn>& mapped = mapping_.columns();
    const auto found =
        std::find_if(mapped.begin(), mapped.end(), [&](const ArrowColumn& each) { return each.name == column.name; });
    if (found == mapped.end()) return DataError("it has no column \"", column.name, "\", as the first file has");
    sources_.push_back({static_cast<int>(found - mapped.begin()), {}});
  }
  return absl::OkStatus();
}

int64_t ParquetColumns::BytesOf(const ArrowArray& array) const {
  int64_t bytes = 0;
  for (const ArrowColumn& column : mapping_.columns()) {
    const ArrowArray* at = &array;
    for (const int child : column.path) at = at->children[child];
    for (const ArrowFormat& list : column.lists) {
      bytes += (HasWideOffsets(list.layout) ? 8 : 4) * at->length;
      at = at->children[0];
    }
    if (column.kind == ArrowKind::kFiles) {
      if (column.files[0] < 0) continue;
      at = at->children[column.files[0]];
    }
    bytes += BytesOfValues(column.values, *at);
  }
  return bytes;
}

std::pair<DType, Shape> ParquetColumns::TypeOf(size_t column) const {
  const ArrowColumn& mapped = mapping_.columns()[static_cast<size_t>(sources_[column].mapped)];
  return {mapped.dtype, mapped.shape};
}

size_t ParquetColumns::BytesOfRow(size_t column) const {
  const ArrowColumn& mapped = mapping_.columns()[static_cast<size_t>(sources_[column].mapped)];
  return static_cast<size_t>(ElementCount(mapped.shape)) * ItemSize(mapped.dtype);
}

size_t ParquetColumns::CopiedBytes(const ArrowBatch* batch) const {
  size_t bytes = 0;
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (!Copies(batch, i)) return 0;
    bytes += BytesOfRow(i);
  }
  return bytes;
}

bool ParquetColumns::IsLent(const ArrowBatch* batch, size_t column) const {
  if (sources_[column].mapped < 0) return false;
  const ArrowRows& rows = batch->column(static_cast<size_t>(sources_[column].mapped));
  return rows.copies() || rows.lends_lists() || rows.lends_texts();
}

size_t ParquetColumns::CheckLent(const ArrowBatch& batch, size_t column, int64_t first, size_t step, size_t count,
                                 size_t& bytes, absl::Status& wrong) const {
  const ArrowRows& rows = batch.column(static_cast<size_t>(sources_[column].mapped));
  if (rows.copies()) {
    bytes += count * BytesOfRow(column);
    return count;
  }
  const auto row_of = [&](size_t i) { return first + static_cast<int64_t>(i * step); };
  if (rows.lends_lists()) {
    for (size_t i = 0; i < count; ++i) bytes += rows.BytesOfList(row_of(i));
    return count;
  }
  for (size_t i = 0; i < count; ++i) {
    const absl::StatusOr<std::string_view> text = rows.TextAt(row_of(i));
    if (!text.ok()) {
      wrong = rows.Row(row_of(i)).status();
      return i;
    }
    bytes += text->size();
  }
  return count;
}

BlockColumn ParquetColumns::LentRows(const ArrowBatch& batch, size_t column, int64_t first, size_t count) const {
  BlockColumn rows;
  absl::Status checked;
  MakeColumn(sources_[column], &batch, first, count, rows, checked);
  return rows;
}

size_t ParquetColumns::Make(const ArrowBatch* batch, int64_t first, size_t count, Made& columns, absl::Status& wrong,
                            Lent lent) const {
  columns.resize(sources_.size());
  size_t good = count;
  for (size_t i = 0; i < sources_.size() && good > 0; ++i) {
    if (lent == Lent::kLeftOut && IsLent(batch, i)) continue;
    good = MakeColumn(sources_[i], batch, first, good, columns[i], wrong);
  }
  if (good == 0) columns.clear();
  for (BlockColumn& column : columns) {
    if (column.rows() > static_cast<int>(good)) column.Truncate(static_cast<int>(good));
  }
  return good;
}

size_t ParquetColumns::MakeColumn(const Source& source, const ArrowBatch* batch, int64_t first, size_t count,
                                  BlockColumn& column, absl::Status& wrong) const {
  if (source.mapped < 0) {
    absl::StatusOr<Tensor> rows = Repeated(source.constant, count);
    if (rows.ok()) column = BlockColumn::Stacked(*std::move(rows));
    if (!rows.ok()) wrong = rows.status();
    return rows.ok() ? count : 0;
  }
  const auto mapped = static_cast<size_t>(source.mapped);
  const ArrowKind kind = mapping_.columns()[mapped].kind;
  const ArrowRows& of_batch = batch->column(mapped);
  if (count > 1 && kind != ArrowKind::kFiles && of_batch.slices()) {
    absl::StatusOr<Tensor> rows = of_batch.Slice(first, static_cast<int64_t>(count));
    if (rows.ok()) {
      column = BlockColumn::Stacked(*std::move(rows));
      return count;
    }
    // Row by row it is known which one fails.
  }
  if (count > 1 && of_batch.joins()) {
    absl::StatusOr<JoinedLists> lists = of_batch.Join(first, static_cast<int64_t>(count));
    if (lists.ok()) {
      column = BlockColumn::Ragged(std::move(lists->values), std::move(lists->splits));
      return count;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    absl::StatusOr<Tensor> row = RowOf(of_batch, kind, first + static_cast<int64_t>(i));
    if (!row.ok()) {
      wrong = row.status();
      return i;
    }
    column.Append(*std::move(row));
  }
  return count;
}

// Nullopt: the rows are made one by one.
std::optional<BlockColumn> ParquetColumns::GatherColumn(absl::Span<const Place> places, size_t column) {
  absl::InlinedVector<RowOfArrow, 16> rows;
  rows.reserve(places.size());
  for (const Place& place : places) {
    const int mapped = place.columns->sources_[column].mapped;
    if (mapped < 0) return std::nullopt;
    rows.push_back({&place.batch->column(static_cast<size_t>(mapped)), place.row});
  }
  return GatheredColumn(rows);
}

size_t ParquetColumns::AppendRows(absl::Span<const Place> places, size_t number, BlockColumn& column,
                                  absl::Status& wrong) {
  for (size_t i = 0; i < places.size(); ++i) {
    const Place& place = places[i];
    BlockColumn row;
    if (place.columns->MakeColumn(place.columns->sources_[number], place.batch, place.row, 1, row, wrong) == 0) {
      return i;
    }
    column.Append(row.TakeRow(0));
  }
  return places.size();
}

size_t ParquetColumns::Gather(absl::Span<const Place> places, Made& columns, absl::Status& wrong) {
  columns.resize(places[0].columns->size());
  size_t good = places.size();
  for (size_t i = 0; i < columns.size() && good > 0; ++i) {
    std::optional<BlockColumn> gathered = GatherColumn(places.subspan(0, good), i);
    if (gathered.has_value()) {
      columns[i] = *std::move(gathered);
    } else {
      good = AppendRows(places.subspan(0, good), i, columns[i], wrong);
    }
  }
  if (good == 0) columns.clear();
  for (BlockColumn& column : columns) {
    if (column.rows() > static_cast<int>(good)) column.Truncate(static_cast<int>(good));
  }
  return good;
}

absl::StatusOr<Tensor> ParquetColumns::RowOf(const ArrowRows& rows, ArrowKind kind, int64_t row) const {
  if (kind != ArrowKind::kFiles) return rows.Row(row);
  HEADRACE_ASSIGN_OR_RETURN(const std::optional<std::string_view> path, rows.PathOf(row));
  return path.has_value() ? ReadPath(*path) : rows.Row(row);
}

// Paths lead from the folder of the file.
absl::StatusOr<Tensor> ParquetColumns::ReadPath(std::string_view path) const {
  HEADRACE_RETURN_IF_ERROR(CheckNoNul("the path", path));
  if (!RootOf(path).empty()) return files_->Read(std::string(path));
  const size_t slash = path_.rfind('/');
  if (slash == std::string::npos) return files_->Read(std::string(path));
  return files_->Read(JoinPath(path_.substr(0, slash + 1), path));
}

}  // namespace headrace
