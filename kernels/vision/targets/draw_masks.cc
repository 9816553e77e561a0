#include <cstdint>
#include <cstring>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/targets/outline_input.h"
#include "kernels/vision/targets/outline_painter.h"

namespace headrace {
namespace {

class DrawMasks : public UnaryKernel {
 public:
  explicit DrawMasks(const ir::Attributes& attributes) : max_pixels_(attributes.Int("max_pixels")) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, input.Contiguous());
    HEADRACE_ASSIGN_OR_RETURN(OutlineReader outlines, OpenOutlines(dense));
    HEADRACE_RETURN_IF_ERROR(CheckSize(outlines));
    const Shape shape = {outlines.objects(), outlines.height(), outlines.width()};
    HEADRACE_ASSIGN_OR_RETURN(Tensor masks, context.AllocateOutput(DType::kUInt8, shape));
    std::memset(masks.mutable_raw(), 0, masks.bytes());
    HEADRACE_RETURN_IF_ERROR(Draw(outlines, masks.mutable_raw()));
    return masks;
  }

 private:
  absl::Status CheckSize(const OutlineReader& outlines) const {
    const int64_t pixels = outlines.height() * outlines.width();
    if (max_pixels_ < 0 || outlines.objects() <= max_pixels_ / pixels) return absl::OkStatus();
    return DataError("the masks of ", outlines.objects(), " objects have ", outlines.height(), " × ", outlines.width(),
                     " pixels each, together more than max_pixels = ", max_pixels_,
                     "; if that is meant, raise it, or give -1 for no limit");
  }

  absl::Status Draw(OutlineReader& outlines, uint8_t* masks) const {
    if (outlines.objects() == 0) return outlines.CheckEnd();
    HEADRACE_ASSIGN_OR_RETURN(OutlinePainter painter,
                              OutlinePainter::Make(outlines.height(), outlines.width(), max_pixels_));
    Outline outline;
    for (int64_t object = 0; object < outlines.objects(); ++object) {
      HEADRACE_RETURN_IF_ERROR(outlines.ReadOutline(outline));
      HEADRACE_RETURN_IF_ERROR(painter.Paint(outline, uint8_t{1}, masks));
      masks += outlines.height() * outlines.width();
    }
    return outlines.CheckEnd();
  }

  int64_t max_pixels_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferDrawMasks(const ir::Attributes&,
                                                           absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(CheckOutlinesType(inputs[0]));
  return std::vector{ir::ColumnType::Of(DType::kUInt8, {ir::kUnknownDim, ir::kUnknownDim, ir::kUnknownDim})};
}

const KernelRegistration draw_masks_registration{
    {.name = "DrawMasks",
     .summary = "Draws the outlines of an image's objects as masks, one for each.",
     .doc = "Takes the column `outlines` of headrace.datasets.Coco, uint8 of shape (k,), and gives uint8 of shape "
            "(n, H, W), 1 where an object is and 0 elsewhere, for n objects of an image of height H and width W. The "
            "pixels are those of pycocotools: of polygons, whose parts are joined, and of run lengths. Draw masks "
            "before kernels that move pixels, and name them beside the boxes: hr.boxes(\"boxes\", masks=\"masks\").\n"
            "Errors: another type; of the row, bytes that are not outlines, and more pixels than max_pixels.",
     .attributes = {MaxPixelsOfOutlines()},
     .python_module = "vision",
     .example = "V.DrawMasks()",
     .infer_kernel = InferDrawMasks},
    Makes<DrawMasks>()};

}  // namespace
}  // namespace headrace
