#include "kernels/vision/codecs/png/png_encoder.h"

#include <png.h>
#include <zlib.h>

#include <bit>
#include <csetjmp>
#include <cstdint>
#include <cstring>

#include "core/error.h"
#include "core/stop_signal.h"
#include "kernels/vision/codecs/png/png_session.h"

namespace headrace {
namespace {

// libpng's own limit.
constexpr int64_t kMaxSide = PNG_USER_WIDTH_MAX;
constexpr size_t kFirstRoom = 4096;
constexpr int64_t kPngEncoderRowsAtOnce = 16;
// Stands for the fast settings among the levels.
constexpr int kFast = -1;

struct PngEncoderSession : PngSession {
  GrowingBytes* out;
};

bool MakeRoom(GrowingBytes& out, size_t count) { return out.free_bytes() >= count || out.Grow(count).ok(); }

void WriteBytes(png_structp libpng, png_bytep bytes, size_t count) {
  PngEncoderSession& session = *static_cast<PngEncoderSession*>(png_get_io_ptr(libpng));
  if (!MakeRoom(*session.out, count)) {
    session.no_memory = true;
    png_error(libpng, "no memory");
  }
  std::memcpy(session.out->free_begin(), bytes, count);
  session.out->Advance(count);
}

void Flush(png_structp) {}

int ColorType(int64_t channels) {
  if (channels == 1) return PNG_COLOR_TYPE_GRAY;
  return channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_RGB_ALPHA;
}

void SetCompression(png_structp libpng, int level) {
  if (level == kFast) {
    png_set_filter(libpng, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);
    png_set_compression_level(libpng, Z_BEST_SPEED);
    png_set_compression_strategy(libpng, Z_RLE);
    return;
  }
  png_set_compression_level(libpng, level);
  png_set_compression_strategy(libpng, Z_DEFAULT_STRATEGY);
}

bool Encode(PngEncoderSession& session, const Image& image, int level) {
  if (setjmp(session.jump) != 0) return false;
  PngSession* const shared = &session;
  session.libpng = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, shared, PngSession::Fail, PngSession::IgnoreWarning,
                                             shared, PngSession::TakeMemory, PngSession::GiveMemory);
  if (session.libpng == nullptr) return false;
  session.info = png_create_info_struct(session.libpng);
  if (session.info == nullptr) return false;
  png_set_write_fn(session.libpng, &session, WriteBytes, Flush);
  SetCompression(session.libpng, level);
  png_set_IHDR(session.libpng, session.info, static_cast<png_uint_32>(image.width),
               static_cast<png_uint_32>(image.height), static_cast<int>(8 * ItemSize(image.dtype())),
               ColorType(image.channels), PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(session.libpng, session.info);
  // The file's numbers have their high byte first.
  if (std::endian::native == std::endian::little && ItemSize(image.dtype()) == 2) png_set_swap(session.libpng);
  for (int64_t y = 0; y < image.height; ++y) {
    if (y % kPngEncoderRowsAtOnce == 0 && StopSignal::Raised()) {
      session.stopped = true;
      return false;
    }
    png_write_row(session.libpng, image.row(y));
  }
  png_write_end(session.libpng, session.info);
  return true;
}

// Ends libpng's memory, whatever way the work ended.
class Encoding {
 public:
  explicit Encoding(GrowingBytes& out) { session_.out = &out; }
  ~Encoding() { png_destroy_write_struct(&session_.libpng, &session_.info); }
  Encoding(const Encoding&) = delete;

  absl::Status Run(const Image& image, int level) {
    if (Encode(session_, image, level)) return absl::OkStatus();
    if (session_.stopped) return StopSignal::Error();
    if (session_.no_memory) return ResourceError("no memory to encode the PNG");
    return InternalError("libpng cannot encode ", image.tensor.TypeName(), ": ", session_.message);
  }

 private:
  PngEncoderSession session_ = {};
};

}  // namespace

absl::Status EncodePng(const Image& image, std::optional<int> compression, GrowingBytes& out) {
  if (image.height > kMaxSide || image.width > kMaxSide) {
    return DataError("a PNG has at most ", kMaxSide, " pixels a side; the image has ", image.height, " × ",
                     image.width);
  }
  HEADRACE_RETURN_IF_ERROR(out.Reserve(kFirstRoom + static_cast<size_t>(image.height * image.pixel_bytes())));
  return Encoding(out).Run(image, compression.value_or(kFast));
}

}  // namespace headrace
