#include "kernels/detection/crop_among_boxes.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/error.h"
#include "kernels/detection/kept_labels.h"
#include "kernels/vision/box_format.h"
#include "kernels/vision/image.h"
#include "kernels/vision/image_moves.h"

namespace headrace {
namespace {

class CropOfBoxes : public Kernel {
 public:
  CropOfBoxes(std::unique_ptr<Kernel> kernel, const CropAmongBoxes& crop) : kernel_(std::move(kernel)), crop_(crop) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    return crop_.CropBoxes(inputs, context);
  }

 private:
  std::unique_ptr<Kernel> kernel_;
  const CropAmongBoxes& crop_;  // the kernel
};

KernelFactory MakesOfBoxes(KernelFactory of_pictures) {
  return [of_pictures =
              std::move(of_pictures)](const ir::Attributes& attributes) -> absl::StatusOr<std::unique_ptr<Kernel>> {
    HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> kernel, of_pictures(attributes));
    const auto* const crop = dynamic_cast<const CropAmongBoxes*>(kernel.get());
    if (crop == nullptr) return InternalError("a kernel that is no CropAmongBoxes is registered as one");
    return std::make_unique<CropOfBoxes>(std::move(kernel), *crop);
  };
}

ir::InferKernel InferOfPictures(KernelFactory factory) {
  return [factory = std::move(factory)](
             const ir::Attributes& attributes,
             absl::Span<const ir::ColumnType> inputs) -> absl::StatusOr<std::vector<ir::ColumnType>> {
    HEADRACE_RETURN_IF_ERROR(factory(attributes).status());
    HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kFixedSize));
    if (inputs.size() > 1) HEADRACE_RETURN_IF_ERROR(RowsOfFourType(inputs[1], 0).status());
    return std::vector{WithSize(std::move(type), ir::kUnknownDim, ir::kUnknownDim)};
  };
}

ir::InferKernel InferOfBoxes(KernelFactory factory) {
  return [factory = std::move(factory)](
             const ir::Attributes& attributes,
             absl::Span<const ir::ColumnType> inputs) -> absl::StatusOr<std::vector<ir::ColumnType>> {
    HEADRACE_RETURN_IF_ERROR(factory(attributes).status());
    return TypesOfFewerBoxes(inputs);
  };
}

ir::Declaration OfBoxes(const ir::Declaration& pictures) {
  ir::Declaration boxes;
  boxes.name = Cat(pictures.name, "OfBoxes");
  boxes.summary = Cat("Cuts boxes as ", pictures.name, " cuts their picture.");
  boxes.doc = Cat("Takes boxes on their canvas and what belongs to each of them, has the attributes of ", pictures.name,
                  " and draws the same numbers.\nErrors: anything but boxes, and another number of labels.");
  boxes.max_inputs = -1;
  boxes.attributes = pictures.attributes;
  boxes.traits.random = true;
  boxes.python_module = "internal";
  boxes.example = "ds.map(kernels, [\"image\", hr.boxes(\"boxes\")])";
  boxes.sample.attributes = pictures.sample.attributes;
  return boxes;
}

}  // namespace

absl::StatusOr<Tensors> CropAmongBoxes::Apply(absl::Span<const Tensor> inputs, KernelContext& context) const {
  const Tensor& picture = inputs[0];
  HEADRACE_RETURN_IF_ERROR(CheckImage(picture, PixelTypes::kFixedSize));
  HEADRACE_ASSIGN_OR_RETURN(const CanvasBoxes boxes, CanvasBoxes::Of(inputs[1]));
  if (picture.dim(0) != boxes.height() || picture.dim(1) != boxes.width()) {
    return GraphError("the boxes are those of a picture of height ", boxes.height(), " and width ", boxes.width(),
                      "; got ", picture.TypeName());
  }
  const std::optional<CropWithBoxes> crop = Draw(context.random(), boxes);
  if (!crop.has_value()) return Tensors{picture};
  HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(picture, PixelTypes::kFixedSize));
  const Window& cut = crop->window;
  HEADRACE_ASSIGN_OR_RETURN(Tensor part,
                            TensorOf(Cropped(image, cut.top, cut.left, cut.height, cut.width), context.output()));
  return Tensors{std::move(part)};
}

absl::StatusOr<Tensors> CropAmongBoxes::CropBoxes(absl::Span<const Tensor> inputs, KernelContext& context) const {
  HEADRACE_ASSIGN_OR_RETURN(CanvasBoxes boxes, CanvasBoxes::Of(inputs[0]));
  for (const Tensor& labels : inputs.subspan(1)) {
    HEADRACE_RETURN_IF_ERROR(CheckLabels(labels, boxes.boxes().size()));
  }
  const std::optional<CropWithBoxes> crop = Draw(context.random(), boxes);
  Tensors outputs(1);
  if (!crop.has_value()) {
    outputs[0] = inputs[0];
    for (const Tensor& labels : inputs.subspan(1)) outputs.push_back(labels);
    return outputs;
  }
  MovePlan plan(boxes.height(), boxes.width());
  plan.Cut(crop->window, Border::kConstant, {});
  boxes.Follow(plan);
  if (marks()) {
    std::vector<Box> marked = boxes.boxes();
    for (size_t i = 0; i < marked.size(); ++i) {
      if (!crop->keep[i]) marked[i] = {};
    }
    boxes = CanvasBoxes(boxes.dtype(), std::move(marked), boxes.height(), boxes.width());
    for (const Tensor& labels : inputs.subspan(1)) outputs.push_back(labels);
  } else {
    boxes.Keep(crop->keep);
    for (const Tensor& labels : inputs.subspan(1)) {
      HEADRACE_ASSIGN_OR_RETURN(Tensor kept, LabelsKept(labels, crop->keep));
      outputs.push_back(std::move(kept));
    }
  }
  HEADRACE_ASSIGN_OR_RETURN(outputs[0], boxes.ToTensor(context.output()));
  return outputs;
}

double AreaInside(const Box& box, const Window& window) {
  const auto left = static_cast<double>(window.left);
  const auto top = static_cast<double>(window.top);
  return AreaOf({std::max(box.left, left), std::max(box.top, top),
                 std::min(box.right, left + static_cast<double>(window.width)),
                 std::min(box.bottom, top + static_cast<double>(window.height))});
}

double AreaOf(const Box& box) { return std::max(0.0, box.right - box.left) * std::max(0.0, box.bottom - box.top); }

AmongBoxesRegistration::AmongBoxesRegistration(ir::Declaration declaration, const KernelFactory& factory) {
  declaration.min_inputs = 2;
  declaration.max_inputs = 2;
  declaration.traits.random = true;
  declaration.python_module = "vision";
  ir::Declaration boxes = OfBoxes(declaration);
  boxes.infer_kernel = InferOfBoxes(factory);
  ir::RequireRegistered(RegisterKernel(std::move(boxes), MakesOfBoxes(factory)));
  declaration.infer_kernel = InferOfPictures(factory);
  ir::RequireRegistered(RegisterKernel(std::move(declaration), factory));
}

}  // namespace headrace
