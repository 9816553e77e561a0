// `FindPlainJpeg` tells which JPEGs a decoder other than libjpeg is given: those of common kinds, whose markers fit
// together from the first to the last, so that no part is missing. It decides by the bytes alone, without decoding, so
// that it is the same everywhere.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_JPEG_PLAIN_JPEG_H_
#define HEADRACE_KERNELS_VISION_CODECS_JPEG_PLAIN_JPEG_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace headrace {

struct PlainJpeg {
  std::string_view bytes;  // up to the end marker
  int64_t height = 0;
  int64_t width = 0;
  int components = 0;  // 1: luma, 3: luma and two chromas

  int64_t pixels() const { return height * width; }
};

// Nullopt: another kind, or damaged. Plain are JPEGs of 8 bits with Huffman codes, of at most kMostPlainPixels:
// - sequential in one scan, or progressive with every bit of every coefficient, in at most 15 scans;
// - grey, or YCbCr sampled 4:4:4, 4:2:2, 4:2:0, 4:4:0, 4:1:1 or 4:1:0; nothing in the file says RGB;
// - with the tables that each scan uses before it, with the restart markers that the header announces, in their order,
//   and without bytes between segments.
std::optional<PlainJpeg> FindPlainJpeg(std::string_view bytes);

inline constexpr int64_t kMostPlainPixels = int64_t{1} << 26;

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_JPEG_PLAIN_JPEG_H_
