#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/canvas_boxes.h"
#include "kernels/vision/targets/box_format.h"

namespace headrace {
namespace {

// Boxes have their format off the canvas alone: the map takes them from there in this one.
class ConvertBoxFormat : public UnaryKernel {
 public:
  explicit ConvertBoxFormat(const ir::Attributes& attributes) : format_(BoxFormat::Of(attributes)) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext&) const override {
    HEADRACE_RETURN_IF_ERROR(CanvasBoxes::Of(input).status());
    HEADRACE_RETURN_IF_ERROR(format_.CheckDType(input.dtype()));
    return input;
  }

 private:
  BoxFormat format_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferConvertBoxFormat(const ir::Attributes& attributes,
                                                                  absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, RowsOfFourType(inputs[0], 0));
  HEADRACE_RETURN_IF_ERROR(BoxFormat::Of(attributes).CheckDType(type.dtype));
  return std::vector{std::move(type)};
}

std::vector<ir::Attribute> DeclaredConvertBoxFormat() {
  std::vector<ir::Attribute> attributes = BoxFormatAttributes();
  attributes[0].default_value = std::nullopt;
  return attributes;
}

const KernelRegistration convert_box_format_registration{
    {.name = "ConvertBoxFormat",
     .summary = "Gives boxes in another format than they came in.",
     .doc =
         "For a map with hr.boxes(…): boxes leave the map in this format, wherever among its kernels this one stands; "
         "the last one counts. Images, masks and keypoints stay as they are. torchvision's "
         "ConvertBoundingBoxFormat.\n"
         "Errors: a map without hr.boxes(…), int64 boxes with relative=True, and a kernel that chooses around it.",
     .attributes = DeclaredConvertBoxFormat(),
     .python_module = "vision",
     .example = "V.ConvertBoxFormat(\"cxcywh\", relative=True)",
     .sample = {.attributes = {{"format", "'xywh'"}}},
     .infer_kernel = InferConvertBoxFormat,
     .target_work = ir::TargetWork::kConvertsBoxes},
    Makes<ConvertBoxFormat>()};

}  // namespace
}  // namespace headrace
