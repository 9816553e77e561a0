// `MovingRegistration` declares a kernel that moves pixels, and beside it the kernels that move boxes and keypoints
// alike: RandomCropOfBoxes and RandomCropOfKeypoints have RandomCrop's attributes and draws, and take what lies on a
// canvas (canvas_target.h). A map writes them for columns that are given as hr.boxes(…) and hr.keypoints(…). With them
// it declares the one that moves masks of single boxes (object_masks.h).
// Threads: before main, as KernelRegistration.
#ifndef HEADRACE_KERNELS_VISION_GEOMETRY_MOVING_REGISTRATION_H_
#define HEADRACE_KERNELS_VISION_GEOMETRY_MOVING_REGISTRATION_H_

#include "ir/declaration.h"
#include "kernels/kernel.h"

namespace headrace {

struct MovingRegistration {
  // The kernels that `factory` makes are TargetMovers.
  MovingRegistration(ir::Declaration declaration, const KernelFactory& factory);
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_GEOMETRY_MOVING_REGISTRATION_H_
