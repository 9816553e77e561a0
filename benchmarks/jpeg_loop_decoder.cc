#include "benchmarks/jpeg_loop_decoder.h"

#include <algorithm>

namespace headrace {
namespace {

constexpr int kRowsACall = 16;

}  // namespace

JpegLoopDecoder::JpegLoopDecoder() {
  info_.err = jpeg_std_error(&error_.manager);
  error_.manager.error_exit = OnError;
  error_.manager.emit_message = OnMessage;
  jpeg_create_decompress(&info_);
}

JpegLoopDecoder::~JpegLoopDecoder() { jpeg_destroy_decompress(&info_); }

void JpegLoopDecoder::OnError(j_common_ptr info) { longjmp(reinterpret_cast<ErrorExit*>(info->err)->jump, 1); }

void JpegLoopDecoder::OnMessage(j_common_ptr info, int level) {
  if (level < 0) ++info->err->num_warnings;
}

bool JpegLoopDecoder::Begin(std::string_view file, int& width, int& height, int scale) {
  if (setjmp(error_.jump) != 0) {
    jpeg_abort_decompress(&info_);
    return false;
  }
  jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&info_, TRUE);
  info_.scale_denom = info_.scale_num * static_cast<unsigned>(scale);
  width = static_cast<int>(info_.image_width);
  height = static_cast<int>(info_.image_height);
  return true;
}

void JpegLoopDecoder::Abort() { jpeg_abort_decompress(&info_); }

bool JpegLoopDecoder::DecodeAll(Pixels& pixels) { return Decode(nullptr, pixels); }

bool JpegLoopDecoder::DecodeBox(const Box& box, Pixels& pixels) { return Decode(&box, pixels); }

bool JpegLoopDecoder::Decode(const Box* box, Pixels& pixels) {
  if (setjmp(error_.jump) != 0) {
    jpeg_abort_decompress(&info_);
    return false;
  }
  const bool cmyk = info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
  info_.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(&info_);
  const int image_width = static_cast<int>(info_.output_width);
  int rows = static_cast<int>(info_.output_height);
  int skipped_columns = 0;
  if (box != nullptr) {
    // Upsampling a column reads its neighbours: with one more on each side the crop's own are exact.
    const int first = std::max(box->left - 1, 0);
    JDIMENSION left = first;
    JDIMENSION width = std::min(box->left + box->width + 1, image_width) - first;
    if (static_cast<int>(width) < image_width) jpeg_crop_scanline(&info_, &left, &width);
    if (box->top > 0) jpeg_skip_scanlines(&info_, box->top);
    skipped_columns = box->left - static_cast<int>(left);
    rows = box->height;
  }
  const int width = static_cast<int>(info_.output_width);
  ReadRows(rows, static_cast<size_t>(width) * info_.output_components);
  if (cmyk) CmykToRgb(rows, width);
  if (info_.output_scanline < info_.output_height) {
    jpeg_abort_decompress(&info_);
  } else {
    jpeg_finish_decompress(&info_);
  }
  pixels.row_bytes = static_cast<size_t>(width) * 3;
  pixels.data = pixels_.data() + static_cast<size_t>(skipped_columns) * 3;
  pixels.width = box != nullptr ? box->width : width;
  pixels.height = rows;
  return true;
}

void JpegLoopDecoder::ReadRows(int rows, size_t row_bytes) {
  // Only grows: a vector resized for every image would be cleared every time.
  const size_t bytes = row_bytes * rows;
  if (pixels_.size() < bytes) pixels_.resize(bytes);
  JSAMPROW pointers[kRowsACall];
  int done = 0;
  while (done < rows) {
    const int wanted = std::min(kRowsACall, rows - done);
    for (int i = 0; i < wanted; ++i) pointers[i] = pixels_.data() + (done + i) * row_bytes;
    done += static_cast<int>(jpeg_read_scanlines(&info_, pointers, wanted));
  }
}

// Adobe's CMYK is stored inverted, so that the product is the colour. Shrinks in place: reading runs ahead of writing.
void JpegLoopDecoder::CmykToRgb(int rows, int width) {
  const uint8_t* from = pixels_.data();
  uint8_t* to = pixels_.data();
  for (size_t i = 0; i < static_cast<size_t>(rows) * width; ++i, from += 4, to += 3) {
    const int black = from[3];
    for (int c = 0; c < 3; ++c) to[c] = static_cast<uint8_t>(from[c] * black / 255);
  }
}

}  // namespace headrace
