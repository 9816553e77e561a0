// `PlacingKernel` places one kind of target on the canvas of its image (canvas_target.h). Its inputs are the image, the
// target and its labels. Use it for each kind of target, with `PlacingDeclaration`.
// Threads: that of kernels.
#ifndef HEADRACE_KERNELS_VISION_TARGETS_PLACING_KERNEL_H_
#define HEADRACE_KERNELS_VISION_TARGETS_PLACING_KERNEL_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/tensor.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "kernels/kernel.h"
#include "kernels/vision/codecs/decode/size_of_image.h"

namespace headrace {

// What a kind of target is called in errors.
struct PlacedKind {
  std::string_view name;     // of several
  std::string_view owner;    // of a label
  std::string_view of_none;  // the shape of an empty one
};

class PlacingKernel : public Kernel {
 public:
  PlacingKernel(const ir::Attributes& attributes, const PlacedKind& kind);
  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const final;

 protected:
  // What a row was given with its target.
  class Given {
   public:
    Given(const PlacingKernel& kernel, absl::Span<const Tensor> inputs) : kernel_(kernel), inputs_(inputs) {}
    const Tensor& target() const { return inputs_[1]; }
    absl::StatusOr<ImageSize> Size() const;
    // Whether there are so many of each label.
    absl::Status CheckLabelsOf(size_t count) const;

   private:
    const PlacingKernel& kernel_;
    absl::Span<const Tensor> inputs_;
  };
  virtual absl::StatusOr<Tensor> Place(const Given& given, OutputAllocator& output) const = 0;

 private:
  PlacedKind kind_;
  DecodeOptions options_;
  std::vector<std::string> columns_;
};

// Completes `own` (name, texts, attributes, types and work): appends the attributes that PlacingKernel reads.
ir::Declaration PlacingDeclaration(ir::Declaration own);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_TARGETS_PLACING_KERNEL_H_
