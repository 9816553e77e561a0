#include "kernels/vision/codecs/jpeg/jpeg_encoder.h"

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>

// clang-format off
#include <jpeglib.h>  // needs size_t and FILE from above
#include <jerror.h>   // numbers its messages by what jpeglib.h says of the library
// clang-format on

#include "core/error.h"
#include "core/stop_signal.h"

namespace headrace {
namespace {

constexpr int64_t kMaxSide = JPEG_MAX_DIMENSION;
// Room for the tables and headers, and half a byte a pixel: more than photographs of quality 95 need.
constexpr size_t kFirstRoom = 4096;
constexpr int64_t kPixelsPerByte = 2;
constexpr int64_t kJpegEncoderRowsAtOnce = 16;

// libjpeg reports errors by longjmp. So no C++ object with a destructor lives in a function that calls setjmp, or that
// calls longjmp, and this struct holds plain data only.
struct JpegEncoderSession {
  jpeg_compress_struct libjpeg;
  jpeg_error_mgr errors;
  jpeg_destination_mgr destination;
  std::jmp_buf jump;
  GrowingBytes* out;
  bool stopped;
  bool no_memory;
  char message[JMSG_LENGTH_MAX];
};

JpegEncoderSession& SessionOfJpegEncoder(j_common_ptr libjpeg) {
  return *static_cast<JpegEncoderSession*>(libjpeg->client_data);
}
JpegEncoderSession& SessionOfJpegEncoder(j_compress_ptr libjpeg) {
  return *static_cast<JpegEncoderSession*>(libjpeg->client_data);
}

[[noreturn]] void StopJpegEncoder(j_common_ptr libjpeg) {
  JpegEncoderSession& session = SessionOfJpegEncoder(libjpeg);
  if (libjpeg->err->msg_code == JERR_OUT_OF_MEMORY) session.no_memory = true;
  (*libjpeg->err->format_message)(libjpeg, session.message);
  std::longjmp(session.jump, 1);
}

void Ignore(j_common_ptr, int) {}

void GiveRoom(JpegEncoderSession& session) {
  session.destination.next_output_byte = session.out->free_begin();
  session.destination.free_in_buffer = session.out->free_bytes();
}

void Begin(j_compress_ptr libjpeg) { GiveRoom(SessionOfJpegEncoder(libjpeg)); }

bool GrowFull(GrowingBytes& out) {
  out.Advance(out.free_bytes());
  return out.Grow(1).ok();
}

boolean Grow(j_compress_ptr libjpeg) {
  JpegEncoderSession& session = SessionOfJpegEncoder(libjpeg);
  if (!GrowFull(*session.out)) {
    session.no_memory = true;
    std::longjmp(session.jump, 1);
  }
  GiveRoom(session);
  return TRUE;
}

void End(j_compress_ptr libjpeg) {
  JpegEncoderSession& session = SessionOfJpegEncoder(libjpeg);
  session.out->Advance(session.out->free_bytes() - session.destination.free_in_buffer);
}

bool Encode(JpegEncoderSession& session, const Image& image, int quality) {
  jpeg_compress_struct& libjpeg = session.libjpeg;
  if (setjmp(session.jump) != 0) return false;
  jpeg_create_compress(&libjpeg);
  libjpeg.client_data = &session;
  libjpeg.dest = &session.destination;
  libjpeg.image_width = static_cast<JDIMENSION>(image.width);
  libjpeg.image_height = static_cast<JDIMENSION>(image.height);
  libjpeg.input_components = static_cast<int>(image.channels);
  libjpeg.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&libjpeg);
  jpeg_set_quality(&libjpeg, quality, TRUE);
  jpeg_start_compress(&libjpeg, TRUE);
  for (int64_t y = 0; y < image.height; ++y) {
    if (y % kJpegEncoderRowsAtOnce == 0 && StopSignal::Raised()) {
      session.stopped = true;
      return false;
    }
    JSAMPROW row = const_cast<JSAMPROW>(image.row(y));
    jpeg_write_scanlines(&libjpeg, &row, 1);
  }
  jpeg_finish_compress(&libjpeg);
  return true;
}

// Ends libjpeg's memory, whatever way the work ended.
class Encoding {
 public:
  explicit Encoding(GrowingBytes& out) {
    session_.out = &out;
    session_.libjpeg.err = jpeg_std_error(&session_.errors);
    session_.libjpeg.client_data = &session_;
    session_.errors.error_exit = StopJpegEncoder;
    session_.errors.emit_message = Ignore;
    session_.destination.init_destination = Begin;
    session_.destination.empty_output_buffer = Grow;
    session_.destination.term_destination = End;
  }
  ~Encoding() { jpeg_destroy_compress(&session_.libjpeg); }
  Encoding(const Encoding&) = delete;

  absl::Status Run(const Image& image, int quality) {
    if (Encode(session_, image, quality)) return absl::OkStatus();
    if (session_.stopped) return StopSignal::Error();
    if (session_.no_memory) return ResourceError("no memory to encode the JPEG");
    return InternalError("libjpeg cannot encode ", image.tensor.TypeName(), ": ", session_.message);
  }

 private:
  JpegEncoderSession session_ = {};
};

}  // namespace

absl::Status EncodeJpeg(const Image& image, int quality, GrowingBytes& out) {
  if (image.height > kMaxSide || image.width > kMaxSide) {
    return DataError("a JPEG has at most ", kMaxSide, " pixels a side; the image has ", image.height, " × ",
                     image.width);
  }
  const auto pixels = static_cast<size_t>(image.height * image.width);
  HEADRACE_RETURN_IF_ERROR(out.Reserve(kFirstRoom + pixels / kPixelsPerByte));
  return Encoding(out).Run(image, quality);
}

}  // namespace headrace
