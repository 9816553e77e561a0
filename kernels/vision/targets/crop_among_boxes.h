// `CropAmongBoxes` is a crop that depends on the boxes of its image, such as the samplers of SSD. It cuts images and
// masks: it takes the image and its boxes on their canvas (canvas_boxes.h). `AmongBoxesRegistration` declares three
// companions beside it: one cuts the boxes, and takes them with what belongs to each (RandomIoUCropOfBoxes beside
// RandomIoUCrop); one takes keypoints on their canvas, and the boxes (RandomIoUCropOfKeypoints); one cuts masks of
// single boxes (RandomIoUCropOfMasks, object_masks.h). A map writes all four, with one salt and the boxes last, so that
// all draw the same numbers from the same boxes.
// Threads: that of kernels.
#ifndef HEADRACE_KERNELS_VISION_TARGETS_CROP_AMONG_BOXES_H_
#define HEADRACE_KERNELS_VISION_TARGETS_CROP_AMONG_BOXES_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/philox.h"
#include "core/tensor.h"
#include "ir/declaration.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/canvas_boxes.h"
#include "kernels/vision/image/window.h"

namespace headrace {

// What a row has drawn.
struct CropWithBoxes {
  Window window;           // inside the image
  std::vector<bool> keep;  // the boxes that remain, one mark for each
};

class CropAmongBoxes : public Kernel {
 public:
  // The part of the image.
  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const final;
  // The boxes in it, and what belongs to them.
  absl::StatusOr<Tensors> CropBoxes(absl::Span<const Tensor> inputs, KernelContext& context) const;
  // The keypoints, seen from the part, inside it or not.
  absl::StatusOr<Tensors> CropKeypoints(absl::Span<const Tensor> inputs, KernelContext& context) const;

 protected:
  // Unset: the image and its boxes stay as they are.
  virtual std::optional<CropWithBoxes> Draw(RowRandom& random, const CanvasBoxes& boxes) const = 0;
  // Whether boxes that do not remain become (0, 0, 0, 0), and keep what belongs to them.
  virtual bool marks() const { return false; }
};

// Of the part of a box that is in the window.
double AreaInside(const Box& box, const Window& window);
double AreaOf(const Box& box);

// Completes `declaration` (name, texts, attributes and sample attributes) and registers the four kernels. Before main,
// as KernelRegistration.
struct AmongBoxesRegistration {
  AmongBoxesRegistration(ir::Declaration declaration, const KernelFactory& factory);
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_TARGETS_CROP_AMONG_BOXES_H_
