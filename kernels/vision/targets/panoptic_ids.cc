#include <cstdint>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"

namespace headrace {
namespace {

constexpr int64_t kChannels = 3;

absl::Status NotPanopticImage(std::string_view type) {
  return GraphError("needs a decoded image of segments, uint8 of shape (H, W, 3); got ", type);
}

class PanopticIds : public UnaryKernel {
 public:
  explicit PanopticIds(const ir::Attributes&) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    if (input.dtype() != DType::kUInt8 || input.rank() != 3 || input.dim(2) != kChannels) {
      return NotPanopticImage(input.TypeName());
    }
    HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, input.Contiguous());
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(DType::kInt32, {input.dim(0), input.dim(1)}));
    const uint8_t* pixel = dense.raw();
    auto* const ids = output.mutable_data<int32_t>();
    for (int64_t i = 0; i < output.elements(); ++i, pixel += kChannels) {
      ids[i] = pixel[0] + 256 * pixel[1] + 65536 * pixel[2];
    }
    return output;
  }
};

absl::StatusOr<std::vector<ir::ColumnType>> InferPanopticIds(const ir::Attributes&,
                                                             absl::Span<const ir::ColumnType> inputs) {
  const ir::ColumnType& type = inputs[0];
  const bool bytes = type.fields.empty() && (type.dtype == DType::kUInt8 || type.dtype == DType::kUnknown);
  if (!bytes) return NotPanopticImage(ir::TypeName(type));
  if (!type.shape) return std::vector{ir::ColumnType::Of(DType::kInt32, {ir::kUnknownDim, ir::kUnknownDim})};
  const auto& shape = *type.shape;
  const bool fits = shape.size() == 3 && (shape[2] == kChannels || shape[2] == ir::kUnknownDim);
  if (!fits) return NotPanopticImage(ir::TypeName(type));
  return std::vector{ir::ColumnType::Of(DType::kInt32, {shape[0], shape[1]})};
}

const KernelRegistration panoptic_ids_registration{
    {.name = "PanopticIds",
     .summary = "Makes the numbers of segments of a panoptic image's colours.",
     .doc = "Takes uint8 of shape (H, W, 3), such as V.Decode gives of COCO's panoptic PNGs, and gives int32 of shape "
            "(H, W): red + 256 * green + 65536 * blue. 0 is no segment.\n"
            "Errors: another type or shape.",
     .python_module = "vision",
     .example = "V.PanopticIds()",
     .sample = {.inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferPanopticIds,
     .clips = ir::Clips::kByFrame},
    Makes<PanopticIds>()};

}  // namespace
}  // namespace headrace
