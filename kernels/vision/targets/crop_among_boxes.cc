#include "kernels/vision/targets/crop_among_boxes.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "core/error.h"
#include "kernels/companion.h"
#include "kernels/vision/geometry/canvas_keypoints.h"
#include "kernels/vision/geometry/image_moves.h"
#include "kernels/vision/geometry/object_masks.h"
#include "kernels/vision/image/image.h"
#include "kernels/vision/targets/kept_labels.h"
#include "kernels/vision/targets/target_labels.h"

namespace headrace {
namespace {

using Crop = absl::StatusOr<Tensors> (CropAmongBoxes::*)(absl::Span<const Tensor> inputs, KernelContext& context) const;

class CropOfTargets : public Kernel {
 public:
  CropOfTargets(std::unique_ptr<Kernel> kernel, const CropAmongBoxes& among, Crop crop)
      : kernel_(std::move(kernel)), among_(among), crop_(crop) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    return (among_.*crop_)(inputs, context);
  }

 private:
  std::unique_ptr<Kernel> kernel_;
  const CropAmongBoxes& among_;  // the kernel
  Crop crop_;
};

KernelFactory MakesOfTargets(KernelFactory of_images, Crop crop) {
  return [of_images = std::move(of_images),
          crop](const ir::Attributes& attributes) -> absl::StatusOr<std::unique_ptr<Kernel>> {
    HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> kernel, of_images(attributes));
    const auto* const among = dynamic_cast<const CropAmongBoxes*>(kernel.get());
    if (among == nullptr) return InternalError("a kernel that is no CropAmongBoxes is registered as one");
    return std::make_unique<CropOfTargets>(std::move(kernel), *among, crop);
  };
}

ir::InferKernel InferOfImages(KernelFactory factory) {
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
    return TypesOfFewer(inputs, RowsOfFourType, kOwnerBox);
  };
}

ir::InferKernel InferOfKeypoints(KernelFactory factory) {
  return [factory = std::move(factory)](
             const ir::Attributes& attributes,
             absl::Span<const ir::ColumnType> inputs) -> absl::StatusOr<std::vector<ir::ColumnType>> {
    HEADRACE_RETURN_IF_ERROR(factory(attributes).status());
    HEADRACE_RETURN_IF_ERROR(RowsOfFourType(inputs[1], 0).status());
    HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, KeypointsType(inputs[0], 0));
    return std::vector{std::move(type)};
  };
}

ir::Declaration OfBoxes(const ir::Declaration& images) {
  ir::Declaration boxes = CompanionOf(images, ir::CompanionRole::kBoxes);
  boxes.summary = Cat("Cuts boxes as ", images.name, " cuts their image.");
  boxes.doc = Cat("Takes boxes on their canvas and what belongs to each of them, has the attributes of ", images.name,
                  " and draws the same numbers.\nErrors: anything but boxes, and another number of labels.");
  boxes.max_inputs = -1;
  boxes.example = "ds.map(kernels, [\"image\", hr.boxes(\"boxes\")])";
  return boxes;
}

ir::Declaration OfKeypoints(const ir::Declaration& images) {
  ir::Declaration keypoints = CompanionOf(images, ir::CompanionRole::kKeypoints);
  keypoints.summary = Cat("Moves keypoints as ", images.name, " cuts their image.");
  keypoints.doc = Cat("Takes keypoints on their canvas and the boxes of their image, has the attributes of ",
                      images.name, " and draws the same numbers.\nErrors: anything but keypoints and boxes.");
  keypoints.min_inputs = 2;
  keypoints.max_inputs = 2;
  keypoints.example = "ds.map(kernels, [\"image\", hr.boxes(\"boxes\"), hr.keypoints(\"points\")])";
  return keypoints;
}

// `type`: of what is not of the boxes' image.
absl::Status CheckCanvas(const CanvasBoxes& boxes, int64_t height, int64_t width, const std::string& type) {
  if (height == boxes.height() && width == boxes.width()) return absl::OkStatus();
  return GraphError("the boxes are those of an image of height ", boxes.height(), " and width ", boxes.width(),
                    "; got ", type);
}

MovePlan PlanOf(const CropWithBoxes& crop, const CanvasTarget& target) {
  MovePlan plan(target.height(), target.width());
  plan.Cut(crop.window, Border::kConstant, {});
  return plan;
}

}  // namespace

absl::StatusOr<Tensors> CropAmongBoxes::Apply(absl::Span<const Tensor> inputs, KernelContext& context) const {
  const Tensor& input = inputs[0];
  HEADRACE_RETURN_IF_ERROR(CheckImage(input, PixelTypes::kFixedSize));
  HEADRACE_ASSIGN_OR_RETURN(const CanvasBoxes boxes, CanvasBoxes::Of(inputs[1]));
  HEADRACE_RETURN_IF_ERROR(CheckCanvas(boxes, input.dim(0), input.dim(1), input.TypeName()));
  const std::optional<CropWithBoxes> crop = Draw(context.random(), boxes);
  if (!crop.has_value()) return Tensors{input};
  HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(input, PixelTypes::kFixedSize));
  const Window& cut = crop->window;
  HEADRACE_ASSIGN_OR_RETURN(Tensor part,
                            TensorOf(Cropped(image, cut.top, cut.left, cut.height, cut.width), context.output()));
  return Tensors{std::move(part)};
}

absl::StatusOr<Tensors> CropAmongBoxes::CropBoxes(absl::Span<const Tensor> inputs, KernelContext& context) const {
  HEADRACE_ASSIGN_OR_RETURN(CanvasBoxes boxes, CanvasBoxes::Of(inputs[0]));
  for (const Tensor& labels : inputs.subspan(1)) {
    HEADRACE_RETURN_IF_ERROR(CheckLabels(labels, boxes.boxes().size(), kOwnerBox));
  }
  const std::optional<CropWithBoxes> crop = Draw(context.random(), boxes);
  Tensors outputs(1);
  if (!crop.has_value()) {
    outputs[0] = inputs[0];
    for (const Tensor& labels : inputs.subspan(1)) outputs.push_back(labels);
    return outputs;
  }
  boxes.Follow(PlanOf(*crop, boxes));
  if (marks()) {
    std::vector<Box> marked = boxes.boxes();
    for (size_t i = 0; i < marked.size(); ++i) {
      if (!crop->keep[i]) marked[i] = {};
    }
    boxes = CanvasBoxes(boxes.dtype(), std::move(marked), boxes.height(), boxes.width(), boxes.unit());
    for (const Tensor& labels : inputs.subspan(1)) outputs.push_back(labels);
  } else {
    boxes.Keep(crop->keep);
    HEADRACE_RETURN_IF_ERROR(AppendKept(inputs.subspan(1), crop->keep, kOwnerBox, outputs));
  }
  HEADRACE_ASSIGN_OR_RETURN(outputs[0], boxes.ToTensor(context.output()));
  return outputs;
}

absl::StatusOr<Tensors> CropAmongBoxes::CropKeypoints(absl::Span<const Tensor> inputs, KernelContext& context) const {
  HEADRACE_ASSIGN_OR_RETURN(CanvasKeypoints keypoints, CanvasKeypoints::Of(inputs[0]));
  HEADRACE_ASSIGN_OR_RETURN(const CanvasBoxes boxes, CanvasBoxes::Of(inputs[1]));
  HEADRACE_RETURN_IF_ERROR(
      CheckCanvas(boxes, keypoints.height(), keypoints.width(),
                  Cat("keypoints of one of height ", keypoints.height(), " and width ", keypoints.width())));
  const std::optional<CropWithBoxes> crop = Draw(context.random(), boxes);
  if (!crop.has_value()) return Tensors{inputs[0]};
  keypoints.Follow(PlanOf(*crop, keypoints));
  HEADRACE_ASSIGN_OR_RETURN(Tensor moved, keypoints.ToTensor(context.output()));
  return Tensors{std::move(moved)};
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
  declaration.clips = ir::Clips::kByFrame;
  AddCompanion(ir::CompanionRole::kBoxes, "OfBoxes", declaration);
  AddCompanion(ir::CompanionRole::kKeypoints, "OfKeypoints", declaration);
  ir::Declaration boxes = OfBoxes(declaration);
  boxes.infer_kernel = InferOfBoxes(factory);
  // Of boxes that are cut away, what belongs to them goes, too; their labels stay what they are.
  boxes.traits.keeps_classes = true;
  ir::RequireRegistered(RegisterKernel(std::move(boxes), MakesOfTargets(factory, &CropAmongBoxes::CropBoxes)));
  ir::Declaration keypoints = OfKeypoints(declaration);
  keypoints.infer_kernel = InferOfKeypoints(factory);
  ir::RequireRegistered(RegisterKernel(std::move(keypoints), MakesOfTargets(factory, &CropAmongBoxes::CropKeypoints)));
  declaration.infer_kernel = InferOfImages(factory);
  const ObjectMasksRegistration of_masks(declaration, factory);
  ir::RequireRegistered(RegisterKernel(std::move(declaration), factory));
}

}  // namespace headrace
