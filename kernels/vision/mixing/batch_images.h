// `BatchImages` checks that a column holds a batch of images of one layout, and finds their sizes.
// Threads: plain values; safe to read from any thread.
#ifndef HEADRACE_KERNELS_VISION_MIXING_BATCH_IMAGES_H_
#define HEADRACE_KERNELS_VISION_MIXING_BATCH_IMAGES_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "core/tensor.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "ir/type.h"

namespace headrace {

class BatchImages {
 public:
  // From the attribute below.
  explicit BatchImages(const ir::Attributes& attributes) : channels_first_(attributes.String("layout") == "CHW") {}
  explicit BatchImages(bool channels_first) : channels_first_(channels_first) {}
  static ir::Attribute LayoutAttribute();
  // For ir::Declaration::takes_layout.
  static bool TakesLayout(const ir::Attributes& attributes, bool channels_first);

  // kGraph for what is not a batch of images, or seems to have its channels last where they come first.
  absl::Status CheckType(const ir::ColumnType& type) const;
  absl::Status Check(const Tensor& images) const;

  bool channels_first() const { return channels_first_; }
  int64_t HeightOf(const Tensor& images) const { return images.dim(channels_first_ ? 2 : 1); }
  int64_t WidthOf(const Tensor& images) const { return images.dim(channels_first_ ? 3 : 2); }

 private:
  absl::Status CheckPlanes(absl::Span<const int64_t> shape, std::string_view got) const;
  absl::Status NotImages(std::string_view got) const;

  bool channels_first_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_MIXING_BATCH_IMAGES_H_
