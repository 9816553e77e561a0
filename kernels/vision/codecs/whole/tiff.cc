#include "kernels/vision/codecs/whole/tiff.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include "core/error.h"
#include "core/stop_signal.h"
#include "kernels/vision/codecs/whole/tiff_chunks.h"
#include "kernels/vision/codecs/whole/tiff_file.h"
#include "kernels/vision/codecs/whole/tiff_kind.h"
#include "kernels/vision/codecs/whole/tiff_library.h"
#include "kernels/vision/codecs/whole/tiff_samples.h"
#include "kernels/vision/codecs/whole/whole_image.h"
#include "kernels/vision/image/pixel_limit.h"

namespace headrace {
namespace {

// The longest row, strip or tile.
constexpr int64_t kMostAtOnce = int64_t{1} << 30;
// Bytes of a pixel that count as one: four samples of 16 bits. More count as further pixels.
constexpr int64_t kBytesOfPixel = 8;
// Tiles reach beyond the right and lower edge of an image: by less than its own width and height, where they are no
// larger than it, or else within so many pixels.
constexpr double kTilesToPixels = 4;
constexpr double kSmallTiles = 1 << 20;
// A tile of more pixels than this has at most four times those of the image, as all of it is held.
constexpr double kUsualTile = 1 << 22;
// Packed strips of more bytes are unpacked row by row: libtiff unpacks a whole one in one go.
constexpr int64_t kMostInOneGo = int64_t{32} << 20;
// Bytes that any file may unpack to, besides a multiple of its own.
constexpr int64_t kUnpackedAnyway = int64_t{1} << 16;

class TiffReader {
 public:
  TiffReader(const TiffLibrary& library, std::string_view bytes, const DecodeOptions& options)
      : file_(library, bytes), options_(options) {}

  absl::StatusOr<DecodedPart> Read(const ChoosePart& choose) {
    if (!file_.is_open()) return file_.Failed(" (in its header)");
    HEADRACE_ASSIGN_OR_RETURN(kind_, KindOfTiff(file_, options_.mode));
    HEADRACE_RETURN_IF_ERROR(Prepare());
    HEADRACE_RETURN_IF_ERROR(CheckPixelLimit(kind_.width, kind_.height, options_.max_pixels));
    HEADRACE_RETURN_IF_ERROR(CheckWork());
    HEADRACE_RETURN_IF_ERROR(CheckBytes());
    file_.BeginPixels();
    return ReadWhole(layout_, options_, choose, [this](uint8_t* pixels) { return ReadAll(pixels); });
  }

 private:
  // Decides what is kept of the samples.
  absl::Status Prepare() {
    const bool unchanged = options_.mode == PixelMode::kUnchanged;
    converted_ = kind_.is_luma_and_chroma() || (kind_.is_lab() && !unchanged);
    if (kind_.photometric == PHOTOMETRIC_YCBCR && !converted_) {
      file_.library().SetField(file_.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    }
    const bool alpha = kind_.alpha != TiffAlpha::kNone && !converted_;
    int held = kind_.colors + (alpha ? 1 : 0);
    if (unchanged && !kind_.is_palette() && !kind_.is_inks() && !converted_) held = kind_.samples;
    samples_ = {.bits = kind_.bits,
                .in_row = kind_.apart ? 1 : kind_.samples,
                .taken = kind_.apart ? 1 : held,
                .held = held,
                .white_is_0 = kind_.photometric == PHOTOMETRIC_MINISWHITE && kind_.has_range(),
                .scaled = kind_.has_range() && !kind_.is_palette() && (kind_.bits < 8 || !unchanged)};
    layout_.height = kind_.height;
    layout_.width = kind_.width;
    layout_.channels = kind_.is_inks() ? 3 : held;
    layout_.dtype = kind_.is_inks() ? DType::kUInt8 : kind_.dtype;
    layout_.multiplied = alpha && kind_.alpha == TiffAlpha::kMultiplied && !unchanged;
    layout_.orientation = kind_.orientation;
    return kind_.is_palette() ? ReadPalette() : absl::OkStatus();
  }

  absl::Status ReadPalette() {
    uint16_t* colors[3] = {};
    if (file_.library().GetField(file_.get(), TIFFTAG_COLORMAP, &colors[0], &colors[1], &colors[2]) == 0) {
      return file_.Failed(" (it has no palette)");
    }
    for (size_t i = 0; i < size_t{1} << kind_.bits; ++i) {
      for (size_t c = 0; c < 3; ++c) palette_.colors[i][c] = static_cast<uint8_t>(colors[c][i] >> 8);
    }
    layout_.palette = &palette_;
    return absl::OkStatus();
  }

  // Samples that are left out, and what tiles hold beyond the edges, are unpacked, too: they count as pixels.
  absl::Status CheckWork() const {
    if (options_.max_pixels < 0) return absl::OkStatus();
    const int64_t read = kind_.apart ? samples_.held : kind_.samples;
    const int64_t shares = (read * kind_.bits + 8 * kBytesOfPixel - 1) / (8 * kBytesOfPixel);
    if (kind_.width * kind_.height > options_.max_pixels / shares) {
      return DataError("the TIFF has ", kind_.width, " × ", kind_.height, " pixels of ", read, " samples of ",
                       kind_.bits, " bits, each of which unpacks to the bytes of ", shares,
                       " pixels; together they are more than max_pixels = ", options_.max_pixels,
                       "; if that is meant, raise it");
    }
    if (file_.library().IsTiled(file_.get()) == 0) return absl::OkStatus();
    const auto covered = [](int64_t side, uint32_t tile) {
      return tile == 0 ? 0.0 : static_cast<double>((side + tile - 1) / tile) * tile;
    };
    const double unpacked = covered(kind_.width, TileSide(TIFFTAG_TILEWIDTH)) *
                            covered(kind_.height, TileSide(TIFFTAG_TILELENGTH)) * static_cast<double>(shares);
    const auto limit = static_cast<double>(options_.max_pixels);
    const double own = static_cast<double>(kind_.width) * static_cast<double>(kind_.height);
    const double tile = static_cast<double>(TileSide(TIFFTAG_TILEWIDTH)) * TileSide(TIFFTAG_TILELENGTH);
    if (tile * static_cast<double>(shares) > std::max(kTilesToPixels * own * static_cast<double>(shares), kUsualTile)) {
      return DataError("the TIFF has tiles of ", TileSide(TIFFTAG_TILEWIDTH), " × ", TileSide(TIFFTAG_TILELENGTH),
                       " pixels for an image of ", kind_.width, " × ", kind_.height, ": write it with smaller ones");
    }
    if (unpacked <= std::max(kTilesToPixels * limit, kSmallTiles)) return absl::OkStatus();
    return DataError("the TIFF has tiles of ", TileSide(TIFFTAG_TILEWIDTH), " × ", TileSide(TIFFTAG_TILELENGTH),
                     " pixels for an image of ", kind_.width, " × ", kind_.height,
                     ", more than four times max_pixels = ", options_.max_pixels, "; if that is meant, raise it");
  }

  // Refuses what cannot be in so few bytes, before memory is allocated for it.
  absl::Status CheckBytes() const {
    if (kind_.compression != COMPRESSION_NONE || converted_) return absl::OkStatus();
    const auto size = static_cast<int64_t>(file_.bytes().size());
    const int64_t row = (kind_.width * kind_.samples * kind_.bits + 7) / 8;
    if (row <= size / kind_.height) return absl::OkStatus();
    return DataError("the TIFF has ", size, " bytes, which cannot hold its ", kind_.width, " × ", kind_.height,
                     " pixels: they take ", row, " a row");
  }

  absl::Status ReadAll(uint8_t* pixels) {
    if (converted_) return ReadConverted(pixels);
    if (kind_.is_inks()) return ReadInks(pixels);
    HEADRACE_RETURN_IF_ERROR(ReadSamples(pixels));
    if (kind_.is_lab()) MoveLab(pixels);
    return absl::OkStatus();
  }

  absl::Status ReadInks(uint8_t* pixels) {
    const int64_t count = layout_.height * layout_.width;
    OutputAllocator intermediate;
    HEADRACE_ASSIGN_OR_RETURN(Tensor inks, intermediate.Allocate(DType::kUInt8, {count, 4 * samples_.bytes()}));
    uint8_t* const cmyk = inks.mutable_raw();
    HEADRACE_RETURN_IF_ERROR(ReadSamples(cmyk));
    const auto* const words = reinterpret_cast<const uint16_t*>(cmyk);
    // The formula takes what a JPEG of Adobe's holds. A word is read before a byte is written in its place.
    for (int64_t i = 0; i < 4 * count; ++i) {
      cmyk[i] = static_cast<uint8_t>(255 - (kind_.bits == 16 ? words[i] >> 8 : cmyk[i]));
    }
    InvertedCmykToRgbRow(cmyk, count, pixels);
    return absl::OkStatus();
  }

  // In the file a* and b* are signed.
  void MoveLab(uint8_t* pixels) const {
    const int64_t count = layout_.height * layout_.width;
    for (int64_t i = 0; i < count; ++i, pixels += samples_.held) {
      pixels[1] ^= 128;
      pixels[2] ^= 128;
    }
  }

  // By libtiff's own conversion to RGBA, some rows at a time.
  absl::Status ReadConverted(uint8_t* pixels) {
    UseZlib(file_);
    char message[1024] = "";
    TIFFRGBAImage image;
    if (file_.library().RGBAImageOK(file_.get(), message) == 0 ||
        file_.library().RGBAImageBegin(&image, file_.get(), 1, message) == 0) {
      return DataError("the TIFF is not read: ", message);
    }
    const std::unique_ptr<TIFFRGBAImage, decltype(TiffLibrary::RGBAImageEnd)> end(&image, file_.library().RGBAImageEnd);
    image.orientation = ORIENTATION_TOPLEFT;
    image.req_orientation = ORIENTATION_TOPLEFT;
    const int64_t rows = RowsAtOnce();
    if (rows == 0) return file_.Failed(" (its strips or tiles have no rows)");
    HEADRACE_ASSIGN_OR_RETURN(Tensor rgba, Allocate(4 * rows * layout_.width));
    for (int64_t y = 0; y < layout_.height; y += rows) {
      if (StopSignal::Raised()) return StopSignal::Error();
      const int64_t some = std::min(rows, layout_.height - y);
      std::memset(rgba.mutable_raw(), 0, static_cast<size_t>(4 * some * layout_.width));
      image.row_offset = static_cast<int>(y);
      const int read = file_.library().RGBAImageGet(&image, reinterpret_cast<uint32_t*>(rgba.mutable_raw()),
                                                    static_cast<uint32_t>(layout_.width), static_cast<uint32_t>(some));
      if (read == 0 || file_.lost_pixels()) return file_.Failed("");
      const auto* const packed = reinterpret_cast<const uint32_t*>(rgba.raw());
      uint8_t* to = pixels + 3 * y * layout_.width;
      for (int64_t i = 0; i < some * layout_.width; ++i, to += 3) {
        to[0] = static_cast<uint8_t>(TIFFGetR(packed[i]));
        to[1] = static_cast<uint8_t>(TIFFGetG(packed[i]));
        to[2] = static_cast<uint8_t>(TIFFGetB(packed[i]));
      }
    }
    return absl::OkStatus();
  }

  // Of a strip, or a row of tiles; 0: the file has no such rows.
  int64_t RowsAtOnce() const {
    const bool tiled = file_.library().IsTiled(file_.get()) != 0;
    const auto rows = file_.Field<uint32_t>(tiled ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP, 0);
    return std::min<int64_t>(rows, layout_.height);
  }

  absl::Status ReadSamples(uint8_t* pixels) {
    const int planes = kind_.apart ? samples_.held : 1;
    TiffChunks chunks(file_, kind_.bits, samples_.in_row);
    for (int plane = 0; plane < planes; ++plane) {
      if (file_.library().IsTiled(file_.get()) != 0) {
        HEADRACE_RETURN_IF_ERROR(ReadTiles(chunks, plane, pixels));
      } else if (kind_.is_fax() || IsLongStrip()) {
        HEADRACE_RETURN_IF_ERROR(ReadRows(chunks, plane, pixels));
      } else {
        HEADRACE_RETURN_IF_ERROR(ReadStrips(chunks, plane, pixels));
      }
    }
    return absl::OkStatus();
  }

  bool IsLongStrip() const {
    const int64_t row_bytes = file_.library().ScanlineSize(file_.get());
    return kind_.compression != COMPRESSION_NONE && row_bytes > 0 && RowsAtOnce() > kMostInOneGo / row_bytes;
  }

  // What the file's bytes unpack to at most.
  int64_t MostUnpacked() const {
    const auto size = static_cast<int64_t>(file_.bytes().size());
    const auto times = [&](int64_t most) { return std::min(kMostAtOnce, size * most + kUnpackedAnyway); };
    switch (kind_.compression) {
      case COMPRESSION_NONE:
        return times(1);
      case COMPRESSION_PACKBITS:
        return times(64);
      case COMPRESSION_ADOBE_DEFLATE:
      case COMPRESSION_DEFLATE:
        return times(1032);
      case COMPRESSION_LZW:
        return times(4096);
      default:
        return kMostAtOnce;  // as bytes of them may unpack to any number
    }
  }

  absl::StatusOr<Tensor> Allocate(int64_t bytes) const {
    if (bytes <= 0 || bytes > MostUnpacked()) return file_.Failed(" (its strips or tiles are too large)");
    OutputAllocator intermediate;
    return intermediate.Allocate(DType::kUInt8, {bytes});
  }

  uint8_t* PixelAt(uint8_t* pixels, int64_t y, int64_t x) const {
    return pixels + (y * layout_.width + x) * samples_.held * samples_.bytes();
  }

  // Whole strips, which libtiff unpacks faster than their rows, and into their place if the file's bytes are pixels.
  absl::Status ReadStrips(TiffChunks& chunks, int plane, uint8_t* pixels) {
    const int64_t row_bytes = file_.library().ScanlineSize(file_.get());
    const int64_t rows = RowsAtOnce();
    const bool copied = samples_.AreCopied() && row_bytes == samples_.PackedBytes(layout_.width);
    if (rows == 0 || row_bytes < samples_.PackedBytes(layout_.width)) {
      return file_.Failed(" (its strips have no rows, or too short ones)");
    }
    Tensor strip;
    if (!copied) {
      HEADRACE_ASSIGN_OR_RETURN(strip, Allocate(rows > kMostAtOnce / row_bytes ? 0 : rows * row_bytes));
    }
    for (int64_t y = 0; y < layout_.height; y += rows) {
      if (StopSignal::Raised()) return StopSignal::Error();
      const int64_t some = std::min(rows, layout_.height - y);
      uint8_t* const packed = copied ? PixelAt(pixels, y, 0) : strip.mutable_raw();
      const uint32_t number =
          file_.library().ComputeStrip(file_.get(), static_cast<uint32_t>(y), static_cast<uint16_t>(plane));
      HEADRACE_RETURN_IF_ERROR(
          chunks.Read(number, row_bytes, absl::MakeSpan(packed, static_cast<size_t>(some * row_bytes))));
      if (copied) continue;
      for (int64_t i = 0; i < some; ++i) {
        samples_.Unpack(packed + i * row_bytes, layout_.width, plane, PixelAt(pixels, y + i, 0));
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadRows(TiffChunks& chunks, int plane, uint8_t* pixels) {
    const int64_t bytes = file_.library().ScanlineSize(file_.get());
    HEADRACE_ASSIGN_OR_RETURN(Tensor row, Allocate(bytes));
    if (bytes < samples_.PackedBytes(layout_.width)) return file_.Failed(" (its rows are too short)");
    for (int64_t y = 0; y < layout_.height; ++y) {
      if (StopSignal::Raised()) return StopSignal::Error();
      HEADRACE_RETURN_IF_ERROR(chunks.ReadRow(static_cast<uint32_t>(y), static_cast<uint16_t>(plane),
                                              absl::MakeSpan(row.mutable_raw(), static_cast<size_t>(bytes))));
      samples_.Unpack(row.raw(), layout_.width, plane, PixelAt(pixels, y, 0));
    }
    return absl::OkStatus();
  }

  uint32_t TileSide(uint32_t tag) const { return file_.Field<uint32_t>(tag, 0); }

  absl::Status ReadTiles(TiffChunks& chunks, int plane, uint8_t* pixels) {
    const int64_t width = TileSide(TIFFTAG_TILEWIDTH);
    const int64_t height = TileSide(TIFFTAG_TILELENGTH);
    const int64_t bytes = file_.library().TileSize(file_.get());
    const int64_t row_bytes = file_.library().TileRowSize(file_.get());
    HEADRACE_ASSIGN_OR_RETURN(Tensor tile, Allocate(bytes));
    if (width == 0 || height == 0 || row_bytes < samples_.PackedBytes(width) || row_bytes > bytes / height) {
      return file_.Failed(" (its tiles are too small)");
    }
    for (int64_t top = 0; top < layout_.height; top += height) {
      for (int64_t left = 0; left < layout_.width; left += width) {
        if (StopSignal::Raised()) return StopSignal::Error();
        const uint32_t number = file_.library().ComputeTile(
            file_.get(), static_cast<uint32_t>(left), static_cast<uint32_t>(top), 0, static_cast<uint16_t>(plane));
        HEADRACE_RETURN_IF_ERROR(
            chunks.Read(number, row_bytes, absl::MakeSpan(tile.mutable_raw(), static_cast<size_t>(bytes))));
        for (int64_t y = 0; y < std::min(height, layout_.height - top); ++y) {
          samples_.Unpack(tile.raw() + y * row_bytes, std::min(width, layout_.width - left), plane,
                          PixelAt(pixels, top + y, left));
        }
      }
    }
    return absl::OkStatus();
  }

  TiffFile file_;
  const DecodeOptions options_;
  TiffKind kind_;
  TiffSamples samples_;
  ImageLayout layout_;
  Palette palette_;
  bool converted_ = false;  // to RGB, by libtiff
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
  HEADRACE_ASSIGN_OR_RETURN(const TiffLibrary* const library, TiffLibrary::Load());
  TiffReader reader(*library, bytes, options);
  return reader.Read(choose);
}

}  // namespace headrace
