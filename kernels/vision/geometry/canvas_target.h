// `CanvasTarget` lies on the canvas of its image and moves by its points: boxes by their corners (canvas_boxes.h),
// keypoints by themselves (canvas_keypoints.h). Kernels that move pixels move any of them, through this class alone.
// Definitions are those of torchvision's transforms.
// Threads: plain values; safe to read from any thread.
#ifndef HEADRACE_KERNELS_VISION_GEOMETRY_CANVAS_TARGET_H_
#define HEADRACE_KERNELS_VISION_GEOMETRY_CANVAS_TARGET_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "core/dtype.h"
#include "core/philox.h"
#include "kernels/vision/geometry/affine_map.h"
#include "kernels/vision/geometry/image_moves.h"
#include "kernels/vision/geometry/warp.h"
#include "kernels/vision/image/window.h"

namespace headrace {

class CanvasTarget {
 public:
  virtual ~CanvasTarget() = default;

  DType dtype() const { return dtype_; }
  int64_t height() const { return height_; }
  int64_t width() const { return width_; }

  // Moves as the plan, made for an image of this size, moves the image.
  void Follow(const MovePlan& plan);
  // `map` leads from the result, of this size, to the image.
  void Warp(const PlaneMap& map, int64_t height, int64_t width);
  // Each point moves against the displacement of the pixel where it is, or of the nearest one: the field says from
  // where pixels are taken, not where they go, and is taken to change little over a displacement. It is of this canvas,
  // which has pixels.
  void Displace(const DisplacementField& field);
  // Turned counter-clockwise by so many quarters, 0 to 3, canvas and all.
  void Turn(int quarters);

 protected:
  CanvasTarget(DType dtype, int64_t height, int64_t width) : dtype_(dtype), height_(height), width_(width) {}
  CanvasTarget(const CanvasTarget&) = default;
  CanvasTarget(CanvasTarget&&) = default;
  CanvasTarget& operator=(const CanvasTarget&) = default;
  CanvasTarget& operator=(CanvasTarget&&) = default;

  using ChangePoint = absl::FunctionRef<void(PlanePoint& point)>;
  enum Axis { kAcross = 0, kDown = 1 };

 private:
  // Changes each point, where lines along an axis remain such lines.
  virtual void ChangePoints(ChangePoint change) = 0;
  // Changes each point, where they may turn.
  virtual void WarpPoints(ChangePoint change) = 0;
  // Puts the numbers of an axis into their order, which was mirrored.
  virtual void Reorder(Axis) {}
  // The number from which a flip subtracts, on an axis of this length.
  virtual int64_t FlipsFrom(int64_t side) const = 0;
  // The pixel whose displacement moves what is at this place of an axis; pixel n lies from n to n + 1.
  virtual double PixelAt(double at) const = 0;
  // After what cuts or warps.
  virtual void Clamp() {}

  void Cut(const Window& window);
  void Resize(int64_t height, int64_t width);
  void Flip(Axis axis);

  DType dtype_;
  int64_t height_;
  int64_t width_;
};

// What a kernel that moves pixels is to targets. It draws the same numbers for all.
class TargetMover {
 public:
  virtual ~TargetMover() = default;
  // Fails where it would for an image of this size.
  virtual absl::Status MoveTarget(RowRandom& random, CanvasTarget& target) const = 0;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_GEOMETRY_CANVAS_TARGET_H_
