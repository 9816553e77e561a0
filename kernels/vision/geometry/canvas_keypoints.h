// `CanvasKeypoints` holds keypoints on the canvas of their image, as a map holds them between hr.keypoints's first step
// and its last. As a tensor they are (n + 1, …, 2), float32, float64 or int64: x and y of each point, or group of
// points, in pixels, and then (width, height) of the image, as each point of one more group. Definitions are those of
// torchvision's transforms of KeyPoints: a flip treats coordinates as pixel centres, so that 0 becomes the width less
// 1, all else treats them as positions in the plane, and a point may lie outside.
// Threads: plain values; safe to read from any thread.
#ifndef HEADRACE_KERNELS_VISION_GEOMETRY_CANVAS_KEYPOINTS_H_
#define HEADRACE_KERNELS_VISION_GEOMETRY_CANVAS_KEYPOINTS_H_

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/output_allocator.h"
#include "core/tensor.h"
#include "ir/type.h"
#include "kernels/vision/geometry/canvas_target.h"

namespace headrace {

// The type of such a tensor, with as many groups as before and `more`; kGraph for a type that none can have.
absl::StatusOr<ir::ColumnType> KeypointsType(const ir::ColumnType& type, int64_t more);

class CanvasKeypoints : public CanvasTarget {
 public:
  // kGraph if the tensor holds none.
  static absl::StatusOr<CanvasKeypoints> Of(const Tensor& tensor);
  // Those of a tensor without a canvas, on one of this size.
  static absl::StatusOr<CanvasKeypoints> Placed(const Tensor& tensor, int64_t height, int64_t width);
  absl::StatusOr<Tensor> ToTensor(OutputAllocator& output) const;

  // A point by itself is a group.
  size_t groups() const { return points_.size() / of_group_; }
  // For each group whether all of it is in the image.
  std::vector<bool> Inside() const;
  // Leaves the groups for which `keep` is true.
  void Keep(const std::vector<bool>& keep);
  // Moves each point to the nearest pixel's middle, if it is outside of all.
  void ClampToPixels();

 private:
  CanvasKeypoints(const Tensor& tensor, std::vector<PlanePoint> points, int64_t height, int64_t width);

  void ChangePoints(ChangePoint change) override;
  void WarpPoints(ChangePoint change) override { ChangePoints(change); }
  int64_t FlipsFrom(int64_t side) const override { return side - 1; }
  double PixelAt(double at) const override { return std::floor(at); }

  std::vector<PlanePoint> points_;
  Shape shape_;  // of the tensor; its first axis is not used
  size_t of_group_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_GEOMETRY_CANVAS_KEYPOINTS_H_
