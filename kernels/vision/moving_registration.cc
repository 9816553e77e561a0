#include "kernels/vision/moving_registration.h"

#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/vision/canvas_boxes.h"

namespace headrace {
namespace {

class KernelOfBoxes : public UnaryKernel {
 public:
  KernelOfBoxes(std::unique_ptr<Kernel> kernel, const BoxMover& mover) : kernel_(std::move(kernel)), mover_(mover) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(CanvasBoxes boxes, CanvasBoxes::Of(input));
    HEADRACE_RETURN_IF_ERROR(mover_.MoveBoxes(context.random(), boxes));
    return boxes.ToTensor(context.output());
  }

 private:
  std::unique_ptr<Kernel> kernel_;
  const BoxMover& mover_;  // the kernel
};

// Pixels that repeat the picture may show objects that no box names.
absl::Status CheckBorder(const ir::Attributes& attributes) {
  if (attributes.Find("mode") == nullptr || attributes.String("mode") == "constant") return absl::OkStatus();
  return GraphError("mode='", attributes.String("mode"),
                    "' repeats the picture beyond its border, where boxes would be missing; write mode='constant', or "
                    "leave the boxes out");
}

ir::InferKernel InferOfBoxes(ir::InferKernel of_pixels) {
  return [of_pixels = std::move(of_pixels)](
             const ir::Attributes& attributes,
             absl::Span<const ir::ColumnType> inputs) -> absl::StatusOr<std::vector<ir::ColumnType>> {
    HEADRACE_RETURN_IF_ERROR(CheckBorder(attributes));
    // Attributes that do not fit each other are found here.
    const ir::ColumnType picture = ir::ColumnType::Of(DType::kUInt8, {ir::kUnknownDim, ir::kUnknownDim, 3});
    HEADRACE_RETURN_IF_ERROR(of_pixels(attributes, {picture}).status());
    HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, RowsOfFourType(inputs[0], 0));
    return std::vector{std::move(type)};
  };
}

ir::Declaration OfBoxes(const ir::Declaration& pixels) {
  ir::Declaration boxes;
  boxes.name = Cat(pixels.name, "OfBoxes");
  boxes.version = pixels.version;
  boxes.summary = Cat("Moves boxes as ", pixels.name, " moves the pixels of their picture.");
  boxes.doc = Cat("Takes boxes on their canvas, has the attributes of ", pixels.name,
                  " and draws the same numbers.\nErrors: those of ", pixels.name, ", and anything but boxes.");
  boxes.attributes = pixels.attributes;
  boxes.traits.random = pixels.traits.random;
  boxes.python_module = "internal";
  boxes.example = "ds.map(kernels, [\"image\", hr.boxes(\"boxes\")])";
  boxes.sample.attributes = pixels.sample.attributes;
  boxes.infer_kernel = InferOfBoxes(pixels.infer_kernel);
  boxes.upgrade = pixels.upgrade;
  return boxes;
}

KernelFactory MakesOfBoxes(KernelFactory of_pixels) {
  return
      [of_pixels = std::move(of_pixels)](const ir::Attributes& attributes) -> absl::StatusOr<std::unique_ptr<Kernel>> {
        HEADRACE_RETURN_IF_ERROR(CheckBorder(attributes));
        HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> kernel, of_pixels(attributes));
        const auto* const mover = dynamic_cast<const BoxMover*>(kernel.get());
        if (mover == nullptr) return InternalError("a kernel without a rule for boxes is declared with one");
        return std::make_unique<KernelOfBoxes>(std::move(kernel), *mover);
      };
}

}  // namespace

MovingRegistration::MovingRegistration(const ir::Declaration& declaration, const KernelFactory& factory) {
  ir::RequireRegistered(RegisterKernel(OfBoxes(declaration), MakesOfBoxes(factory)));
  ir::RequireRegistered(RegisterKernel(declaration, factory));
}

}  // namespace headrace
