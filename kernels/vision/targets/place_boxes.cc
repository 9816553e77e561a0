#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/codecs/decode/picture_size.h"
#include "kernels/vision/geometry/canvas_boxes.h"
#include "kernels/vision/geometry/canvas_numbers.h"
#include "kernels/vision/targets/box_format.h"
#include "kernels/vision/targets/target_labels.h"

namespace headrace {
namespace {

// From the image, the boxes and what belongs to each of them.
class PlaceBoxes : public Kernel {
 public:
  explicit PlaceBoxes(const ir::Attributes& attributes)
      : format_(BoxFormat::Of(attributes)),
        options_(PictureSizeOptions(attributes)),
        columns_(attributes.Strings("columns")) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    if (inputs.size() < 2) return GraphError("needs a picture and its boxes; got ", inputs.size(), " columns");
    const Tensor& given = inputs[1];
    HEADRACE_RETURN_IF_ERROR(CheckAxesOfNone(given, "(0, 4)"));
    HEADRACE_ASSIGN_OR_RETURN(std::vector<Box> boxes, RowsOfFour(given));
    HEADRACE_RETURN_IF_ERROR(CheckGivenLabels(inputs.subspan(2), boxes.size(), kOwnerBox, columns_));
    HEADRACE_RETURN_IF_ERROR(format_.CheckDType(given.dtype()));
    HEADRACE_ASSIGN_OR_RETURN(const PictureSize size, SizeOfPicture(inputs[0], options_));
    for (Box& box : boxes) box = format_.ToCorners(box, size);
    const CanvasBoxes placed(given.dtype(), std::move(boxes), size.height, size.width);
    HEADRACE_ASSIGN_OR_RETURN(Tensor tensor, placed.ToTensor(context.output()));
    return Tensors{std::move(tensor)};
  }

 private:
  BoxFormat format_;
  DecodeOptions options_;
  std::vector<std::string> columns_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferPlaceBoxes(const ir::Attributes& attributes,
                                                            absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(CheckPictureType(inputs[0]));
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, RowsOfFourType(inputs[1], 1));
  HEADRACE_RETURN_IF_ERROR(BoxFormat::Of(attributes).CheckDType(type.dtype));
  return std::vector{std::move(type)};
}

ir::Declaration DeclaredPlaceBoxes() {
  ir::Declaration declaration;
  declaration.name = "PlaceBoxes";
  declaration.written_as = "hr.boxes";
  declaration.summary = "Places boxes on the canvas of their image.";
  declaration.doc =
      "Takes an image, encoded or not, its boxes, float32, float64 or int64 of shape (n, 4), and what belongs to each "
      "box, of shape (n, …). Gives the boxes as the kernels that move boxes take them: (n + 1, 4), left, top, right "
      "and bottom in pixels, and the image's size last.\n"
      "Errors: other types; of the row, boxes and labels of different number, and an image whose size is not known.";
  declaration.min_inputs = 2;
  declaration.max_inputs = -1;
  declaration.attributes = BoxFormatAttributes();
  for (ir::Attribute& attribute : PictureSizeAttributes()) declaration.attributes.push_back(std::move(attribute));
  declaration.attributes.push_back(LabelColumnsAttribute());
  declaration.python_module = "internal";
  declaration.example = "ds.map(kernels, [\"image\", hr.boxes(\"boxes\")])";
  declaration.infer_kernel = InferPlaceBoxes;
  declaration.target_work = ir::TargetWork::kPlacesBoxes;
  declaration.takes_layout = [](const ir::Attributes&, bool channels_first) { return !channels_first; };
  return declaration;
}

const KernelRegistration place_boxes_registration{DeclaredPlaceBoxes(), Makes<PlaceBoxes>()};

}  // namespace
}  // namespace headrace
