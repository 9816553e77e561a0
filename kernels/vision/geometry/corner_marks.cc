#include "kernels/vision/geometry/corner_marks.h"

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/image/image.h"

namespace headrace {
namespace {

constexpr int64_t kSide = 2;

class CornerMarks : public UnaryKernel {
 public:
  explicit CornerMarks(const ir::Attributes&) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_RETURN_IF_ERROR(CheckImage(input, PixelTypes::kFixedSize));
    HEADRACE_ASSIGN_OR_RETURN(Tensor marks, context.AllocateOutput(DType::kUInt8, {kSide, kSide}));
    for (uint8_t i = 0; i < kSide * kSide; ++i) marks.mutable_raw()[i] = i;
    return marks;
  }
};

absl::StatusOr<std::vector<ir::ColumnType>> InferCornerMarks(const ir::Attributes&,
                                                             absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(ImageTypeOf(inputs[0], PixelTypes::kFixedSize).status());
  return std::vector{ir::ColumnType::Of(DType::kUInt8, {kSide, kSide})};
}

const KernelRegistration corner_marks_registration{
    {.name = std::string(kCornerMarks),
     .summary = "Gives an image of four marks, one for each corner, to be flipped in place of its input.",
     .doc = "Takes numbers of any type, of shape (H, W, C) or (H, W), and gives uint8 of shape (2, 2): 0 and 1 above 2 "
            "and 3.\n"
            "Errors: another rank, bytes or strings, and an image without pixels.",
     .python_module = "internal",
     .example = "ds.to_device(\"cuda:0\")",
     .infer_kernel = InferCornerMarks},
    Makes<CornerMarks>()};

}  // namespace
}  // namespace headrace
