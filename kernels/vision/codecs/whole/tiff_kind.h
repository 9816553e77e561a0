// `TiffKind` says what the samples of a TIFF's first image mean, from its tags.
// Threads: plain values; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_WHOLE_TIFF_KIND_H_
#define HEADRACE_KERNELS_VISION_CODECS_WHOLE_TIFF_KIND_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "core/dtype.h"
#include "kernels/vision/codecs/whole/tiff_file.h"
#include "kernels/vision/image/pixel_mode.h"

namespace headrace {

enum class TiffAlpha { kNone, kPlain, kMultiplied };

struct TiffKind {
  int64_t width = 0;
  int64_t height = 0;
  int bits = 0;     // of a sample
  int samples = 0;  // of a pixel
  int colors = 0;   // of these samples, the first; 1 for grey and palettes
  int photometric = 0;
  int compression = 0;
  int orientation = 1;
  bool apart = false;  // each sample has a plane of its own
  TiffAlpha alpha = TiffAlpha::kNone;
  DType dtype = DType::kUInt8;  // that holds a sample

  bool is_grey() const;
  bool is_palette() const;
  bool is_fax() const;
  bool is_inks() const;  // cyan, magenta, yellow and black
  bool is_lab() const;
  // libtiff must convert the colours: YCbCr that libjpeg does not convert.
  bool is_luma_and_chroma() const;
  // Whether the samples are whole numbers from 0 of at most 16 bits, so that they can become 0 … 255.
  bool has_range() const { return dtype == DType::kUInt8 || dtype == DType::kUInt16; }
};

// kData if there is no such image, it is of a kind that is not read, or not in this mode.
absl::StatusOr<TiffKind> KindOfTiff(const TiffFile& file, PixelMode mode);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_WHOLE_TIFF_KIND_H_
