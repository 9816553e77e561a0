#include "kernels/vision/codecs/whole/tiff.h"

#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

#include "core/error.h"
#include "core/stop_signal.h"
#include "kernels/vision/codecs/whole/whole_image.h"
#include "kernels/vision/image/pixel_limit.h"

namespace headrace {
namespace {

// What libtiff may take at once, as for the packed bytes of a strip.
constexpr tmsize_t kMostAtOnce = tmsize_t{1} << 30;

// The bytes as libtiff's file, and its first error.
struct Source {
  std::string_view bytes;
  toff_t at = 0;
  char error[160] = "";
};

tmsize_t ReadBytes(thandle_t handle, void* target, tmsize_t count) {
  Source& source = *static_cast<Source*>(handle);
  if (count <= 0 || source.at >= source.bytes.size()) return 0;
  const size_t given = std::min(static_cast<size_t>(count), source.bytes.size() - source.at);
  std::memcpy(target, source.bytes.data() + source.at, given);
  source.at += given;
  return static_cast<tmsize_t>(given);
}
tmsize_t WriteNothing(thandle_t, void*, tmsize_t) { return 0; }
toff_t Seek(thandle_t handle, toff_t offset, int whence) {
  Source& source = *static_cast<Source*>(handle);
  const toff_t base = whence == SEEK_CUR ? source.at : whence == SEEK_END ? source.bytes.size() : 0;
  return source.at = base + offset;
}
int Close(thandle_t) { return 0; }
toff_t SizeOf(thandle_t handle) { return static_cast<Source*>(handle)->bytes.size(); }
int Map(thandle_t handle, void** base, toff_t* size) {
  const std::string_view bytes = static_cast<Source*>(handle)->bytes;
  // It only reads there.
  *base = const_cast<char*>(bytes.data());
  *size = bytes.size();
  return 1;
}
void Unmap(thandle_t, void*, toff_t) {}

int NoteError(TIFF*, void* user, const char*, const char* format, va_list arguments) {
  Source& source = *static_cast<Source*>(user);
  if (source.error[0] == '\0') std::vsnprintf(source.error, sizeof(source.error), format, arguments);
  return 1;
}
int IgnoreWarning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

using OpenTiff = std::unique_ptr<TIFF, decltype(&TIFFClose)>;

OpenTiff Open(Source& source) {
  const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(TIFFOpenOptionsAlloc(),
                                                                                 TIFFOpenOptionsFree);
  if (options == nullptr) return {nullptr, TIFFClose};
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), kMostAtOnce);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), NoteError, &source);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), IgnoreWarning, nullptr);
  return {
      TIFFClientOpenExt("image", "r", &source, ReadBytes, WriteNothing, Seek, Close, SizeOf, Map, Unmap, options.get()),
      TIFFClose};
}

template <typename Number>
Number FieldTiff(TIFF* tiff, uint32_t tag, Number none) {
  Number number = none;
  return TIFFGetFieldDefaulted(tiff, tag, &number) != 0 ? number : none;
}

class TiffReader {
 public:
  explicit TiffReader(std::string_view bytes) : source_{bytes}, tiff_(Open(source_)) {}

  absl::StatusOr<DecodedPart> Read(const DecodeOptions& options, const ChoosePart& choose) {
    if (tiff_ == nullptr) return Failed(" (in its header)");
    HEADRACE_RETURN_IF_ERROR(ReadHeader());
    HEADRACE_RETURN_IF_ERROR(CheckPixelLimit(layout_.width, layout_.height, options.max_pixels));
    HEADRACE_RETURN_IF_ERROR(CheckBytes());
    return ReadWhole(layout_, options, choose, [this](uint8_t* pixels) { return ReadAll(pixels); });
  }

 private:
  absl::Status Failed(std::string_view where) const {
    return DataError("the TIFF is damaged or ends early", source_.error[0] != '\0' ? ": " : "", source_.error, where);
  }

  absl::Status ReadHeader() {
    TIFF* const tiff = tiff_.get();
    layout_.width = FieldTiff<uint32_t>(tiff, TIFFTAG_IMAGEWIDTH, 0);
    layout_.height = FieldTiff<uint32_t>(tiff, TIFFTAG_IMAGELENGTH, 0);
    if (layout_.width == 0 || layout_.height == 0) return Failed(" (it has no size)");
    bits_ = FieldTiff<uint16_t>(tiff, TIFFTAG_BITSPERSAMPLE, 1);
    samples_ = FieldTiff<uint16_t>(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    apart_ = FieldTiff<uint16_t>(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE;
    compression_ = FieldTiff<uint16_t>(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
    kind_ = FieldTiff<uint16_t>(tiff, TIFFTAG_PHOTOMETRIC, samples_ >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    layout_.orientation = FieldTiff<uint16_t>(tiff, TIFFTAG_ORIENTATION, 1);
    if (kind_ == PHOTOMETRIC_YCBCR && compression_ == COMPRESSION_JPEG) {
      TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
      kind_ = PHOTOMETRIC_RGB;
    }
    HEADRACE_RETURN_IF_ERROR(CheckKind());
    const int colors = kind_ == PHOTOMETRIC_RGB ? 3 : kind_ == PHOTOMETRIC_SEPARATED ? 4 : 1;
    if (samples_ < colors) return Failed(" (it has too few samples a pixel)");
    held_ = colors + (colors != 4 && kind_ != PHOTOMETRIC_PALETTE && HasAlpha(colors) ? 1 : 0);
    layout_.channels = kind_ == PHOTOMETRIC_SEPARATED ? 3 : held_;
    layout_.dtype = bits_ == 16 ? DType::kUInt16 : DType::kUInt8;
    return kind_ == PHOTOMETRIC_PALETTE ? ReadPalette() : absl::OkStatus();
  }

  absl::Status CheckKind() const {
    const bool whole_numbers =
        FieldTiff<uint16_t>(tiff_.get(), TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT) == SAMPLEFORMAT_UINT;
    const bool few = bits_ == 1 || bits_ == 2 || bits_ == 4;
    bool known = false;
    switch (kind_) {
      case PHOTOMETRIC_MINISBLACK:
      case PHOTOMETRIC_MINISWHITE:
        known = few || bits_ == 8 || bits_ == 16;
        break;
      case PHOTOMETRIC_PALETTE:
        known = few || bits_ == 8;
        break;
      case PHOTOMETRIC_RGB:
        known = bits_ == 8 || bits_ == 16;
        break;
      case PHOTOMETRIC_SEPARATED:
        known = bits_ == 8;
        break;
      default:
        break;
    }
    if (known && whole_numbers) return absl::OkStatus();
    return DataError("the TIFF has ", bits_, " bits a sample and the photometric interpretation ", kind_,
                     whole_numbers ? "" : ", not of whole numbers",
                     ", which is not read: there are grey of 1 to 8 and 16 bits, palettes of 1 to 8, RGB of 8 and 16, "
                     "CMYK of 8, and YCbCr compressed as JPEG");
  }

  bool HasAlpha(int colors) const {
    uint16_t count = 0;
    uint16_t* kinds = nullptr;
    if (samples_ <= colors || TIFFGetFieldDefaulted(tiff_.get(), TIFFTAG_EXTRASAMPLES, &count, &kinds) == 0) {
      return false;
    }
    return count > 0 && kinds != nullptr && (kinds[0] == EXTRASAMPLE_ASSOCALPHA || kinds[0] == EXTRASAMPLE_UNASSALPHA);
  }

  absl::Status ReadPalette() {
    uint16_t* colors[3] = {};
    if (TIFFGetField(tiff_.get(), TIFFTAG_COLORMAP, &colors[0], &colors[1], &colors[2]) == 0) {
      return Failed(" (it has no palette)");
    }
    for (size_t i = 0; i < size_t{1} << bits_; ++i) {
      for (size_t c = 0; c < 3; ++c) palette_.colors[i][c] = static_cast<uint8_t>(colors[c][i] >> 8);
    }
    layout_.palette = &palette_;
    return absl::OkStatus();
  }

  // Refuses what cannot be in so few bytes, before memory is allocated for it.
  absl::Status CheckBytes() const {
    if (compression_ != COMPRESSION_NONE) return absl::OkStatus();
    const int64_t bytes = (layout_.width * samples_ * bits_ + 7) / 8 * layout_.height;
    if (bytes <= static_cast<int64_t>(source_.bytes.size())) return absl::OkStatus();
    return DataError("the TIFF has ", source_.bytes.size(), " bytes, which cannot hold its ", layout_.width, " × ",
                     layout_.height, " pixels: they take ", bytes);
  }

  absl::Status ReadAll(uint8_t* pixels) {
    if (kind_ != PHOTOMETRIC_SEPARATED) return ReadSamples(pixels);
    const int64_t count = layout_.height * layout_.width;
    OutputAllocator intermediate;
    HEADRACE_ASSIGN_OR_RETURN(Tensor inks, intermediate.Allocate(DType::kUInt8, {count, 4}));
    uint8_t* const cmyk = inks.mutable_raw();
    HEADRACE_RETURN_IF_ERROR(ReadSamples(cmyk));
    // The formula takes what a JPEG of Adobe's holds.
    for (int64_t i = 0; i < 4 * count; ++i) cmyk[i] = static_cast<uint8_t>(255 - cmyk[i]);
    InvertedCmykToRgbRow(cmyk, count, pixels);
    return absl::OkStatus();
  }

  absl::Status ReadSamples(uint8_t* pixels) {
    const int planes = apart_ ? held_ : 1;
    for (int plane = 0; plane < planes; ++plane) {
      HEADRACE_RETURN_IF_ERROR(TIFFIsTiled(tiff_.get()) != 0 ? ReadTiles(plane, pixels) : ReadStrips(plane, pixels));
    }
    return absl::OkStatus();
  }

  // Whether the file's pixels are those that are kept, byte for byte.
  bool HoldsPixels() const { return !apart_ && samples_ == held_ && bits_ >= 8 && kind_ != PHOTOMETRIC_MINISWHITE; }

  // Into their place. Libtiff unpacks whole strips faster than their rows.
  absl::Status ReadWholeStrips(uint8_t* pixels) {
    TIFF* const tiff = tiff_.get();
    const int64_t row_bytes = layout_.width * PixelBytes();
    const int64_t rows = std::min<int64_t>(FieldTiff<uint32_t>(tiff, TIFFTAG_ROWSPERSTRIP, 0), layout_.height);
    if (rows == 0 || TIFFScanlineSize(tiff) != row_bytes) return Failed(" (its strips have no rows)");
    uint32_t strip = 0;
    for (int64_t y = 0; y < layout_.height; y += rows, ++strip) {
      if (StopSignal::Raised()) return StopSignal::Error();
      const tmsize_t bytes = std::min(rows, layout_.height - y) * row_bytes;
      if (TIFFReadEncodedStrip(tiff, strip, pixels + y * row_bytes, bytes) != bytes) return Failed("");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Tensor> Allocate(tmsize_t bytes) const {
    if (bytes <= 0 || bytes > kMostAtOnce) return Failed(" (its strips or tiles are too large)");
    OutputAllocator intermediate;
    return intermediate.Allocate(DType::kUInt8, {bytes});
  }

  absl::Status ReadStrips(int plane, uint8_t* pixels) {
    if (HoldsPixels()) return ReadWholeStrips(pixels);
    TIFF* const tiff = tiff_.get();
    const tmsize_t bytes = TIFFScanlineSize(tiff);
    HEADRACE_ASSIGN_OR_RETURN(Tensor row, Allocate(bytes));
    if (bytes < PackedBytes(layout_.width)) return Failed(" (its rows are too short)");
    for (int64_t y = 0; y < layout_.height; ++y) {
      if (StopSignal::Raised()) return StopSignal::Error();
      if (TIFFReadScanline(tiff, row.mutable_raw(), static_cast<uint32_t>(y), static_cast<uint16_t>(plane)) < 0) {
        return Failed("");
      }
      Scatter(row.raw(), layout_.width, plane, pixels + y * layout_.width * PixelBytes());
    }
    return absl::OkStatus();
  }

  absl::Status ReadTiles(int plane, uint8_t* pixels) {
    TIFF* const tiff = tiff_.get();
    const int64_t width = FieldTiff<uint32_t>(tiff, TIFFTAG_TILEWIDTH, 0);
    const int64_t height = FieldTiff<uint32_t>(tiff, TIFFTAG_TILELENGTH, 0);
    const tmsize_t bytes = TIFFTileSize(tiff);
    const tmsize_t row_bytes = TIFFTileRowSize(tiff);
    HEADRACE_ASSIGN_OR_RETURN(Tensor tile, Allocate(bytes));
    if (width == 0 || height == 0 || row_bytes < PackedBytes(width) || row_bytes > bytes / height) {
      return Failed(" (its tiles are too small)");
    }
    for (int64_t top = 0; top < layout_.height; top += height) {
      for (int64_t left = 0; left < layout_.width; left += width) {
        if (StopSignal::Raised()) return StopSignal::Error();
        if (TIFFReadTile(tiff, tile.mutable_raw(), static_cast<uint32_t>(left), static_cast<uint32_t>(top), 0,
                         static_cast<uint16_t>(plane)) < 0) {
          return Failed("");
        }
        const int64_t rows = std::min(height, layout_.height - top);
        for (int64_t y = 0; y < rows; ++y) {
          Scatter(tile.raw() + y * row_bytes, std::min(width, layout_.width - left), plane,
                  pixels + ((top + y) * layout_.width + left) * PixelBytes());
        }
      }
    }
    return absl::OkStatus();
  }

  int64_t PixelBytes() const { return held_ * (bits_ == 16 ? 2 : 1); }
  int64_t PackedBytes(int64_t width) const { return (width * (apart_ ? 1 : samples_) * bits_ + 7) / 8; }

  // Unpacks the samples of `count` pixels, which have all samples or those of one plane.
  void Scatter(const uint8_t* packed, int64_t count, int plane, uint8_t* to) const {
    if (HoldsPixels()) {
      std::memcpy(to, packed, static_cast<size_t>(count * PixelBytes()));
      return;
    }
    const int taken = apart_ ? 1 : held_;
    const int step = apart_ ? 1 : samples_;
    for (int64_t x = 0; x < count; ++x) {
      for (int c = 0; c < taken; ++c) {
        const int64_t at = x * step + c;
        const int64_t into = x * held_ + (apart_ ? plane : c);
        if (bits_ == 16) {
          uint16_t word;
          std::memcpy(&word, packed + 2 * at, sizeof(word));
          if (kind_ == PHOTOMETRIC_MINISWHITE && into % held_ == 0) word = static_cast<uint16_t>(0xffff - word);
          std::memcpy(to + 2 * into, &word, sizeof(word));
        } else {
          to[into] = Sample(packed, at, into % held_ == 0);
        }
      }
    }
  }

  uint8_t Sample(const uint8_t* packed, int64_t at, bool first) const {
    const int most = (1 << bits_) - 1;
    const int64_t bit = at * bits_;
    int value = packed[bit / 8] >> (8 - bits_ - static_cast<int>(bit % 8)) & most;
    if (kind_ == PHOTOMETRIC_PALETTE) return static_cast<uint8_t>(value);
    if (kind_ == PHOTOMETRIC_MINISWHITE && first) value = most - value;
    return static_cast<uint8_t>(value * 255 / most);
  }

  Source source_;
  const OpenTiff tiff_;
  ImageLayout layout_;
  Palette palette_;
  uint16_t bits_ = 0;     // of a sample
  uint16_t samples_ = 0;  // of a pixel in the file
  uint16_t compression_ = 0;
  uint16_t kind_ = 0;   // the photometric interpretation
  bool apart_ = false;  // each sample in a plane of its own
  int held_ = 0;        // samples of a pixel that are kept
};

}  // namespace

bool LooksLikeTiff(std::string_view bytes) {
  for (const std::string_view begin : {std::string_view("II*\0", 4), std::string_view("MM\0*", 4),
                                       std::string_view("II+\0", 4), std::string_view("MM\0+", 4)}) {
    if (bytes.starts_with(begin)) return true;
  }
  return false;
}

absl::StatusOr<DecodedPart> DecodeTiff(std::string_view bytes, const DecodeOptions& options, const ChoosePart& choose) {
  TiffReader reader(bytes);
  return reader.Read(options, choose);
}

}  // namespace headrace
