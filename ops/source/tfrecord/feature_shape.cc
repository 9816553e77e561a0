#include "ops/source/tfrecord/feature_shape.h"

#include <algorithm>
#include <string>

#include "core/error.h"
#include "ops/source/tfrecord/feature_fill.h"

namespace headrace {
namespace {

std::string Counted(size_t count, std::string_view what) { return Cat(count, " ", what, count == 1 ? "" : "s"); }

std::string NameOfType(FeatureKind kind) { return Cat("\"", FeatureKindName(kind), "\""); }

// "; the column's type is …; state features={…}".
std::string AdviceToState(const ir::Column& column, std::string_view type) {
  return Cat("; the column's type is ", ir::TypeName(column.type), "; if the values are right, state features={\"",
             column.name, "\": ", type, ", …}");
}

std::string OpenType(const ir::Column& column) { return FeatureTypeText(column.type.dtype, {ir::kUnknownDim}); }

absl::Status WrongKind(const ir::Column& column, FeatureKind kind) {
  return DataError(
      "\"", column.name, "\" has ", FeatureKindName(kind), " values",
      AdviceToState(column, column.type.shape->empty() ? NameOfType(kind) : Cat("(", NameOfType(kind), ", …)")));
}

absl::Status WrongNumber(const ir::Column& column, size_t count) {
  return DataError("\"", column.name, "\" has ", Counted(count, "value"), AdviceToState(column, OpenType(column)));
}

bool IsUnknown(int64_t size) { return size == ir::kUnknownDim; }

// Sets the one unknown dimension of the axes so that they have so many elements; false: there is none, and they have
// others, or none has so many.
bool FitAxes(size_t count, absl::Span<int64_t> axes) {
  const auto open = std::find_if(axes.begin(), axes.end(), IsUnknown);
  const size_t known = KnownElements(axes);
  if (open == axes.end()) return count == known;
  if (known == 0 || count % known != 0) {
    *open = 0;
    return count == 0;
  }
  *open = static_cast<int64_t>(count / known);
  return true;
}

absl::Status FitSteps(const ir::Column& column, const FeatureValues& values, Shape& shape) {
  const size_t steps = values.steps();
  if (shape.empty()) {
    return DataError("\"", column.name, "\" is a feature list of ", Counted(steps, "step"),
                     AdviceToState(column, OpenType(column)));
  }
  if (!values.in_step().has_value()) {
    return DataError("\"", column.name, "\" is a feature list whose steps have different numbers of values, ",
                     values.count(), " in ", Counted(steps, "step"),
                     ", which no tensor holds; leave it out of features=, or write it with steps of one length");
  }
  if (!IsUnknown(shape[0]) && static_cast<size_t>(shape[0]) != steps) {
    return DataError("\"", column.name, "\" is a feature list of ", Counted(steps, "step"),
                     AdviceToState(column, OpenType(column)));
  }
  shape[0] = static_cast<int64_t>(steps);
  const absl::Span<int64_t> in_step = absl::MakeSpan(shape).subspan(1);
  if (FitAxes(*values.in_step(), in_step)) return absl::OkStatus();
  if (steps == 0) return absl::OkStatus();
  const std::string type =
      FeatureTypeText(column.type.dtype, {ir::kUnknownDim, static_cast<int64_t>(*values.in_step())});
  return DataError("\"", column.name, "\" is a feature list with ", Counted(*values.in_step(), "value"),
                   " in each step", AdviceToState(column, type));
}

}  // namespace

FeatureKind KindOfFeature(DType dtype) {
  if (dtype == DType::kInt64) return FeatureKind::kInt64s;
  return dtype == DType::kFloat32 ? FeatureKind::kFloats : FeatureKind::kBytes;
}

std::string FeatureTypeText(DType dtype, absl::Span<const int64_t> shape, std::string_view fill) {
  const std::string name = dtype == DType::kString ? "str" : Cat("\"", DTypeName(dtype), "\"");
  if (shape.empty() && fill.empty()) return name;
  std::string axes;
  for (const int64_t size : shape) Append(axes, axes.empty() ? "" : ", ", IsUnknown(size) ? "None" : Cat(size));
  return Cat("(", name, ", (", axes, shape.size() == 1 ? ",)" : ")", fill.empty() ? "" : ", ", fill, ")");
}

absl::Status FitFeature(const ir::Column& column, const FeatureValues& values, Shape& shape) {
  const FeatureKind wanted = KindOfFeature(column.type.dtype);
  if (values.other_kind().has_value()) {
    return DataError("\"", column.name, "\" is a feature list with steps of ", FeatureKindName(values.kind()),
                     " and of ", FeatureKindName(*values.other_kind()), " values; leave it out of features=");
  }
  if (values.kind() != FeatureKind::kNone && values.kind() != wanted) return WrongKind(column, values.kind());
  shape = *column.type.shape;
  if (values.is_list()) return FitSteps(column, values, shape);
  if (std::count_if(shape.begin(), shape.end(), IsUnknown) > 1) {
    return DataError("\"", column.name, "\" is not a feature list, and only one axis of its ",
                     Counted(values.count(), "value"), " can be None", AdviceToState(column, OpenType(column)));
  }
  return FitAxes(values.count(), absl::MakeSpan(shape)) ? absl::OkStatus() : WrongNumber(column, values.count());
}

}  // namespace headrace
