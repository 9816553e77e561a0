// `Window` is a rectangle over an image that may extend beyond its borders: a crop, padding or both are one copy.
// Pixels outside are filled by the border's rule.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_IMAGE_WINDOW_H_
#define HEADRACE_KERNELS_VISION_IMAGE_WINDOW_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/output_allocator.h"
#include "core/tensor.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "kernels/vision/image/image.h"

namespace headrace {

struct Window {
  int64_t top = 0;  // negative: above the image
  int64_t left = 0;
  int64_t height = 0;
  int64_t width = 0;
};

// NumPy's names and meanings (numpy.pad).
enum class Border {
  kConstant,
  kEdge,       // aaa|abcd|ddd
  kReflect,    // dcb|abcd|cba
  kSymmetric,  // cba|abcd|dcb
};
Border BorderOf(std::string_view name);

// The position on an axis of `size` that the window reads at `at` (from -size·k to beyond); -1: filled.
int64_t BorderIndex(int64_t at, int64_t size, Border border);

// The bytes of one pixel, from one number for all channels or one per channel. Fails with kGraph, naming `attribute`,
// if their number or the image's dtype does not match.
absl::StatusOr<std::vector<uint8_t>> PixelOf(std::string_view attribute, absl::Span<const ir::Number> values,
                                             const Image& image);
// Repeats the pixel `count` times.
void FillRun(const std::vector<uint8_t>& pixel, int64_t count, uint8_t* target);

// A copy of the image under the window. `fill` is one number for all channels or one per channel; it must fit the
// image's dtype.
absl::StatusOr<Tensor> Windowed(const Image& image, const Window& window, Border border,
                                absl::Span<const ir::Number> fill, OutputAllocator& output);

// Margins around an image, in torchvision's notation: one number for all sides, (left and right, top and bottom), or
// (left, top, right, bottom).
struct Margins {
  int64_t left = 0;
  int64_t top = 0;
  int64_t right = 0;
  int64_t bottom = 0;

  bool Any() const { return left + top + right + bottom > 0; }
};
Margins MarginsOf(absl::Span<const int64_t> padding);

// The attributes for margins and borders, declared once.
ir::Attribute PaddingAttribute();
ir::Attribute FillAttribute();
ir::Attribute BorderAttribute();

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_IMAGE_WINDOW_H_
