#include "kernels/testing/libjpeg_pixels.h"

#include <csetjmp>
#include <cstddef>
#include <cstdio>

// clang-format off
#include <jpeglib.h>  // needs size_t and FILE from above
#include <jerror.h>   // numbers its messages by what jpeglib.h says of the library
// clang-format on

namespace headrace::fixture {
namespace {

struct Session {
  jpeg_decompress_struct libjpeg;
  jpeg_error_mgr errors;
  std::jmp_buf jump;
  bool damaged;
};

Session& SessionOf(j_common_ptr libjpeg) { return *static_cast<Session*>(libjpeg->client_data); }

// No object with a destructor lives here: libjpeg jumps back.
bool Begin(Session& session, std::string_view bytes, int scale) {
  if (setjmp(session.jump) != 0) return false;
  jpeg_create_decompress(&session.libjpeg);
  session.libjpeg.client_data = &session;
  jpeg_mem_src(&session.libjpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&session.libjpeg, TRUE);
  const int components = session.libjpeg.num_components;
  if (components != 1 && components != 3) return false;
  session.libjpeg.out_color_space = components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  session.libjpeg.scale_denom = session.libjpeg.scale_num * static_cast<unsigned>(scale);
  jpeg_start_decompress(&session.libjpeg);
  return true;
}

bool ReadRows(Session& session, uint8_t* pixels) {
  if (setjmp(session.jump) != 0) return false;
  jpeg_decompress_struct& libjpeg = session.libjpeg;
  const size_t row_bytes = size_t{libjpeg.output_width} * static_cast<size_t>(libjpeg.output_components);
  while (libjpeg.output_scanline < libjpeg.output_height) {
    JSAMPROW row = pixels + libjpeg.output_scanline * row_bytes;
    jpeg_read_scanlines(&libjpeg, &row, 1);
  }
  return true;
}

}  // namespace

std::optional<LibjpegPixels> DecodeByLibjpeg(std::string_view bytes, int scale) {
  Session session = {};
  session.libjpeg.err = jpeg_std_error(&session.errors);
  session.libjpeg.client_data = &session;
  session.errors.error_exit = [](j_common_ptr libjpeg) { std::longjmp(SessionOf(libjpeg).jump, 1); };
  session.errors.emit_message = [](j_common_ptr libjpeg, int level) {
    const int code = libjpeg->err->msg_code;
    const bool damage = code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE || code == JWRN_MUST_RESYNC;
    SessionOf(libjpeg).damaged |= level < 0 && damage;
  };
  session.errors.output_message = [](j_common_ptr) {};
  std::optional<LibjpegPixels> result;
  if (Begin(session, bytes, scale)) {
    const jpeg_decompress_struct& libjpeg = session.libjpeg;
    result = LibjpegPixels{libjpeg.output_height, libjpeg.output_width, libjpeg.output_components, {}, false};
    result->pixels.resize(static_cast<size_t>(result->height * result->width * result->channels));
    if (!ReadRows(session, result->pixels.data())) result.reset();
  }
  if (result.has_value()) result->damaged = session.damaged;
  jpeg_destroy_decompress(&session.libjpeg);
  return result;
}

}  // namespace headrace::fixture
