#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/codecs/decode/size_of_image.h"
#include "kernels/vision/geometry/canvas_boxes.h"
#include "kernels/vision/geometry/canvas_numbers.h"
#include "kernels/vision/targets/box_format.h"
#include "kernels/vision/targets/placing_kernel.h"
#include "kernels/vision/targets/target_labels.h"

namespace headrace {
namespace {

class PlaceBoxes : public PlacingKernel {
 public:
  explicit PlaceBoxes(const ir::Attributes& attributes)
      : PlacingKernel(attributes, {"boxes", kOwnerBox, "(0, 4)"}), format_(BoxFormat::Of(attributes)) {}

 protected:
  absl::StatusOr<Tensor> Place(const Given& given, OutputAllocator& output) const override {
    HEADRACE_ASSIGN_OR_RETURN(std::vector<Box> boxes, RowsOfFour(given.target()));
    HEADRACE_RETURN_IF_ERROR(given.CheckLabelsOf(boxes.size()));
    const DType dtype = given.target().dtype();
    HEADRACE_RETURN_IF_ERROR(format_.CheckDType(dtype));
    HEADRACE_ASSIGN_OR_RETURN(const ImageSize size, given.Size());
    for (Box& box : boxes) box = format_.ToCorners(box, size);
    return CanvasBoxes(dtype, std::move(boxes), size.height, size.width, format_.UnitOf(dtype)).ToTensor(output);
  }

 private:
  BoxFormat format_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferPlaceBoxes(const ir::Attributes& attributes,
                                                            absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(CheckImageOrEncoded(inputs[0]));
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, RowsOfFourType(inputs[1], 1));
  HEADRACE_RETURN_IF_ERROR(BoxFormat::Of(attributes).CheckDType(type.dtype));
  return std::vector{std::move(type)};
}

const KernelRegistration place_boxes_registration{
    PlacingDeclaration(
        {.name = "PlaceBoxes",
         .written_as = "hr.boxes",
         .summary = "Places boxes on the canvas of their image.",
         .doc =
             "Takes an image, encoded or not, its boxes, float32, float64 or int64 of shape (n, 4), and what belongs "
             "to each box, of shape (n, …). Gives the boxes as the kernels that move boxes take them: (n + 1, 4), "
             "left, top, right and bottom in pixels, and the image's size last.\n"
             "Errors: other types; of the row, boxes and labels of different number, and an image whose size is not "
             "known.",
         .attributes = BoxFormatAttributes(),
         .example = "ds.map(kernels, [\"image\", hr.boxes(\"boxes\")])",
         .infer_kernel = InferPlaceBoxes,
         .target_work = ir::TargetWork::kPlacesBoxes}),
    Makes<PlaceBoxes>()};

}  // namespace
}  // namespace headrace
