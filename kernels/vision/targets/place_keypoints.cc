#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/codecs/decode/size_of_image.h"
#include "kernels/vision/geometry/canvas_keypoints.h"
#include "kernels/vision/targets/placing_kernel.h"
#include "kernels/vision/targets/target_labels.h"

namespace headrace {
namespace {

class PlaceKeypoints : public PlacingKernel {
 public:
  explicit PlaceKeypoints(const ir::Attributes& attributes)
      : PlacingKernel(attributes, {"keypoints", kOwnerKeypoint, "(0, 2)"}) {}

 protected:
  absl::StatusOr<Tensor> Place(const Given& given, OutputAllocator& output) const override {
    HEADRACE_ASSIGN_OR_RETURN(const ImageSize size, given.Size());
    HEADRACE_ASSIGN_OR_RETURN(const CanvasKeypoints placed,
                              CanvasKeypoints::Placed(given.target(), size.height, size.width));
    HEADRACE_RETURN_IF_ERROR(given.CheckLabelsOf(placed.groups()));
    return placed.ToTensor(output);
  }
};

absl::StatusOr<std::vector<ir::ColumnType>> InferPlaceKeypoints(const ir::Attributes&,
                                                                absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(CheckImageOrEncoded(inputs[0]));
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, KeypointsType(inputs[1], 1));
  return std::vector{std::move(type)};
}

const KernelRegistration place_keypoints_registration{
    PlacingDeclaration(
        {.name = "PlaceKeypoints",
         .written_as = "hr.keypoints",
         .summary = "Places keypoints on the canvas of their image.",
         .doc =
             "Takes an image, encoded or not, its keypoints, float32, float64 or int64 of shape (n, …, 2), and what "
             "belongs to each of the n, of shape (n, …). Gives the keypoints as the kernels that move keypoints take "
             "them: (n + 1, …, 2), x and y in pixels, and the image's size last.\n"
             "Errors: other types; of the row, keypoints and labels of different number, and an image whose size is "
             "not known.",
         .example = "ds.map(kernels, [\"image\", hr.keypoints(\"points\")])",
         .infer_kernel = InferPlaceKeypoints,
         .target_work = ir::TargetWork::kPlacesKeypoints}),
    Makes<PlaceKeypoints>()};

}  // namespace
}  // namespace headrace
