#include "kernels/vision/split_channels.h"

#include "kernels/cpu_target.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace headrace {
namespace {

// One row of three channels into three planes: shuffles of whole vectors.
template <typename T>
constexpr auto kSplitThree = [](const T* __restrict source, int64_t width, T* __restrict first, T* __restrict second,
                                T* __restrict third) HEADRACE_LOOP {
  for (int64_t x = 0; x < width; ++x) {
    first[x] = source[3 * x];
    second[x] = source[3 * x + 1];
    third[x] = source[3 * x + 2];
  }
};

template <typename T>
void Split(const uint8_t* row, int64_t width, int64_t channels, int64_t plane_bytes, uint8_t* target) {
  const T* source = reinterpret_cast<const T*>(row);
  const auto plane = [&](int64_t c) { return reinterpret_cast<T*>(target + c * plane_bytes); };
  if (channels == 3) {
    RunOnCpu(kSplitThree<T>, source, width, plane(0), plane(1), plane(2));
    return;
  }
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t x = 0; x < width; ++x) plane(c)[x] = source[x * channels + c];
  }
}

#if defined(__x86_64__)
// Sixteen pixels of three bytes at once: each plane gathers its bytes from the three vectors they lie in.
HEADRACE_AVX2 int64_t SplitThreeBytes(const uint8_t* source, int64_t width, uint8_t* first, uint8_t* second,
                                      uint8_t* third) {
  constexpr char kNone = -1;
  const __m128i from_a[3] = {
      _mm_setr_epi8(0, 3, 6, 9, 12, 15, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone),
      _mm_setr_epi8(1, 4, 7, 10, 13, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone),
      _mm_setr_epi8(2, 5, 8, 11, 14, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone)};
  const __m128i from_b[3] = {
      _mm_setr_epi8(kNone, kNone, kNone, kNone, kNone, kNone, 2, 5, 8, 11, 14, kNone, kNone, kNone, kNone, kNone),
      _mm_setr_epi8(kNone, kNone, kNone, kNone, kNone, 0, 3, 6, 9, 12, 15, kNone, kNone, kNone, kNone, kNone),
      _mm_setr_epi8(kNone, kNone, kNone, kNone, kNone, 1, 4, 7, 10, 13, kNone, kNone, kNone, kNone, kNone, kNone)};
  const __m128i from_c[3] = {
      _mm_setr_epi8(kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, 1, 4, 7, 10, 13),
      _mm_setr_epi8(kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, 2, 5, 8, 11, 14),
      _mm_setr_epi8(kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, 0, 3, 6, 9, 12, 15)};
  uint8_t* const planes[3] = {first, second, third};
  int64_t x = 0;
  for (; x + 16 <= width; x += 16, source += 48) {
    const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source));
    const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + 16));
    const __m128i c = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + 32));
    for (int i = 0; i < 3; ++i) {
      const __m128i bytes = _mm_or_si128(_mm_or_si128(_mm_shuffle_epi8(a, from_a[i]), _mm_shuffle_epi8(b, from_b[i])),
                                         _mm_shuffle_epi8(c, from_c[i]));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(planes[i] + x), bytes);
    }
  }
  return x;
}
#endif

}  // namespace

void SplitChannels(const uint8_t* row, int64_t width, int64_t channels, int64_t item, int64_t plane_bytes,
                   uint8_t* target) {
#if defined(__x86_64__)
  if (item == 1 && channels == 3 && HasAvx2()) {
    const int64_t done = SplitThreeBytes(row, width, target, target + plane_bytes, target + 2 * plane_bytes);
    row += done * 3;
    target += done;
    width -= done;
  }
#endif
  switch (item) {
    case 1:
      return Split<uint8_t>(row, width, channels, plane_bytes, target);
    case 2:
      return Split<uint16_t>(row, width, channels, plane_bytes, target);
    case 4:
      return Split<uint32_t>(row, width, channels, plane_bytes, target);
    default:
      return Split<uint64_t>(row, width, channels, plane_bytes, target);
  }
}

}  // namespace headrace
