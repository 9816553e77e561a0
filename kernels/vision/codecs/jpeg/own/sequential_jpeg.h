// `SequentialJpeg` is what the markers of a JPEG say that `CropDecoder` decodes: one scan of all components, baseline
// or extended sequential (ITU-T T.81), Huffman codes, 8 bits, grey or YCbCr. Threads: plain values; pure functions.
#ifndef HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_SEQUENTIAL_JPEG_H_
#define HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_SEQUENTIAL_JPEG_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/vision/codecs/jpeg/own/marker_reader.h"

namespace headrace::jpeg {

inline constexpr int kBlockSize = 8;

// The place in a block, row by row, of each coefficient as the data order them.
inline constexpr std::array<uint8_t, kCoefficients> kZigzag = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

// A Huffman code as the file has it: how many codes have 1 … 16 bits, and their symbols from the shortest on.
struct HuffmanCode {
  std::array<uint8_t, 16> counts = {};
  std::array<uint8_t, 256> symbols = {};
  bool defined = false;

  int size() const;
  friend bool operator==(const HuffmanCode&, const HuffmanCode&) = default;
};

struct JpegComponent {
  int horizontal = 1;  // sampling factors
  int vertical = 1;
  int quantization = 0;  // indices of tables
  int means = 0;
  int others = 0;
  int64_t width = 0;  // samples
  int64_t height = 0;
};

struct SequentialJpeg {
  std::string_view bytes;
  int64_t height = 0;
  int64_t width = 0;
  int count = 0;  // of components: 1: grey, 3: YCbCr
  std::array<JpegComponent, 3> components;
  int max_horizontal = 1;
  int max_vertical = 1;
  std::array<std::array<int16_t, kCoefficients>, kTables> quantization = {};  // by the place in a block
  std::array<HuffmanCode, kTables> means;                                     // of mean values
  std::array<HuffmanCode, kTables> others;                                    // of other coefficients
  int interval = 0;                                                           // MCUs between restart markers; 0: none
  size_t data = 0;                                                            // where the entropy-coded data begin
  int orientation = 1;                                                        // as EXIF has it

  int64_t mcus_per_row() const { return (width + kBlockSize * max_horizontal - 1) / (kBlockSize * max_horizontal); }
  int64_t mcu_rows() const { return (height + kBlockSize * max_vertical - 1) / (kBlockSize * max_vertical); }
  // Without those that only pad the last row and column of MCUs.
  int64_t blocks() const;
  // Whether an end marker stands somewhere after the beginning of the data.
  bool HasEndMarker() const;
};

// Nullopt: a JPEG of another kind, or one whose markers libjpeg would complain about: it decodes it, or says why not.
std::optional<SequentialJpeg> FindSequentialJpeg(std::string_view bytes);

}  // namespace headrace::jpeg

#endif  // HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_SEQUENTIAL_JPEG_H_
