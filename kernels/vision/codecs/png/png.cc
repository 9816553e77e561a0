#include "kernels/vision/codecs/png/png.h"

#include <png.h>

#include <bit>
#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <string>

#include "core/error.h"
#include "core/stop_signal.h"
#include "kernels/vision/codecs/exif.h"
#include "kernels/vision/codecs/png/png_exif.h"
#include "kernels/vision/codecs/png/png_session.h"
#include "kernels/vision/codecs/whole/whole_image.h"
#include "kernels/vision/image/pixel_limit.h"

namespace headrace {
namespace {

constexpr std::string_view kSignature{"\x89PNG\r\n\x1a\n", 8};
constexpr png_alloc_size_t kMostChunkBytes = 8 << 20;
// Deflate compresses 258 bytes to two bits at best.
constexpr int64_t kBestPacking = 1032;
constexpr int64_t kPngRowsAtOnce = 16;

struct PngDecoderSession : PngSession {
  const char* data;
  size_t left;
  bool ended_early;
};

void LookAtStopSignal(PngDecoderSession& session) {
  if (!StopSignal::Raised()) return;
  session.stopped = true;
  png_error(session.libpng, "stopped");
}

void ReadBytes(png_structp libpng, png_bytep target, size_t count) {
  PngDecoderSession& session = *static_cast<PngDecoderSession*>(png_get_io_ptr(libpng));
  LookAtStopSignal(session);
  if (count > session.left) {
    session.ended_early = true;
    png_error(libpng, "no more data");
  }
  std::memcpy(target, session.data, count);
  session.data += count;
  session.left -= count;
}

bool ReadHeader(PngDecoderSession& session) {
  if (setjmp(session.jump) != 0) return false;
  PngSession* const shared = &session;
  session.libpng = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, shared, PngSession::Fail, PngSession::IgnoreWarning,
                                            shared, PngSession::TakeMemory, PngSession::GiveMemory);
  if (session.libpng == nullptr) return false;
  session.info = png_create_info_struct(session.libpng);
  if (session.info == nullptr) return false;
  png_set_read_fn(session.libpng, &session, ReadBytes);
  png_set_chunk_malloc_max(session.libpng, kMostChunkBytes);
  // Skips texts, profiles and the like: nothing reads them, and some unpack to megabytes.
  png_set_keep_unknown_chunks(session.libpng, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_read_info(session.libpng, session.info);
  return true;
}

int FileChannels(png_byte color, bool transparent) {
  switch (color) {
    case PNG_COLOR_TYPE_GRAY:
      return transparent ? 2 : 1;
    case PNG_COLOR_TYPE_GRAY_ALPHA:
      return 2;
    case PNG_COLOR_TYPE_RGB_ALPHA:
      return 4;
    default:
      return transparent ? 4 : 3;
  }
}

// What libpng returns. The rest of a conversion, to the luma of colours, is ReadWhole's.
struct Plan {
  int channels;
  DType dtype;
  bool keeps_indices;  // of a palette
};

Plan MakePlan(const PngDecoderSession& session, PixelMode mode) {
  const bool transparent = png_get_valid(session.libpng, session.info, PNG_INFO_tRNS) != 0;
  const png_byte color = png_get_color_type(session.libpng, session.info);
  const int file = FileChannels(color, transparent);
  const bool wide = png_get_bit_depth(session.libpng, session.info) == 16;
  const DType own = wide ? DType::kUInt16 : DType::kUInt8;
  if (mode == PixelMode::kUnchanged) {
    if (color == PNG_COLOR_TYPE_PALETTE) return {1, DType::kUInt8, true};
    return {file, own, false};
  }
  if (mode == PixelMode::kAny || mode == PixelMode::kAnyDepth) {
    return {file == 2 ? 4 : file, mode == PixelMode::kAny ? DType::kUInt8 : own, false};
  }
  if (mode == PixelMode::kGrey) return {file <= 2 ? 1 : 3, DType::kUInt8, false};
  return {3, DType::kUInt8, false};
}

// Configures libpng for the planned channels, and returns the number of passes.
int Transform(png_structp libpng, png_infop info, const Plan& plan) {
  if (plan.keeps_indices) {
    png_set_packing(libpng);
  } else {
    png_set_expand(libpng);
    if (plan.channels == 1 || plan.channels == 3) png_set_strip_alpha(libpng);
    if (plan.channels == 3 || plan.channels == 4) png_set_gray_to_rgb(libpng);
  }
  if (plan.dtype == DType::kUInt16) {
    // The file's numbers have their high byte first.
    if constexpr (std::endian::native == std::endian::little) png_set_swap(libpng);
  } else {
    png_set_strip_16(libpng);
  }
  const int passes = png_set_interlace_handling(libpng);
  png_read_update_info(libpng, info);
  return passes;
}

bool ReadPngRows(PngDecoderSession& session, const Plan& plan, int64_t height, int64_t width, uint8_t* pixels) {
  if (setjmp(session.jump) != 0) return false;
  const int passes = Transform(session.libpng, session.info, plan);
  const size_t row_bytes = static_cast<size_t>(width) * plan.channels * ItemSize(plan.dtype);
  if (png_get_rowbytes(session.libpng, session.info) != row_bytes) {
    png_error(session.libpng, "rows of an unexpected length");
  }
  for (int pass = 0; pass < passes; ++pass) {
    for (int64_t y = 0; y < height; ++y) {
      if (y % kPngRowsAtOnce == 0) LookAtStopSignal(session);
      png_read_row(session.libpng, pixels + y * row_bytes, nullptr);
    }
  }
  return true;
}

class PngReader {
 public:
  explicit PngReader(std::string_view bytes) : bytes_(bytes) {
    session_ = {};
    session_.data = bytes.data();
    session_.left = bytes.size();
  }
  ~PngReader() { png_destroy_read_struct(&session_.libpng, &session_.info, nullptr); }
  PngReader(const PngReader&) = delete;

  absl::StatusOr<DecodedPart> Read(const DecodeOptions& options, const ChoosePart& choose) {
    if (!ReadHeader(session_)) return Failed(" (in its header)");
    const int64_t width = png_get_image_width(session_.libpng, session_.info);
    const int64_t height = png_get_image_height(session_.libpng, session_.info);
    HEADRACE_RETURN_IF_ERROR(CheckPixelLimit(width, height, options.max_pixels));
    HEADRACE_RETURN_IF_ERROR(CheckBytes(width, height));
    const Plan plan = MakePlan(session_, options.mode);
    const ImageLayout layout = {.height = height,
                                .width = width,
                                .channels = plan.channels,
                                .dtype = plan.dtype,
                                .orientation = options.orientation ? ExifOrientation(PngExif(bytes_)) : 1};
    return ReadWhole(layout, options, choose, [&](uint8_t* pixels) {
      return ReadPngRows(session_, plan, height, width, pixels) ? absl::OkStatus() : Failed("");
    });
  }

 private:
  // Refuses an image that cannot be in so few bytes, before memory is allocated for it.
  absl::Status CheckBytes(int64_t width, int64_t height) const {
    const int64_t bits = png_get_bit_depth(session_.libpng, session_.info);
    const int64_t unpacked = width * height * bits * png_get_channels(session_.libpng, session_.info) / 8;
    if (unpacked <= kBestPacking * static_cast<int64_t>(bytes_.size())) return absl::OkStatus();
    return DataError("the PNG has ", bytes_.size(), " bytes, which cannot hold its ", width, " × ", height,
                     " pixels: they take ", unpacked / kBestPacking, " at least");
  }

  absl::Status Failed(std::string_view where) const {
    if (session_.stopped) return StopSignal::Error();
    if (session_.no_memory) return ResourceError("no memory to decode the PNG");
    if (session_.ended_early) return DataError("the PNG ends early: the file is truncated", where);
    return DataError("the PNG is damaged: ", session_.message, where);
  }

  const std::string_view bytes_;
  PngDecoderSession session_;
};

}  // namespace

bool LooksLikePng(std::string_view bytes) { return bytes.starts_with(kSignature); }

absl::StatusOr<DecodedPart> DecodePng(std::string_view bytes, const DecodeOptions& options, const ChoosePart& choose) {
  PngReader reader(bytes);
  return reader.Read(options, choose);
}

}  // namespace headrace
