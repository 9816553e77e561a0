// `Image` is an image for the vision kernels: (height, width, channels), or (height, width) for a mask without
// channels. The pixels of a row are contiguous; rows may be any distance apart, so a crop is a view.
// Threads: plain values; safe to read from any thread.
#ifndef HEADRACE_KERNELS_VISION_IMAGE_IMAGE_H_
#define HEADRACE_KERNELS_VISION_IMAGE_IMAGE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "core/output_allocator.h"
#include "core/tensor.h"
#include "ir/type.h"

namespace headrace {

// The pixel types that a kernel supports.
enum class PixelTypes {
  kByteOrFloat,      // uint8 and float32: kernels that compute with values
  kByteWordOrFloat,  // uint8, uint16 and float32
  kFixedSize,  // every type of fixed size: kernels that only move pixels, so that they also take masks of any type
};

struct Image {
  Tensor tensor;  // keeps the pixels alive; describes the uncropped image
  const uint8_t* pixels = nullptr;
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;
  int64_t row_stride = 0;  // bytes

  DType dtype() const { return tensor.dtype(); }
  int64_t pixel_bytes() const { return channels * static_cast<int64_t>(ItemSize(tensor.dtype())); }
  const uint8_t* row(int64_t y) const { return pixels + y * row_stride; }
};

// kGraph, naming dtype and shape, if the tensor is not an image with pixels.
absl::Status CheckImage(const Tensor& tensor, PixelTypes accepted);

// Copies only if the pixels of a row are not contiguous. Fails as CheckImage.
absl::StatusOr<Image> ImageOf(const Tensor& tensor, PixelTypes accepted);

// The rectangle, which must be inside.
Image Cropped(const Image& image, int64_t top, int64_t left, int64_t height, int64_t width);

// Uninitialised, with the image's dtype and channels (and rank).
absl::StatusOr<Tensor> AllocateLike(const Image& image, int64_t height, int64_t width, OutputAllocator& output);

// The type of an image before any row is known: fails if no row of this type can be an image.
absl::StatusOr<ir::ColumnType> ImageTypeOf(const ir::ColumnType& type, PixelTypes accepted);

// Whether every row of the type is an image, with pixels, of the declared height and width.
bool AlwaysAnImage(const ir::ColumnType& type, PixelTypes accepted);

// `type` with another height and width.
ir::ColumnType WithSize(ir::ColumnType type, int64_t height, int64_t width);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_IMAGE_IMAGE_H_
