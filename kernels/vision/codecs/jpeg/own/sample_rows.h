// `WidenRow`, `BlendRows` and `YccToRgb` make pixels of samples as libjpeg-turbo does: smooth upsampling by two
// (triangle filters) across and down, and the colours of JFIF.
// Threads: safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_SAMPLE_ROWS_H_
#define HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_SAMPLE_ROWS_H_

#include <cstdint>

namespace headrace::jpeg {

// Samples that may be read after a row's end, and results that may be written there.
inline constexpr int64_t kRowSlack = 64;

// Two results for each of `count` samples, which have a neighbour on each side. `far` is the row whose share is a
// quarter, or null: the row has as many rows as the image. `sums` holds count + 2 + kRowSlack values meanwhile.
void WidenRow(const uint8_t* near, const uint8_t* far, int64_t count, int16_t* sums, uint8_t* to);

// One result for each sample, of a row above or below that of the image.
void BlendRows(const uint8_t* near, const uint8_t* far, bool far_is_above, int64_t count, uint8_t* to);

// `rgb` gets `count` pixels and nothing after them.
void YccToRgb(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, int64_t count, uint8_t* rgb);

}  // namespace headrace::jpeg

#endif  // HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_SAMPLE_ROWS_H_
