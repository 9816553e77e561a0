#include "kernels/vision/codecs/decode/library_versions.h"

#include <jpeglib.h>
#include <webp/decode.h>

#include <cstdio>  // jpeglib.h needs it
#include <opencv2/core/version.hpp>

#include "core/error.h"
#include "kernels/vision/codecs/jpeg/own_jpeg.h"

namespace headrace {
namespace {

// libjpeg-turbo has no function for it, and its macro is no text.
#define HEADRACE_TEXT_OF(version) #version
#define HEADRACE_TEXT_OF_MACRO(version) HEADRACE_TEXT_OF(version)
constexpr const char* kJpegVersion = HEADRACE_TEXT_OF_MACRO(LIBJPEG_TURBO_VERSION);
#undef HEADRACE_TEXT_OF_MACRO
#undef HEADRACE_TEXT_OF

std::string WebpVersion() {
  const int version = WebPGetDecoderVersion();
  return Cat(version >> 16, ".", (version >> 8) & 0xff, ".", version & 0xff);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> LibraryVersions() {
  return {{"Headrace's JPEG decoder", kOwnJpegVersion},
          {"OpenCV", CV_VERSION},
          {"libjpeg-turbo", kJpegVersion},
          {"libwebp", WebpVersion()}};
}

}  // namespace headrace
