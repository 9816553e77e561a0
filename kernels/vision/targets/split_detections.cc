#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"

namespace headrace {
namespace {

// The width of an object: its class, four coordinates, and what else is known.
constexpr int64_t kLeastWidth = 5;
constexpr int64_t kLeastHeader = 2;

// Objects as a label has them, row by row.
struct Objects {
  absl::Span<const float> header;
  absl::Span<const float> values;
  int64_t width = 0;
};

absl::StatusOr<int64_t> WidthOf(float given, const char* what, int64_t least) {
  // Not for NaN, either.
  if (given >= static_cast<float>(least) && given <= 1e6F) return static_cast<int64_t>(given);
  return DataError("the label says that its ", what, " is ", given, "; it must be at least ", least);
}

absl::StatusOr<Objects> ObjectsOf(absl::Span<const float> label) {
  if (label.size() < kLeastHeader) {
    return DataError("the label has ", label.size(),
                     " numbers; one of objects begins with the widths of its header and of an object");
  }
  HEADRACE_ASSIGN_OR_RETURN(const int64_t header, WidthOf(label[0], "header", kLeastHeader));
  HEADRACE_ASSIGN_OR_RETURN(const int64_t width, WidthOf(label[1], "width of an object", kLeastWidth));
  const auto size = static_cast<int64_t>(label.size());
  if (size < header || (size - header) % width != 0) {
    return DataError("the label has ", size, " numbers, and a header of ", header, " and objects of ", width,
                     " do not add up to them");
  }
  return Objects{label.subspan(0, static_cast<size_t>(header)), label.subspan(static_cast<size_t>(header)), width};
}

class SplitDetections : public Kernel {
 public:
  explicit SplitDetections(const ir::Attributes&) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    const Tensor& input = inputs[0];
    if (input.dtype() != DType::kFloat32 || input.rank() < 1 || input.rank() > 2) {
      return GraphError("needs a label, float32 of one axis, or objects of two; got ", input.TypeName());
    }
    HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, input.Contiguous());
    const absl::Span<const float> label = {dense.data<float>(), static_cast<size_t>(dense.elements())};
    if (input.rank() == 1) {
      HEADRACE_ASSIGN_OR_RETURN(const Objects objects, ObjectsOf(label));
      return Split(objects, context);
    }
    if (input.dim(1) < kLeastWidth) {
      return DataError("an object has at least ", kLeastWidth, " numbers; got ", input.TypeName());
    }
    const float header[] = {static_cast<float>(kLeastHeader), static_cast<float>(input.dim(1))};
    return Split({header, label, input.dim(1)}, context);
  }

 private:
  static bool HasArea(absl::Span<const float> object) { return object[3] > object[1] && object[4] > object[2]; }

  static absl::StatusOr<Tensors> Split(const Objects& objects, KernelContext& context) {
    const auto width = static_cast<size_t>(objects.width);
    std::vector<absl::Span<const float>> kept;
    for (size_t at = 0; at < objects.values.size(); at += width) {
      const absl::Span<const float> object = objects.values.subspan(at, width);
      if (HasArea(object)) kept.push_back(object);
    }
    const auto count = static_cast<int64_t>(kept.size());
    const auto header_width = static_cast<int64_t>(objects.header.size());
    HEADRACE_ASSIGN_OR_RETURN(Tensor header, context.AllocateOutput(DType::kFloat32, {header_width}));
    HEADRACE_ASSIGN_OR_RETURN(Tensor boxes, Tensor::Allocate(DType::kFloat64, {count, 4}));
    HEADRACE_ASSIGN_OR_RETURN(Tensor rest, Tensor::Allocate(DType::kFloat32, {count, objects.width - 4}));
    std::copy(objects.header.begin(), objects.header.end(), header.mutable_data<float>());
    double* box = boxes.mutable_data<double>();
    float* other = rest.mutable_data<float>();
    for (const absl::Span<const float> object : kept) {
      box = std::copy(object.begin() + 1, object.begin() + kLeastWidth, box);
      *other++ = object[0];
      other = std::copy(object.begin() + kLeastWidth, object.end(), other);
    }
    return Tensors{std::move(header), std::move(boxes), std::move(rest)};
  }
};

absl::StatusOr<std::vector<ir::ColumnType>> InferSplitDetections(const ir::Attributes&,
                                                                 absl::Span<const ir::ColumnType> inputs) {
  const ir::ColumnType& type = inputs[0];
  const bool fits = type.fields.empty() && (type.dtype == DType::kFloat32 || type.dtype == DType::kUnknown);
  const bool ranked = !type.shape || type.shape->size() == 1 || type.shape->size() == 2;
  if (!fits || !ranked) {
    return GraphError("needs a label, float32 of one axis, or objects of two; got ", ir::TypeName(type));
  }
  int64_t others = ir::kUnknownDim;
  int64_t header = ir::kUnknownDim;
  if (type.shape && type.shape->size() == 2) {
    header = kLeastHeader;
    if ((*type.shape)[1] != ir::kUnknownDim) others = (*type.shape)[1] - 4;
  }
  return std::vector{ir::ColumnType::Of(DType::kFloat32, {header}),
                     ir::ColumnType::Of(DType::kFloat64, {ir::kUnknownDim, 4}),
                     ir::ColumnType::Of(DType::kFloat32, {ir::kUnknownDim, others})};
}

const KernelRegistration split_detections_registration{
    {.name = "SplitDetections",
     .summary = "Takes a label of objects apart, as MXNet's records and lists have them.",
     .doc = "Takes float32 of shape (L,): the width of the header, at least 2, the width w of an object, at least 5, "
            "the rest of the header, and for each object its class, xmin, ymin, xmax, ymax, as parts of the image's "
            "width and height, and w - 5 further numbers; or objects alone, of shape (n, w). Gives three columns: the "
            "header, float32 of shape (h,); the boxes, float64 of shape (n, 4), for hr.boxes(…, relative=True); and "
            "classes with the further numbers, float32 of shape (n, w - 4). Objects without width or height are left "
            "out.\n"
            "Errors: another type, and a label whose widths do not add up.",
     .python_module = "transforms",
     .example = "T.SplitDetections()",
     .infer_kernel = InferSplitDetections},
    Makes<SplitDetections>()};

}  // namespace
}  // namespace headrace
