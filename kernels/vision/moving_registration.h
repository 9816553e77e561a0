// Declares a kernel that moves pixels, and beside it the kernel that moves boxes alike: RandomCropOfBoxes has
// RandomCrop's attributes and draws, and takes boxes on their canvas (canvas_boxes.h). A map writes it for columns that
// are given as hr.boxes(…).
// Before main, as KernelRegistration.
#ifndef HEADRACE_KERNELS_VISION_MOVING_REGISTRATION_H_
#define HEADRACE_KERNELS_VISION_MOVING_REGISTRATION_H_

#include "ir/declaration.h"
#include "kernels/kernel.h"

namespace headrace {

struct MovingRegistration {
  // The kernels that `factory` makes are BoxMovers.
  MovingRegistration(const ir::Declaration& declaration, const KernelFactory& factory);
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_MOVING_REGISTRATION_H_
