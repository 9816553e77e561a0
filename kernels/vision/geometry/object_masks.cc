#include "kernels/vision/geometry/object_masks.h"

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/companion.h"
#include "kernels/vision/image/image.h"

namespace headrace {
namespace {

// What the kernels that move masks get is checked before them, with the name of the column.
constexpr std::string_view kColumn = "masks";

absl::Status NotMasks(std::string_view column, std::string_view got) {
  const std::string_view hint = got.starts_with("bytes") ? "; decode them in a function, in a map before this one" : "";
  return GraphError("needs masks of single boxes in column \"", column, "\", numbers of shape (n, H, W); got ", got,
                    hint);
}

// Of the masks' size and dtype, and 0 everywhere.
absl::StatusOr<Tensor> Blank(const Tensor& masks) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor blank, Tensor::Allocate(masks.dtype(), {masks.dim(1), masks.dim(2)}));
  std::memset(blank.mutable_raw(), 0, blank.bytes());
  return blank;
}

bool IsSame(const Tensor& a, const Tensor& b) { return a.raw() == b.raw() && a.shape() == b.shape(); }

class KernelOfMasks : public Kernel {
 public:
  explicit KernelOfMasks(std::unique_ptr<Kernel> kernel) : kernel_(std::move(kernel)) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    const Tensor& masks = inputs[0];
    HEADRACE_RETURN_IF_ERROR(CheckObjectMasks(masks, kColumn));
    const absl::Span<const Tensor> others = inputs.subspan(1);
    if (masks.dim(0) == 0) return OfNone(masks, others, context);
    HEADRACE_ASSIGN_OR_RETURN(const Tensor first, Moved(masks.Index(0), others, context));
    if (IsSame(first, masks.Index(0))) return Tensors{masks};
    HEADRACE_ASSIGN_OR_RETURN(Tensor moved,
                              context.AllocateOutput(masks.dtype(), {masks.dim(0), first.dim(0), first.dim(1)}));
    uint8_t* at = moved.mutable_raw();
    first.CopyTo(at);
    for (int64_t i = 1; i < masks.dim(0); ++i) {
      HEADRACE_ASSIGN_OR_RETURN(const Tensor plane, Moved(masks.Index(i), others, context));
      if (plane.shape() != first.shape()) return InternalError("masks of one image are moved to different sizes");
      at += first.bytes();
      plane.CopyTo(at);
    }
    return Tensors{std::move(moved)};
  }

 private:
  // With the draws of every plane.
  absl::StatusOr<Tensor> Moved(Tensor plane, absl::Span<const Tensor> others, KernelContext& context) const {
    std::vector<Tensor> inputs = {std::move(plane)};
    inputs.insert(inputs.end(), others.begin(), others.end());
    OutputAllocator output;
    KernelContext of_plane(context.random(), output);
    HEADRACE_ASSIGN_OR_RETURN(Tensors outputs, kernel_->Apply(inputs, of_plane));
    return std::move(outputs[0]);
  }

  absl::StatusOr<Tensors> OfNone(const Tensor& masks, absl::Span<const Tensor> others, KernelContext& context) const {
    HEADRACE_ASSIGN_OR_RETURN(Tensor blank, Blank(masks));
    HEADRACE_ASSIGN_OR_RETURN(const Tensor plane, Moved(std::move(blank), others, context));
    HEADRACE_ASSIGN_OR_RETURN(Tensor none, context.AllocateOutput(masks.dtype(), {0, plane.dim(0), plane.dim(1)}));
    return Tensors{std::move(none)};
  }

  std::unique_ptr<Kernel> kernel_;
};

ir::InferKernel InferOfMasks(ir::InferKernel of_pixels) {
  return [of_pixels = std::move(of_pixels)](
             const ir::Attributes& attributes,
             absl::Span<const ir::ColumnType> inputs) -> absl::StatusOr<std::vector<ir::ColumnType>> {
    std::vector<ir::ColumnType> of_plane(inputs.begin(), inputs.end());
    HEADRACE_ASSIGN_OR_RETURN(of_plane[0], PlaneTypeOf(inputs[0], kColumn));
    HEADRACE_ASSIGN_OR_RETURN(std::vector<ir::ColumnType> types, of_pixels(attributes, of_plane));
    if (types[0].shape) types[0].shape->insert(types[0].shape->begin(), inputs[0].shape->front());
    return types;
  };
}

ir::Declaration OfMasks(const ir::Declaration& pixels) {
  ir::Declaration masks = CompanionOf(pixels, ir::CompanionRole::kObjectMasks);
  masks.summary = Cat("Moves masks of single boxes as ", pixels.name, " moves the pixels of their image.");
  masks.doc = Cat("Takes numbers of shape (n, H, W), has the attributes of ", pixels.name,
                  " and draws the same numbers.\nErrors: those of ", pixels.name, ", and anything but such masks.");
  masks.min_inputs = pixels.min_inputs;
  masks.max_inputs = pixels.max_inputs;
  masks.traits.keeps_classes = true;
  masks.example = "ds.map(kernels, [\"image\", hr.boxes(\"boxes\", masks=\"masks\")])";
  masks.infer_kernel = InferOfMasks(pixels.infer_kernel);
  return masks;
}

KernelFactory MakesOfMasks(KernelFactory of_pixels) {
  return
      [of_pixels = std::move(of_pixels)](const ir::Attributes& attributes) -> absl::StatusOr<std::unique_ptr<Kernel>> {
        HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> kernel, of_pixels(attributes));
        return std::make_unique<KernelOfMasks>(std::move(kernel));
      };
}

}  // namespace

absl::Status CheckObjectMasks(const Tensor& masks, std::string_view column) {
  if (masks.rank() != 3 || ItemSize(masks.dtype()) == 0) return NotMasks(column, masks.TypeName());
  if (masks.dim(1) * masks.dim(2) == 0)
    return GraphError("column \"", column, "\" holds masks without pixels: ", masks.TypeName());
  return absl::OkStatus();
}

absl::StatusOr<ir::ColumnType> PlaneTypeOf(const ir::ColumnType& type, std::string_view column) {
  if (type.shape && type.shape->size() != 3) return NotMasks(column, ir::TypeName(type));
  ir::ColumnType plane = type;
  if (plane.shape) plane.shape->erase(plane.shape->begin());
  if (!ImageTypeOf(plane, PixelTypes::kFixedSize).ok()) return NotMasks(column, ir::TypeName(type));
  return plane;
}

ObjectMasksRegistration::ObjectMasksRegistration(ir::Declaration& pixels, const KernelFactory& factory) {
  AddCompanion(ir::CompanionRole::kObjectMasks, "OfMasks", pixels);
  ir::RequireRegistered(RegisterKernel(OfMasks(pixels), MakesOfMasks(factory)));
}

}  // namespace headrace
