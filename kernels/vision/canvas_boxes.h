// Boxes on the canvas of their picture, as a map holds them between hr.boxes's first step and its last. As a tensor
// they are (n + 1, 4), float32, float64 or int64: (left, top, right, bottom) of each box in pixels, and then (0, 0,
// width, height) of the picture. Edges lie between pixels: right is the width where a box ends with the picture.
// Definitions are those of torchvision's transforms of BoundingBoxes: whole numbers lose their fractions towards 0, and
// what cuts or warps also clamps. Plain values; safe to read from any thread.
#ifndef HEADRACE_KERNELS_VISION_CANVAS_BOXES_H_
#define HEADRACE_KERNELS_VISION_CANVAS_BOXES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/output_allocator.h"
#include "core/philox.h"
#include "core/tensor.h"
#include "ir/type.h"
#include "kernels/vision/image_moves.h"
#include "kernels/vision/warp.h"
#include "kernels/vision/window.h"

namespace headrace {

struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

// The dtypes of boxes.
bool HoldsBoxes(DType dtype);
// Rows of four numbers, whatever they mean; kGraph for another dtype or shape.
absl::StatusOr<std::vector<Box>> RowsOfFour(const Tensor& tensor);
absl::StatusOr<Tensor> TensorOfRows(const std::vector<Box>& rows, DType dtype, OutputAllocator& output);
// The type of such a tensor, with as many rows as before and `more`; kGraph for a type that none can have.
absl::StatusOr<ir::ColumnType> RowsOfFourType(const ir::ColumnType& type, int64_t more);

class CanvasBoxes {
 public:
  CanvasBoxes(DType dtype, std::vector<Box> boxes, int64_t height, int64_t width)
      : dtype_(dtype), boxes_(std::move(boxes)), height_(height), width_(width) {}
  // kGraph if the tensor holds none.
  static absl::StatusOr<CanvasBoxes> Of(const Tensor& tensor);
  absl::StatusOr<Tensor> ToTensor(OutputAllocator& output) const;

  DType dtype() const { return dtype_; }
  int64_t height() const { return height_; }
  int64_t width() const { return width_; }
  const std::vector<Box>& boxes() const { return boxes_; }

  // Does to the boxes what the plan, made for a picture of this size, does to the picture.
  void Follow(const MovePlan& plan);
  // `map` leads from the result, of this size, to the picture: each box becomes the one that encloses its corners.
  void Warp(const PlaneMap& map, int64_t height, int64_t width);
  // Turned counter-clockwise by 1, 2 or 3 quarters, canvas and all.
  void Turn(int quarters);
  // Leaves the boxes for which `keep` is true.
  void Keep(const std::vector<bool>& keep);

 private:
  void Cut(const Window& window);
  void Resize(int64_t height, int64_t width);
  void FlipLeftRight();
  void FlipTopBottom();
  void Clamp();

  DType dtype_;
  std::vector<Box> boxes_;
  int64_t height_;
  int64_t width_;
};

// What a kernel that moves pixels is to boxes. It draws the same numbers for both.
class BoxMover {
 public:
  virtual ~BoxMover() = default;
  // Fails where it would for a picture of this size.
  virtual absl::Status MoveBoxes(RowRandom& random, CanvasBoxes& boxes) const = 0;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CANVAS_BOXES_H_
