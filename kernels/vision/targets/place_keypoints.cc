#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/codecs/decode/picture_size.h"
#include "kernels/vision/geometry/canvas_keypoints.h"
#include "kernels/vision/geometry/canvas_numbers.h"
#include "kernels/vision/targets/target_labels.h"

namespace headrace {
namespace {

// From the image, the keypoints and what belongs to each of them.
class PlaceKeypoints : public Kernel {
 public:
  explicit PlaceKeypoints(const ir::Attributes& attributes)
      : options_(PictureSizeOptions(attributes)), columns_(attributes.Strings("columns")) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    if (inputs.size() < 2) return GraphError("needs a picture and its keypoints; got ", inputs.size(), " columns");
    HEADRACE_RETURN_IF_ERROR(CheckAxesOfNone(inputs[1], "(0, 2)"));
    HEADRACE_ASSIGN_OR_RETURN(const PictureSize size, SizeOfPicture(inputs[0], options_));
    HEADRACE_ASSIGN_OR_RETURN(const CanvasKeypoints placed,
                              CanvasKeypoints::Placed(inputs[1], size.height, size.width));
    HEADRACE_RETURN_IF_ERROR(CheckGivenLabels(inputs.subspan(2), placed.groups(), kOwnerKeypoint, columns_));
    HEADRACE_ASSIGN_OR_RETURN(Tensor tensor, placed.ToTensor(context.output()));
    return Tensors{std::move(tensor)};
  }

 private:
  DecodeOptions options_;
  std::vector<std::string> columns_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferPlaceKeypoints(const ir::Attributes&,
                                                                absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(CheckPictureType(inputs[0]));
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, KeypointsType(inputs[1], 1));
  return std::vector{std::move(type)};
}

ir::Declaration DeclaredPlaceKeypoints() {
  ir::Declaration declaration;
  declaration.name = "PlaceKeypoints";
  declaration.written_as = "hr.keypoints";
  declaration.summary = "Places keypoints on the canvas of their image.";
  declaration.doc =
      "Takes an image, encoded or not, its keypoints, float32, float64 or int64 of shape (n, …, 2), and what belongs "
      "to each of the n, of shape (n, …). Gives the keypoints as the kernels that move keypoints take them: "
      "(n + 1, …, 2), x and y in pixels, and the image's size last.\n"
      "Errors: other types; of the row, keypoints and labels of different number, and an image whose size is not "
      "known.";
  declaration.min_inputs = 2;
  declaration.max_inputs = -1;
  declaration.attributes = PictureSizeAttributes();
  declaration.attributes.push_back(LabelColumnsAttribute());
  declaration.python_module = "internal";
  declaration.example = "ds.map(kernels, [\"image\", hr.keypoints(\"points\")])";
  declaration.infer_kernel = InferPlaceKeypoints;
  declaration.target_work = ir::TargetWork::kPlacesKeypoints;
  declaration.takes_layout = [](const ir::Attributes&, bool channels_first) { return !channels_first; };
  return declaration;
}

const KernelRegistration place_keypoints_registration{DeclaredPlaceKeypoints(), Makes<PlaceKeypoints>()};

}  // namespace
}  // namespace headrace
