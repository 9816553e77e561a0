#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/canvas_keypoints.h"
#include "kernels/vision/targets/kept_labels.h"
#include "kernels/vision/targets/target_labels.h"

namespace headrace {
namespace {

// Of the keypoints, and of what belongs to each of them.
class SanitizeKeypoints : public Kernel {
 public:
  explicit SanitizeKeypoints(const ir::Attributes&) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(CanvasKeypoints keypoints, CanvasKeypoints::Of(inputs[0]));
    const std::vector<bool> keep = keypoints.Inside();
    Tensors outputs(1);
    HEADRACE_RETURN_IF_ERROR(AppendKept(inputs.subspan(1), keep, kOwnerKeypoint, outputs));
    keypoints.Keep(keep);
    HEADRACE_ASSIGN_OR_RETURN(outputs[0], keypoints.ToTensor(context.output()));
    return outputs;
  }
};

absl::StatusOr<std::vector<ir::ColumnType>> InferSanitizeKeypoints(const ir::Attributes&,
                                                                   absl::Span<const ir::ColumnType> inputs) {
  return TypesOfFewer(inputs, KeypointsType, kOwnerKeypoint);
}

const KernelRegistration sanitize_keypoints_registration{
    {.name = "SanitizeKeypoints",
     .summary = "Removes keypoints that left the image, and their labels.",
     .doc =
         "For a map with hr.keypoints(…): leaves the points with 0 ≤ x < width and 0 ≤ y < height, with the elements "
         "of their label columns. Of keypoints of shape (n, k, 2) it leaves the groups all of whose points are such. "
         "Images, masks and boxes stay as they are. The number of keypoints differs from row to row. torchvision's "
         "SanitizeKeyPoints.\n"
         "Errors: a map without hr.keypoints(…), and another number of labels than of keypoints.",
     .min_inputs = 1,
     .max_inputs = -1,
     .traits = {.keeps_classes = true},
     .python_module = "vision",
     .example = "V.SanitizeKeypoints()",
     .infer_kernel = InferSanitizeKeypoints,
     .target_work = ir::TargetWork::kChangesKeypoints},
    Makes<SanitizeKeypoints>()};

}  // namespace
}  // namespace headrace
