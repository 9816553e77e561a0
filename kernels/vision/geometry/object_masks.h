// `ObjectMasksRegistration` declares the kernels that move masks of single objects, (n, H, W) of any numbers: each
// plane is a mask of the image. Beside each kernel that moves pixels is one of them: RandomCropOfMasks has RandomCrop's
// attributes and draws, and gives each plane what RandomCrop gives for it alone. Without a plane the masks still have
// the image's size, which moves as well. A map writes them for columns that are given as hr.boxes(…, masks=…).
// Threads: before main, as KernelRegistration.
#ifndef HEADRACE_KERNELS_VISION_GEOMETRY_OBJECT_MASKS_H_
#define HEADRACE_KERNELS_VISION_GEOMETRY_OBJECT_MASKS_H_

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/tensor.h"
#include "ir/declaration.h"
#include "ir/type.h"
#include "kernels/kernel.h"

namespace headrace {

// kGraph, naming the column, dtype and shape, for others than masks with pixels.
absl::Status CheckObjectMasks(const Tensor& masks, std::string_view column);
// The type of each plane; kGraph for a type that no masks have.
absl::StatusOr<ir::ColumnType> PlaneTypeOf(const ir::ColumnType& type, std::string_view column);

// Declares what moves masks beside a kernel of pixels, which `factory` makes, as a companion of it. Masks come first,
// and what else the kernel takes is the same for all planes.
struct ObjectMasksRegistration {
  ObjectMasksRegistration(ir::Declaration& pixels, const KernelFactory& factory);
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_GEOMETRY_OBJECT_MASKS_H_
