// `LibjpegPixels` decodes a whole JPEG with libjpeg-turbo and its defaults, as the definition of what its pixels are.
// Use it in tests. Threads: any thread.
#ifndef HEADRACE_KERNELS_TESTING_LIBJPEG_PIXELS_H_
#define HEADRACE_KERNELS_TESTING_LIBJPEG_PIXELS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace headrace::fixture {

struct LibjpegPixels {
  int64_t height = 0;
  int64_t width = 0;
  int channels = 0;  // 1 of a grey image, else 3
  std::vector<uint8_t> pixels;
  bool damaged = false;  // some of the data: the pixels there are invented
};

// At 1/scale of its height and width. Nullopt: it refuses the bytes, or they hold neither grey nor colours.
std::optional<LibjpegPixels> DecodeByLibjpeg(std::string_view bytes, int scale = 1);

}  // namespace headrace::fixture

#endif  // HEADRACE_KERNELS_TESTING_LIBJPEG_PIXELS_H_
