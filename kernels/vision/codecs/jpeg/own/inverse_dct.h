// `InverseDct` turns blocks of coefficients into samples, as libjpeg-turbo's accurate integer transform does on x86: 16
// bits where that has 16, saturated where that saturates, so that the samples of damaged data are the same, too.
// `ReducedInverseDct` gives fewer samples of each block, as libjpeg-turbo does where it scales an image down.
// Threads: safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_INVERSE_DCT_H_
#define HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_INVERSE_DCT_H_

#include <cstddef>
#include <cstdint>

namespace headrace::jpeg {

// Blocks that are transformed at a time, at most.
inline constexpr int64_t kMostBlocksAtOnce = 4;

// `blocks` neighbours of a row, each of 64 coefficients that are multiplied by `quantization`. Sample (y, x) of block b
// goes to samples[y * row_bytes + 8 * b + x]. Coefficients and samples of kMostBlocksAtOnce - 1 more blocks are read
// and written.
void InverseDct(const int16_t* coefficients, int64_t blocks, const int16_t* quantization, uint8_t* samples,
                ptrdiff_t row_bytes);

// The same with `side` × `side` samples for each block, of which `side` is 1, 2 or 4: sample (y, x) of block b goes to
// samples[y * row_bytes + side * b + x].
void ReducedInverseDct(const int16_t* coefficients, int64_t blocks, const int16_t* quantization, int side,
                       uint8_t* samples, ptrdiff_t row_bytes);

}  // namespace headrace::jpeg

#endif  // HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_INVERSE_DCT_H_
