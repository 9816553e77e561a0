#include "kernels/vision/flip.h"

#include <cstring>

#include "core/error.h"
#include "kernels/cpu_target.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace headrace {
namespace {

// Reverses pixels of kBytes bytes; 0: any number.
template <int kBytes>
void ReverseEach(const uint8_t* source, int64_t width, int64_t pixel_bytes, uint8_t* target) {
  if constexpr (kBytes > 0) pixel_bytes = kBytes;
  const uint8_t* pixel = source + (width - 1) * pixel_bytes;
  for (int64_t x = 0; x < width; ++x, pixel -= pixel_bytes, target += pixel_bytes) {
    std::memcpy(target, pixel, pixel_bytes);
  }
}

#if defined(__x86_64__)
// Pixels of 3 bytes, five at once: each load begins a byte early and each store ends a byte late, which the next
// one mends, so the last few pixels go one by one.
HEADRACE_AVX2 void ReverseRowOf3(const uint8_t* source, int64_t width, uint8_t* target) {
  const __m128i order = _mm_setr_epi8(13, 14, 15, 10, 11, 12, 7, 8, 9, 4, 5, 6, 1, 2, 3, 0);
  int64_t x = 0;
  for (; x + 6 <= width; x += 5) {
    const __m128i five = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + (width - x - 5) * 3 - 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(target + x * 3), _mm_shuffle_epi8(five, order));
  }
  ReverseEach<3>(source, width - x, 3, target + x * 3);
}
#endif

}  // namespace

void ReverseRow(const uint8_t* source, int64_t width, int64_t pixel_bytes, uint8_t* target) {
#if defined(__x86_64__)
  if (pixel_bytes == 3 && HasAvx2()) return ReverseRowOf3(source, width, target);
#endif
  switch (pixel_bytes) {
    case 1:
      return ReverseEach<1>(source, width, 1, target);
    case 3:
      return ReverseEach<3>(source, width, 3, target);
    case 4:
      return ReverseEach<4>(source, width, 4, target);
    case 12:
      return ReverseEach<12>(source, width, 12, target);
    default:
      return ReverseEach<0>(source, width, pixel_bytes, target);
  }
}

absl::StatusOr<Tensor> FlippedLeftRight(const Image& image) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor output, AllocateLike(image, image.height, image.width));
  const int64_t row_bytes = image.width * image.pixel_bytes();
  for (int64_t y = 0; y < image.height; ++y) {
    ReverseRow(image.row(y), image.width, image.pixel_bytes(), output.mutable_raw() + y * row_bytes);
  }
  return output;
}

absl::StatusOr<Tensor> FlippedTopBottom(const Image& image) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor output, AllocateLike(image, image.height, image.width));
  const int64_t row_bytes = image.width * image.pixel_bytes();
  for (int64_t y = 0; y < image.height; ++y) {
    std::memcpy(output.mutable_raw() + y * row_bytes, image.row(image.height - 1 - y), row_bytes);
  }
  return output;
}

}  // namespace headrace
