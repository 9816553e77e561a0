#include "ops/source/tfrecord/feature_fill.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/error.h"
#include "ops/source/shown_text.h"
#include "ops/source/text_bytes.h"

namespace headrace {
namespace {

using Json = nlohmann::json;

// Axes whose length may differ from row to row.
constexpr size_t kMostOpenAxes = 2;
// Of a row; more fit no memory.
constexpr size_t kMostElements = size_t{1} << 40;

bool IsOpen(int64_t size) { return size == ir::kUnknownDim; }

std::optional<float> FloatOf(const Json& value) {
  if (value.is_string()) {
    const std::string& name = value.get_ref<const std::string&>();
    if (name == "nan") return std::numeric_limits<float>::quiet_NaN();
    if (name == "inf") return std::numeric_limits<float>::infinity();
    if (name == "-inf") return -std::numeric_limits<float>::infinity();
    return std::nullopt;
  }
  if (!value.is_number()) return std::nullopt;
  const auto exact = value.get<double>();
  const auto rounded = static_cast<float>(exact);
  // Whole numbers are classes and counts: another one in their place would be wrong.
  const bool fits = std::isfinite(rounded) && (value.is_number_float() || static_cast<double>(rounded) == exact);
  return fits ? std::optional(rounded) : std::nullopt;
}

std::optional<int64_t> IntOf(const Json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() &&
      value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return std::nullopt;
  }
  return value.get<int64_t>();
}

std::optional<std::string> BytesOf(const Json& value) {
  return value.is_string() ? BytesOfText(value.get_ref<const std::string&>()) : std::nullopt;
}

std::optional<std::string> TextOf(const Json& value) {
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

template <typename T>
bool Push(std::optional<T> value, std::vector<T>& values) {
  if (value.has_value()) values.push_back(*std::move(value));
  return value.has_value();
}

bool AddScalar(const Json& value, DType dtype, FeatureFill& fill) {
  switch (dtype) {
    case DType::kInt64:
      return Push(IntOf(value), fill.ints);
    case DType::kFloat32:
      return Push(FloatOf(value), fill.floats);
    case DType::kBytes:
      return Push(BytesOf(value), fill.texts);
    default:
      return Push(TextOf(value), fill.texts);
  }
}

// The lengths of nested lists, by the first of each, as deep as the declared shape; below an empty list those declared.
Shape ShapeOfLists(const Json& value, const Shape& declared) {
  Shape shape;
  const Json* at = &value;
  for (const int64_t size : declared) {
    if (at == nullptr) {
      shape.push_back(IsOpen(size) ? 0 : size);
    } else if (at->is_array()) {
      shape.push_back(static_cast<int64_t>(at->size()));
      at = at->empty() ? nullptr : &(*at)[0];
    } else {
      break;
    }
  }
  return shape;
}

// Adds the scalars, in row-major order; false: the lists are not a box of that shape. As deep as the shape.
bool AddLists(const Json& value, absl::Span<const int64_t> shape, DType dtype, FeatureFill& fill) {
  if (shape.empty()) return AddScalar(value, dtype, fill);
  if (!value.is_array() || static_cast<int64_t>(value.size()) != shape[0]) return false;
  return std::all_of(value.begin(), value.end(),
                     [&](const Json& each) { return AddLists(each, shape.subspan(1), dtype, fill); });
}

absl::Status CheckType(const ir::Column& column) {
  const ir::ColumnType& type = column.type;
  const bool held = type.dtype == DType::kInt64 || type.dtype == DType::kFloat32 || type.dtype == DType::kBytes ||
                    type.dtype == DType::kString;
  if (!held || !type.shape.has_value()) {
    return GraphError(
        "the feature \"", column.name, "\" has the type ", ir::TypeName(type),
        "; features are int64, float32 or bytes, or str for bytes in UTF-8: state what the files have, and "
        "convert it with map(T.TypeCast(…), \"",
        column.name, "\")");
  }
  const Shape& shape = *type.shape;
  size_t elements = 1;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (IsOpen(shape[axis]) && axis >= kMostOpenAxes) {
      return GraphError("the feature \"", column.name, "\" has the type ", ir::TypeName(type),
                        "; None stands for the length of the first axis, or in a feature list of the first two");
    }
    const auto size = static_cast<size_t>(IsOpen(shape[axis]) ? 1 : shape[axis]);
    if (__builtin_mul_overflow(elements, size, &elements) || elements > kMostElements) {
      return GraphError("the feature \"", column.name, "\" has the type ", ir::TypeName(type),
                        ", which fits no memory");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckFeatureTypes(const ir::Columns& columns) {
  for (const ir::Column& column : columns) HEADRACE_RETURN_IF_ERROR(CheckType(column));
  return absl::OkStatus();
}

size_t KnownElements(absl::Span<const int64_t> shape) {
  size_t elements = 1;
  for (const int64_t size : shape) elements *= IsOpen(size) ? 1 : static_cast<size_t>(size);
  return elements;
}

absl::StatusOr<FeatureFill> ParseFeatureFill(std::string_view json, const ir::Column& column) {
  const ir::ColumnType& type = column.type;
  FeatureFill fill;
  const Json value = Json::parse(json.begin(), json.end(), nullptr, false);
  if (!value.is_discarded()) {
    fill.shape = ShapeOfLists(value, *type.shape);
    const bool known = std::none_of(type.shape->begin(), type.shape->end(), IsOpen);
    if (known && !value.is_array() && AddScalar(value, type.dtype, fill)) {
      fill.shape = *type.shape;
      return fill;
    }
    if (ir::FitsType(type, type.dtype, fill.shape) && AddLists(value, fill.shape, type.dtype, fill)) return fill;
  }
  return GraphError("the default of the feature \"", column.name, "\" is ", ShownText(json),
                    "; it must be a value of its type, ", ir::TypeName(type));
}

}  // namespace headrace
