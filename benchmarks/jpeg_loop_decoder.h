// `JpegLoopDecoder` is libjpeg-turbo for the hand-written loop: one decompressor and one pixel buffer, reused for every
// file.
// Threads: belongs to one thread.
#ifndef HEADRACE_BENCHMARKS_JPEG_LOOP_DECODER_H_
#define HEADRACE_BENCHMARKS_JPEG_LOOP_DECODER_H_

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include "jpeglib.h"

namespace headrace {

struct Box {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
};

// RGB pixels in the decoder's own memory, until its next image.
struct Pixels {
  const uint8_t* data = nullptr;
  size_t row_bytes = 0;
  int width = 0;
  int height = 0;
};

class JpegLoopDecoder {
 public:
  JpegLoopDecoder();
  ~JpegLoopDecoder();
  JpegLoopDecoder(const JpegLoopDecoder&) = delete;

  // Reads the header; false if this is not a JPEG. `file` must live until Decode or Abort. The pixels are those of
  // 1/scale of the height and width, which are the image's own.
  bool Begin(std::string_view file, int& width, int& height, int scale = 1);
  bool DecodeAll(Pixels& pixels);
  // Only the box: columns outside are not transformed, rows outside not even unpacked further than needed.
  bool DecodeBox(const Box& box, Pixels& pixels);
  void Abort();

 private:
  struct ErrorExit {
    jpeg_error_mgr manager;  // first, so that libjpeg's pointer is a pointer to this
    jmp_buf jump;
  };

  [[noreturn]] static void OnError(j_common_ptr info);
  static void OnMessage(j_common_ptr info, int level);
  bool Decode(const Box* box, Pixels& pixels);
  void ReadRows(int rows, size_t row_bytes);
  void CmykToRgb(int rows, int width);

  jpeg_decompress_struct info_;
  ErrorExit error_;
  std::vector<uint8_t> pixels_;
};

}  // namespace headrace

#endif  // HEADRACE_BENCHMARKS_JPEG_LOOP_DECODER_H_
