// `TiffSamples` unpacks the samples of a TIFF's rows, which may have any number of bits.
// Threads: plain values; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_WHOLE_TIFF_SAMPLES_H_
#define HEADRACE_KERNELS_VISION_CODECS_WHOLE_TIFF_SAMPLES_H_

#include <cstdint>

namespace headrace {

// How a row of the file becomes pixels. Numbers of 16 bits and more are in the machine's byte order already.
struct TiffSamples {
  int bits = 0;             // of a sample
  int in_row = 0;           // samples of a pixel in a row of the file; 1 if each sample has a plane of its own
  int taken = 0;            // of which so many, the first, are kept
  int held = 0;             // samples of a pixel in the result, of `bytes()` each
  bool white_is_0 = false;  // the first sample, of at most 16 bits, is turned round
  bool scaled = true;       // to all bits of the result

  int bytes() const { return bits <= 8 ? 1 : bits <= 16 ? 2 : bits / 8; }
  int64_t PackedBytes(int64_t pixels) const { return (pixels * in_row * bits + 7) / 8; }
  // Whether a row of the file is a row of the result, byte for byte.
  bool AreCopied() const { return bits >= 8 && bits % 8 == 0 && in_row == held && taken == held && !white_is_0; }

  // Unpacks a row, or one that holds `plane` alone, which is the sample of this number.
  void Unpack(const uint8_t* packed, int64_t pixels, int plane, uint8_t* to) const;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_WHOLE_TIFF_SAMPLES_H_
