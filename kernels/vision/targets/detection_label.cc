#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"

namespace headrace {
namespace {

constexpr const char* kDetectionLabelNeeds = "needs a header, float32 of one axis, and objects, float32 of two; got ";
constexpr const char* kNeedsImage = "the third column must be an image, (height, width, channels); got ";

class DetectionLabel : public Kernel {
 public:
  explicit DetectionLabel(const ir::Attributes& attributes) : shape_(attributes.Ints("data_shape")) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    if (inputs.size() < 2) return GraphError(kDetectionLabelNeeds, inputs.size(), " columns");
    const Tensor& header = inputs[0];
    const Tensor& objects = inputs[1];
    if (header.dtype() != DType::kFloat32 || header.rank() != 1 || objects.dtype() != DType::kFloat32 ||
        objects.rank() != 2) {
      return GraphError(kDetectionLabelNeeds, header.TypeName(), " and ", objects.TypeName());
    }
    std::vector<int64_t> shape = shape_;
    if (inputs.size() == 3) {
      if (inputs[2].rank() < 2) return GraphError(kNeedsImage, inputs[2].TypeName());
      shape[1] = inputs[2].dim(0);
      shape[2] = inputs[2].dim(1);
    }
    HEADRACE_ASSIGN_OR_RETURN(const Tensor first, header.Contiguous());
    HEADRACE_ASSIGN_OR_RETURN(const Tensor then, objects.Contiguous());
    const int64_t length = first.elements() + then.elements();
    const auto before = static_cast<int64_t>(shape_.size()) + 1;
    HEADRACE_ASSIGN_OR_RETURN(Tensor label, context.AllocateOutput(DType::kFloat32, {before + length}));
    float* at = label.mutable_data<float>();
    for (const int64_t side : shape) *at++ = static_cast<float>(side);
    *at++ = static_cast<float>(length);
    at = std::copy_n(first.data<float>(), first.elements(), at);
    std::copy_n(then.data<float>(), then.elements(), at);
    return Tensors{std::move(label)};
  }

 private:
  std::vector<int64_t> shape_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferDetectionLabel(const ir::Attributes& attributes,
                                                                absl::Span<const ir::ColumnType> inputs) {
  size_t axes = 1;
  int64_t length = static_cast<int64_t>(attributes.Ints("data_shape").size()) + 1;
  for (const ir::ColumnType& type : inputs.first(2)) {
    if (!type.fields.empty() || (type.shape && type.shape->size() != axes)) {
      return GraphError(kDetectionLabelNeeds, ir::TypeName(inputs[0]), " and ", ir::TypeName(inputs[1]));
    }
    int64_t elements = type.shape ? 1 : ir::kUnknownDim;
    for (size_t i = 0; type.shape && i < axes; ++i) {
      const int64_t side = (*type.shape)[i];
      elements = side == ir::kUnknownDim || elements == ir::kUnknownDim ? ir::kUnknownDim : elements * side;
    }
    length = length == ir::kUnknownDim || elements == ir::kUnknownDim ? ir::kUnknownDim : length + elements;
    ++axes;
  }
  const bool image = inputs.size() == 3;
  if (image && inputs[2].shape && inputs[2].shape->size() < 2) {
    return GraphError(kNeedsImage, ir::TypeName(inputs[2]));
  }
  return std::vector{ir::ColumnType::Of(DType::kFloat32, {length})};
}

const KernelRegistration detection_label_registration{
    {.name = "DetectionLabel",
     .summary = "Makes the label that MXNet's ImageDetRecordIter gives.",
     .doc =
         "Takes two columns, the header of SplitDetections, float32 of shape (h,), and objects, float32 of shape (n, "
         "w). Gives float32 of shape (4 + h + n * w,): channels, rows and columns of the image, how many numbers "
         "follow, the header and the objects. A third column, an image of shape (H, W, C) or (H, W), gives its own "
         "rows "
         "and columns.\n"
         "Errors: other types.",
     .min_inputs = 2,
     .max_inputs = 3,
     .attributes = {{.name = "data_shape",
                     .type = ir::AttributeType::kInts,
                     .doc = "Channels, rows and columns of the image. The rows and columns of a third column replace "
                            "the latter two.",
                     .minimum = 1,
                     .lengths = {3}}},
     .python_module = "transforms",
     .example = "T.DetectionLabel((3, 300, 300))",
     .sample = {.attributes = {{"data_shape", "(3, 60, 80)"}}},
     .infer_kernel = InferDetectionLabel},
    Makes<DetectionLabel>()};

}  // namespace
}  // namespace headrace
