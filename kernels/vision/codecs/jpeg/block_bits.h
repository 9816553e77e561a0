// `FewestBits` bounds an image by its bytes before memory is allocated for it, whoever decodes it.
// Threads: pure functions.
#ifndef HEADRACE_KERNELS_VISION_CODECS_JPEG_BLOCK_BITS_H_
#define HEADRACE_KERNELS_VISION_CODECS_JPEG_BLOCK_BITS_H_

#include <cstddef>
#include <cstdint>

namespace headrace {

// A block takes a Huffman code for its mean, and another if its other coefficients are in the same scan, as they are
// but in a progressive image; a code has at least one bit.
constexpr int64_t FewestBits(int64_t blocks, bool progressive) { return blocks * (progressive ? 1 : 2); }

constexpr bool HoldsBits(size_t bytes, int64_t bits) { return bits <= static_cast<int64_t>(bytes) * 8; }

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_JPEG_BLOCK_BITS_H_
