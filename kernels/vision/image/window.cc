#include "kernels/vision/image/window.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/error.h"
#include "kernels/numbers/number.h"

namespace headrace {
namespace {

// One row of the window over the image's row `source` (null: no part of the image is in it).
class RowCopy {
 public:
  RowCopy(const Image& image, const Window& window, Border border, const std::vector<uint8_t>& pixel)
      : left_(window.left), width_(window.width), pixel_bytes_(image.pixel_bytes()) {
    begin_ = std::clamp<int64_t>(-window.left, 0, window.width);
    end_ = std::clamp<int64_t>(image.width - window.left, begin_, window.width);
    if (border == Border::kConstant) {
      blank_.resize(static_cast<size_t>(width_ * pixel_bytes_));
      FillRun(pixel, width_, blank_.data());
      return;
    }
    for (int64_t x = 0; x < width_; ++x) {
      if (x < begin_ || x >= end_) outside_.push_back(BorderIndex(window.left + x, image.width, border));
    }
  }

  void operator()(const uint8_t* source, uint8_t* target) const {
    if (source == nullptr) return CopyBlank(0, width_, target);
    if (end_ > begin_) {
      std::memcpy(target + begin_ * pixel_bytes_, source + (left_ + begin_) * pixel_bytes_,
                  (end_ - begin_) * pixel_bytes_);
    }
    if (!blank_.empty()) {
      CopyBlank(0, begin_, target);
      return CopyBlank(end_, width_, target);
    }
    const int64_t* index = outside_.data();
    for (int64_t x = 0; x < begin_; ++x) Put(source, *index++, target + x * pixel_bytes_);
    for (int64_t x = end_; x < width_; ++x) Put(source, *index++, target + x * pixel_bytes_);
  }

 private:
  void CopyBlank(int64_t begin, int64_t end, uint8_t* target) const {
    std::memcpy(target + begin * pixel_bytes_, blank_.data() + begin * pixel_bytes_, (end - begin) * pixel_bytes_);
  }
  void Put(const uint8_t* source, int64_t index, uint8_t* target) const {
    std::memcpy(target, source + index * pixel_bytes_, pixel_bytes_);
  }

  const int64_t left_;
  const int64_t width_;
  const int64_t pixel_bytes_;
  int64_t begin_;  // columns [begin, end) of the window are on the image
  int64_t end_;
  std::vector<uint8_t> blank_;    // a row without the image; where the border is constant
  std::vector<int64_t> outside_;  // else the source positions of the other columns, from left to right
};

}  // namespace

absl::StatusOr<std::vector<uint8_t>> PixelOf(std::string_view attribute, absl::Span<const ir::Number> values,
                                             const Image& image) {
  if (values.size() != 1 && static_cast<int64_t>(values.size()) != image.channels) {
    return GraphError(attribute, " has ", values.size(), " values, but the image has ", image.channels,
                      " channels: give one value, or one per channel");
  }
  const size_t item = ItemSize(image.dtype());
  std::vector<uint8_t> pixel(image.pixel_bytes());
  for (int64_t c = 0; c < image.channels; ++c) {
    const ir::Number value = values[values.size() == 1 ? 0 : c];
    HEADRACE_RETURN_IF_ERROR(StoreNumber(attribute, value, image.dtype(), &pixel[c * item]));
  }
  return pixel;
}

void FillRun(const std::vector<uint8_t>& pixel, int64_t count, uint8_t* target) {
  const size_t bytes = static_cast<size_t>(count) * pixel.size();
  if (bytes == 0) return;
  // Black, or any grey of bytes.
  const auto is_first = [&](uint8_t byte) { return byte == pixel[0]; };
  if (std::all_of(pixel.begin(), pixel.end(), is_first)) {
    std::memset(target, pixel[0], bytes);
    return;
  }
  std::memcpy(target, pixel.data(), pixel.size());
  // Doubles what is filled.
  for (size_t filled = pixel.size(); filled < bytes; filled *= 2) {
    std::memcpy(target + filled, target, std::min(filled, bytes - filled));
  }
}

Border BorderOf(std::string_view name) {
  if (name == "edge") return Border::kEdge;
  if (name == "reflect") return Border::kReflect;
  if (name == "symmetric") return Border::kSymmetric;
  return Border::kConstant;
}

int64_t BorderIndex(int64_t at, int64_t size, Border border) {
  if (at >= 0 && at < size) return at;
  if (border == Border::kConstant) return -1;
  if (border == Border::kEdge) return std::clamp<int64_t>(at, 0, size - 1);
  if (border == Border::kReflect && size == 1) return 0;
  // Folds the axis back and forth; reflect does not repeat the border, symmetric does.
  const int64_t period = border == Border::kReflect ? 2 * (size - 1) : 2 * size;
  const int64_t folded = ((at % period) + period) % period;
  if (folded < size) return folded;
  return border == Border::kReflect ? period - folded : period - 1 - folded;
}

absl::StatusOr<Tensor> Windowed(const Image& image, const Window& window, Border border,
                                absl::Span<const ir::Number> fill, OutputAllocator& output) {
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<uint8_t> pixel, PixelOf("fill", fill, image));
  HEADRACE_ASSIGN_OR_RETURN(Tensor shown, AllocateLike(image, window.height, window.width, output));
  const RowCopy copy_row(image, window, border, pixel);
  const int64_t row_bytes = window.width * image.pixel_bytes();
  for (int64_t y = 0; y < window.height; ++y) {
    const int64_t source = BorderIndex(window.top + y, image.height, border);
    copy_row(source < 0 ? nullptr : image.row(source), shown.mutable_raw() + y * row_bytes);
  }
  return shown;
}

Margins MarginsOf(absl::Span<const int64_t> padding) {
  if (padding.empty()) return {};
  if (padding.size() == 1) return {padding[0], padding[0], padding[0], padding[0]};
  if (padding.size() == 2) return {padding[0], padding[1], padding[0], padding[1]};
  return {padding[0], padding[1], padding[2], padding[3]};
}

ir::Attribute PaddingAttribute() {
  return {.name = "padding",
          .type = ir::AttributeType::kInts,
          .doc =
              "Pixels added on each side: one number for all, (left and right, top and bottom), or "
              "(left, top, right, bottom).",
          .minimum = 0,
          .maximum = 65535,
          .lengths = {1, 2, 4}};
}

ir::Attribute FillAttribute() {
  return {.name = "fill",
          .type = ir::AttributeType::kFloats,
          .doc =
              "What new pixels hold where the border is constant: one number, or one per channel, in the units of the "
              "input.",
          .default_value = "0",
          .length = ir::ListLength::OfChannels(),
          .keeps_whole = true};
}

ir::Attribute BorderAttribute() {
  return {.name = "mode",
          .type = ir::AttributeType::kString,
          .doc = "How new pixels are made: constant takes `fill`, the others repeat the image as numpy.pad does.",
          .default_value = "'constant'",
          .choices = {"constant", "edge", "reflect", "symmetric"}};
}

}  // namespace headrace
