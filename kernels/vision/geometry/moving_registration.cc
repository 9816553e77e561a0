#include "kernels/vision/geometry/moving_registration.h"

#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ir/graph.pb.h"
#include "kernels/companion.h"
#include "kernels/vision/geometry/canvas_boxes.h"
#include "kernels/vision/geometry/canvas_keypoints.h"
#include "kernels/vision/geometry/canvas_target.h"
#include "kernels/vision/geometry/object_masks.h"

namespace headrace {
namespace {

template <typename OnCanvas>
class KernelOfTargets : public UnaryKernel {
 public:
  KernelOfTargets(std::unique_ptr<Kernel> kernel, const TargetMover& mover)
      : kernel_(std::move(kernel)), mover_(mover) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(OnCanvas target, OnCanvas::Of(input));
    HEADRACE_RETURN_IF_ERROR(mover_.MoveTarget(context.random(), target));
    return target.ToTensor(context.output());
  }

 private:
  std::unique_ptr<Kernel> kernel_;
  const TargetMover& mover_;  // the kernel
};

// What a kernel that moves one kind of target is made of.
struct TargetKind {
  const char* name;  // of several
  ir::CompanionRole role;
  const char* suffix;  // of the kernel's name
  const char* example;
  absl::StatusOr<ir::ColumnType> (*type)(const ir::ColumnType& type, int64_t more);
  std::unique_ptr<Kernel> (*make)(std::unique_ptr<Kernel> kernel, const TargetMover& mover);
};

template <typename OnCanvas>
std::unique_ptr<Kernel> MakeOf(std::unique_ptr<Kernel> kernel, const TargetMover& mover) {
  return std::make_unique<KernelOfTargets<OnCanvas>>(std::move(kernel), mover);
}

constexpr TargetKind kKinds[] = {
    {"boxes", ir::CompanionRole::kBoxes, "OfBoxes", "ds.map(kernels, [\"image\", hr.boxes(\"boxes\")])", RowsOfFourType,
     MakeOf<CanvasBoxes>},
    {"keypoints", ir::CompanionRole::kKeypoints, "OfKeypoints",
     "ds.map(kernels, [\"image\", hr.keypoints(\"points\")])", KeypointsType, MakeOf<CanvasKeypoints>},
};

// Pixels that repeat the image may show objects that no target names.
absl::Status CheckBorder(const ir::Attributes& attributes, const TargetKind& kind) {
  if (attributes.Find("mode") == nullptr || attributes.String("mode") == "constant") return absl::OkStatus();
  return GraphError("mode='", attributes.String("mode"), "' repeats the image beyond its border, where ", kind.name,
                    " would be missing; write mode='constant', or leave the ", kind.name, " out");
}

ir::InferKernel InferOfTargets(ir::InferKernel of_pixels, const TargetKind& kind) {
  return [of_pixels = std::move(of_pixels), &kind](
             const ir::Attributes& attributes,
             absl::Span<const ir::ColumnType> inputs) -> absl::StatusOr<std::vector<ir::ColumnType>> {
    HEADRACE_RETURN_IF_ERROR(CheckBorder(attributes, kind));
    // Attributes that do not fit each other are found here.
    const ir::ColumnType image = ir::ColumnType::Of(DType::kUInt8, {ir::kUnknownDim, ir::kUnknownDim, 3});
    HEADRACE_RETURN_IF_ERROR(of_pixels(attributes, {image}).status());
    HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, kind.type(inputs[0], 0));
    return std::vector{std::move(type)};
  };
}

ir::Declaration OfTargets(const ir::Declaration& pixels, const TargetKind& kind) {
  ir::Declaration targets = CompanionOf(pixels, kind.role);
  targets.summary = Cat("Moves ", kind.name, " as ", pixels.name, " moves the pixels of their image.");
  targets.doc =
      Cat("Takes ", kind.name, " on their canvas, has the attributes of ", pixels.name,
          " and draws the same numbers.\nErrors: those of ", pixels.name, ", and anything but ", kind.name, ".");
  targets.example = kind.example;
  targets.infer_kernel = InferOfTargets(pixels.infer_kernel, kind);
  return targets;
}

KernelFactory MakesOfTargets(KernelFactory of_pixels, const TargetKind& kind) {
  return [of_pixels = std::move(of_pixels),
          &kind](const ir::Attributes& attributes) -> absl::StatusOr<std::unique_ptr<Kernel>> {
    HEADRACE_RETURN_IF_ERROR(CheckBorder(attributes, kind));
    HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> kernel, of_pixels(attributes));
    const auto* const mover = dynamic_cast<const TargetMover*>(kernel.get());
    if (mover == nullptr) return InternalError("a kernel without a rule for ", kind.name, " is declared with one");
    return kind.make(std::move(kernel), *mover);
  };
}

}  // namespace

MovingRegistration::MovingRegistration(ir::Declaration declaration, const KernelFactory& factory) {
  for (const TargetKind& kind : kKinds) {
    AddCompanion(kind.role, kind.suffix, declaration);
    ir::RequireRegistered(RegisterKernel(OfTargets(declaration, kind), MakesOfTargets(factory, kind)));
  }
  const ObjectMasksRegistration of_masks(declaration, factory);
  ir::RequireRegistered(RegisterKernel(std::move(declaration), factory));
}

}  // namespace headrace
