#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/canvas_boxes.h"
#include "kernels/vision/targets/box_format.h"

namespace headrace {
namespace {

class TakeBoxes : public UnaryKernel {
 public:
  explicit TakeBoxes(const ir::Attributes& attributes) : format_(BoxFormat::Of(attributes)) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(const CanvasBoxes placed, CanvasBoxes::Of(input));
    const ImageSize size = {placed.height(), placed.width()};
    std::vector<Box> rows;
    for (const Box& box : placed.boxes()) rows.push_back(format_.FromCorners(box, size, placed.dtype()));
    return TensorOfRows(rows, placed.dtype(), context.output());
  }

 private:
  BoxFormat format_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferTakeBoxes(const ir::Attributes&,
                                                           absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, RowsOfFourType(inputs[0], -1));
  return std::vector{std::move(type)};
}

const KernelRegistration take_boxes_registration{
    {.name = "TakeBoxes",
     .written_as = "hr.boxes",
     .summary = "Takes boxes off the canvas of their image.",
     .doc = "Takes boxes as the kernels that move boxes give them, and gives (n, 4) of the same dtype, in the format "
            "that the user stated.\n"
            "Errors: anything else.",
     .attributes = BoxFormatAttributes(),
     .python_module = "internal",
     .example = "ds.map(kernels, [\"image\", hr.boxes(\"boxes\")])",
     .infer_kernel = InferTakeBoxes,
     .target_work = ir::TargetWork::kTakesBoxes},
    Makes<TakeBoxes>()};

}  // namespace
}  // namespace headrace
