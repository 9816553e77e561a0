#include "ir/type.h"

#include <algorithm>

#include "core/text.h"

namespace headrace::ir {
namespace {

constexpr size_t kFewColumns = 16;

std::string DimsName(const Shape& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += shape[i] == kUnknownDim ? "None" : std::to_string(shape[i]);
  }
  if (shape.size() == 1) text += ",";
  return text + ")";
}

std::string ElementName(const ColumnType& type) {
  if (type.fields.empty()) return std::string(DTypeName(type.dtype));
  std::string text = "struct {";
  for (size_t i = 0; i < type.fields.size(); ++i) {
    Append(text, i > 0 ? ", " : "", type.fields[i].first, ": ", TypeName(type.fields[i].second));
  }
  return text + "}";
}

}  // namespace

// Not inline, because GCC 12 then warns of the moved Shape.
ColumnType ColumnType::Of(DType dtype, Shape shape) { return {dtype, std::move(shape), false, false, {}}; }

bool ColumnType::fully_known() const {
  if (optional || ragged || !shape.has_value()) return false;
  if (std::any_of(shape->begin(), shape->end(), [](int64_t dim) { return dim < 0; })) return false;
  if (fields.empty()) return dtype != DType::kUnknown;
  return std::all_of(fields.begin(), fields.end(), [](const auto& field) { return field.second.fully_known(); });
}

bool FitsType(const ColumnType& type, DType dtype, absl::Span<const int64_t> shape) {
  if (type.dtype != DType::kUnknown && type.dtype != dtype) return false;
  if (!type.shape.has_value()) return true;
  return std::equal(type.shape->begin(), type.shape->end(), shape.begin(), shape.end(),
                    [](int64_t declared, int64_t dim) { return declared == kUnknownDim || declared == dim; });
}

bool FitsSchema(const Schema& schema, absl::Span<const Tensor> row) {
  return std::equal(
      schema.columns.begin(), schema.columns.end(), row.begin(), row.end(),
      [](const Column& column, const Tensor& tensor) { return FitsType(column.type, tensor.dtype(), tensor.shape()); });
}

std::string TypeName(const ColumnType& type) {
  std::string text = type.optional ? "optional " : "";
  if (type.ragged) text += "ragged ";
  text += ElementName(type);
  if (type.shape.has_value()) return Cat(text, " ", DimsName(*type.shape));
  return type.dtype == DType::kUnknown && type.fields.empty() ? text : text + " of any shape";
}

const Column* Schema::Find(std::string_view name) const {
  int index = IndexOf(name);
  return index < 0 ? nullptr : &columns[index];
}

Columns::Columns(std::initializer_list<Column> columns) {
  for (const Column& column : columns) push_back(column);
}

void Columns::push_back(Column column) {
  columns_.push_back(std::move(column));
  if (columns_.size() <= kFewColumns) return;
  for (size_t i = indices_.size(); i < columns_.size(); ++i) indices_.emplace(columns_[i].name, static_cast<int>(i));
}

int Columns::IndexOf(std::string_view name) const {
  if (!indices_.empty()) {
    const auto found = indices_.find(name);
    return found == indices_.end() ? -1 : found->second;
  }
  const auto found = std::find_if(begin(), end(), [&](const Column& column) { return column.name == name; });
  return found == end() ? -1 : static_cast<int>(found - begin());
}

std::vector<ColumnType> Schema::Types() const {
  std::vector<ColumnType> types;
  for (const Column& column : columns) types.push_back(column.type);
  return types;
}

std::vector<std::string> Schema::Names() const {
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const Column& column : columns) names.push_back(column.name);
  return names;
}

}  // namespace headrace::ir
