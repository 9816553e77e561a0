#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/canvas_boxes.h"
#include "kernels/vision/targets/kept_labels.h"
#include "kernels/vision/targets/target_labels.h"

namespace headrace {
namespace {

// Of the boxes, and of what belongs to each of them.
class SanitizeBoxes : public Kernel {
 public:
  explicit SanitizeBoxes(const ir::Attributes& attributes)
      : least_side_(attributes.Float("min_size")), least_area_(attributes.Float("min_area")) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(CanvasBoxes boxes, CanvasBoxes::Of(inputs[0]));
    std::vector<bool> keep;
    for (const Box& box : boxes.boxes()) keep.push_back(IsSane(box, boxes));
    Tensors outputs(1);
    HEADRACE_RETURN_IF_ERROR(AppendKept(inputs.subspan(1), keep, kOwnerBox, outputs));
    boxes.Keep(keep);
    HEADRACE_ASSIGN_OR_RETURN(outputs[0], boxes.ToTensor(context.output()));
    return outputs;
  }

 private:
  bool IsSane(const Box& box, const CanvasBoxes& on) const {
    const double across = box.right - box.left;
    const double down = box.bottom - box.top;
    return across >= least_side_ && down >= least_side_ && across * down >= least_area_ && box.left >= 0 &&
           box.top >= 0 && box.right <= static_cast<double>(on.width()) &&
           box.bottom <= static_cast<double>(on.height());
  }

  double least_side_;
  double least_area_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferSanitizeBoxes(const ir::Attributes&,
                                                               absl::Span<const ir::ColumnType> inputs) {
  return TypesOfFewer(inputs, RowsOfFourType, kOwnerBox);
}

ir::Attribute Least(const char* name, const char* doc) {
  return {.name = name, .type = ir::AttributeType::kFloat, .doc = doc, .default_value = "1.0", .minimum = 0};
}

const KernelRegistration sanitize_boxes_registration{
    {.name = "SanitizeBoxes",
     .summary = "Removes boxes that hold nothing, with their labels and masks.",
     .doc = "For a map with hr.boxes(…): leaves the boxes whose width and height are at least `min_size` pixels, whose "
            "area is at least `min_area`, and that lie inside the image, with the elements of their label and mask "
            "columns. Images, hr.mask(…) and keypoints stay as they are. The number of boxes differs from row to "
            "row. torchvision's SanitizeBoundingBoxes.\n"
            "Errors: a map without hr.boxes(…), and another number of labels or masks than of boxes.",
     .min_inputs = 1,
     .max_inputs = -1,
     .attributes = {Least("min_size", "The least width and height in pixels."),
                    Least("min_area", "The least area in pixels.")},
     .traits = {.keeps_classes = true},
     .python_module = "vision",
     .example = "V.SanitizeBoxes(min_size=1.0)",
     .infer_kernel = InferSanitizeBoxes,
     .target_work = ir::TargetWork::kChangesBoxes},
    Makes<SanitizeBoxes>()};

}  // namespace
}  // namespace headrace
