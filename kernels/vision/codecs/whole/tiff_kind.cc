#include "kernels/vision/codecs/whole/tiff_kind.h"

#include <limits>

#include "core/error.h"

namespace headrace {
namespace {

// What libtiff's own readers take where the file does not say it.
uint16_t UsualPhotometric(const TiffKind& kind) {
  if (kind.samples >= 3) return PHOTOMETRIC_RGB;
  return kind.is_fax() ? PHOTOMETRIC_MINISWHITE : PHOTOMETRIC_MINISBLACK;
}

DType TypeOfSamples(int format, int bits) {
  switch (format) {
    case SAMPLEFORMAT_UINT:
    case SAMPLEFORMAT_VOID:
      if (bits <= 16) return bits <= 8 ? DType::kUInt8 : DType::kUInt16;
      return bits == 32 ? DType::kUInt32 : bits == 64 ? DType::kUInt64 : DType::kUnknown;
    case SAMPLEFORMAT_INT:
      if (bits == 8) return DType::kInt8;
      if (bits == 16) return DType::kInt16;
      return bits == 32 ? DType::kInt32 : bits == 64 ? DType::kInt64 : DType::kUnknown;
    case SAMPLEFORMAT_IEEEFP:
      if (bits == 16) return DType::kFloat16;
      return bits == 32 ? DType::kFloat32 : bits == 64 ? DType::kFloat64 : DType::kUnknown;
    default:
      return DType::kUnknown;
  }
}

bool IsRead(const TiffKind& kind) {
  switch (kind.photometric) {
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_RGB:
      return true;
    case PHOTOMETRIC_PALETTE:
      return kind.dtype == DType::kUInt8;
    case PHOTOMETRIC_SEPARATED:
      return kind.has_range() && (kind.bits == 8 || kind.bits == 16);
    case PHOTOMETRIC_YCBCR:
    case PHOTOMETRIC_CIELAB:
      return kind.dtype == DType::kUInt8 && kind.bits == 8;
    default:
      return false;
  }
}

TiffAlpha AlphaOf(const TiffFile& file, const TiffKind& kind) {
  uint16_t count = 0;
  uint16_t* kinds = nullptr;
  if (kind.samples <= kind.colors || kind.is_palette() || kind.is_inks() || kind.is_lab() ||
      file.library().GetFieldDefaulted(file.get(), TIFFTAG_EXTRASAMPLES, &count, &kinds) == 0 || count == 0 ||
      kinds == nullptr) {
    return TiffAlpha::kNone;
  }
  if (kinds[0] == EXTRASAMPLE_ASSOCALPHA) return TiffAlpha::kMultiplied;
  return kinds[0] == EXTRASAMPLE_UNASSALPHA ? TiffAlpha::kPlain : TiffAlpha::kNone;
}

absl::Status NotRead(const TiffKind& kind, int format) {
  return DataError("the TIFF has ", kind.bits, " bits a sample of the format ", format,
                   " and the photometric interpretation ", kind.photometric,
                   ", which is not read: there are grey and RGB of 1 to 16 bits, of signed numbers, floats and 32 and "
                   "64 bits, palettes of 1 to 8, CMYK of 8 and 16, YCbCr and L*a*b* of 8");
}

// What only some modes can give.
absl::Status CheckMode(const TiffKind& kind, PixelMode mode) {
  if (mode == PixelMode::kUnchanged) return absl::OkStatus();
  const int alpha = kind.alpha == TiffAlpha::kNone ? 0 : 1;
  if (kind.is_grey() && kind.samples > 1 + alpha) {
    return DataError("the TIFF has ", kind.samples,
                     " bands of grey, which are not colours: Decode(mode=\"unchanged\") ", "gives all of them");
  }
  if (kind.has_range()) return absl::OkStatus();
  if (mode != PixelMode::kAnyDepth) {
    return DataError("the TIFF has samples of ", DTypeName(kind.dtype),
                     ", which have no range that could become 0 … 255: Decode(mode=\"unchanged\") gives them as they "
                     "are");
  }
  if (alpha == 0 || (!kind.is_grey() && kind.alpha == TiffAlpha::kPlain)) return absl::OkStatus();
  return DataError("the TIFF has samples of ", DTypeName(kind.dtype),
                   " and alpha: Decode(mode=\"unchanged\") gives them as they are");
}

}  // namespace

bool TiffKind::is_grey() const {
  return photometric == PHOTOMETRIC_MINISBLACK || photometric == PHOTOMETRIC_MINISWHITE;
}
bool TiffKind::is_fax() const {
  return compression == COMPRESSION_CCITTRLE || compression == COMPRESSION_CCITTRLEW ||
         compression == COMPRESSION_CCITTFAX3 || compression == COMPRESSION_CCITTFAX4;
}
bool TiffKind::is_palette() const { return photometric == PHOTOMETRIC_PALETTE; }
bool TiffKind::is_inks() const { return photometric == PHOTOMETRIC_SEPARATED; }
bool TiffKind::is_lab() const { return photometric == PHOTOMETRIC_CIELAB; }
bool TiffKind::is_luma_and_chroma() const {
  return photometric == PHOTOMETRIC_YCBCR && (compression != COMPRESSION_JPEG || apart);
}

absl::StatusOr<TiffKind> KindOfTiff(const TiffFile& file, PixelMode mode) {
  TiffKind kind;
  kind.width = file.Field<uint32_t>(TIFFTAG_IMAGEWIDTH, 0);
  kind.height = file.Field<uint32_t>(TIFFTAG_IMAGELENGTH, 0);
  if (kind.width == 0 || kind.height == 0) return file.Failed(" (it has no size)");
  constexpr int64_t kLongestSide = std::numeric_limits<int32_t>::max();
  if (kind.width > kLongestSide || kind.height > kLongestSide) {
    return DataError("the TIFF is damaged: its header says ", kind.width, " × ", kind.height, " pixels");
  }
  kind.bits = file.Field<uint16_t>(TIFFTAG_BITSPERSAMPLE, 1);
  kind.samples = file.Field<uint16_t>(TIFFTAG_SAMPLESPERPIXEL, 1);
  kind.apart = file.Field<uint16_t>(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE;
  kind.compression = file.Field<uint16_t>(TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  // Wheels hold no decoder of JBIG, because Debian's is under the GPL: no build decodes it, so that all give the same.
  if (kind.compression == COMPRESSION_JBIG) {
    return DataError("the TIFF is compressed by JBIG, which is not decoded: save it with another compression, such as ",
                     "CCITT Group 4");
  }
  kind.photometric = file.Field<uint16_t>(TIFFTAG_PHOTOMETRIC, UsualPhotometric(kind));
  kind.orientation = file.Field<uint16_t>(TIFFTAG_ORIENTATION, 1);
  const int format = file.Field<uint16_t>(TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  kind.dtype = TypeOfSamples(format, kind.bits);
  if (kind.bits == 0 || kind.dtype == DType::kUnknown || !IsRead(kind)) return NotRead(kind, format);
  kind.colors = kind.is_grey() || kind.is_palette() ? 1 : kind.is_inks() ? 4 : 3;
  if (kind.samples < kind.colors) return file.Failed(" (it has too few samples a pixel)");
  kind.alpha = AlphaOf(file, kind);
  HEADRACE_RETURN_IF_ERROR(CheckMode(kind, mode));
  return kind;
}

}  // namespace headrace
