// `CanvasBoxes` holds boxes on the canvas of their image, as a map holds them between hr.boxes's first step and its
// last. As a tensor they are (n + 1, 4), float32, float64 or int64: (left, top, right, bottom) of each box in pixels,
// and then (0, 0, width, height) of the image. Edges lie between pixels: right is the width where a box ends with the
// image. An int64 box that users give as middle and size may have edges in the middle of pixels, so such boxes are in
// halves of a pixel, and (1, 0, width, height) follows. Definitions are those of torchvision's transforms of
// BoundingBoxes: what cuts or warps also clamps.
// Threads: plain values; safe to read from any thread.
#ifndef HEADRACE_KERNELS_VISION_GEOMETRY_CANVAS_BOXES_H_
#define HEADRACE_KERNELS_VISION_GEOMETRY_CANVAS_BOXES_H_

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

struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

// Rows of four numbers, whatever they mean; kGraph for another dtype or shape.
absl::StatusOr<std::vector<Box>> RowsOfFour(const Tensor& tensor);
absl::StatusOr<Tensor> TensorOfRows(const std::vector<Box>& rows, DType dtype, OutputAllocator& output);
// The type of such a tensor, with as many rows as before and `more`; kGraph for a type that none can have.
absl::StatusOr<ir::ColumnType> RowsOfFourType(const ir::ColumnType& type, int64_t more);

class CanvasBoxes : public CanvasTarget {
 public:
  // How a tensor holds them.
  enum class Unit { kPixels, kHalves };

  CanvasBoxes(DType dtype, std::vector<Box> boxes, int64_t height, int64_t width, Unit unit = Unit::kPixels)
      : CanvasTarget(dtype, height, width), boxes_(std::move(boxes)), unit_(unit) {}
  // kGraph if the tensor holds none.
  static absl::StatusOr<CanvasBoxes> Of(const Tensor& tensor);
  absl::StatusOr<Tensor> ToTensor(OutputAllocator& output) const;

  const std::vector<Box>& boxes() const { return boxes_; }  // in pixels
  Unit unit() const { return unit_; }
  // Leaves the boxes for which `keep` is true.
  void Keep(const std::vector<bool>& keep);

 private:
  void ChangePoints(ChangePoint change) override;
  // Each box becomes the one that encloses its corners.
  void WarpPoints(ChangePoint change) override;
  void Reorder(Axis axis) override;
  // Edges lie between pixels.
  int64_t FlipsFrom(int64_t side) const override { return side; }
  double PixelAt(double at) const override { return std::ceil(at); }
  void Clamp() override;

  std::vector<Box> boxes_;
  Unit unit_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_GEOMETRY_CANVAS_BOXES_H_
