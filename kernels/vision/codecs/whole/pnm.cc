#include "kernels/vision/codecs/whole/pnm.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/stop_signal.h"
#include "kernels/vision/codecs/whole/whole_image.h"
#include "kernels/vision/image/pixel_limit.h"

namespace headrace {
namespace {

constexpr uint32_t kMostValue = 65535;
constexpr int64_t kLongestSide = 1 << 30;

bool IsSpace(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }
bool IsDigit(char byte) { return byte >= '0' && byte <= '9'; }

// The text of a header, or of pixels that are written as numbers.
class PnmText {
 public:
  explicit PnmText(std::string_view left) : left_(left) {}

  // Nullopt where no number comes next, or one of more than `most`.
  std::optional<int64_t> Number(int64_t most) {
    PassSpace();
    if (left_.empty() || !IsDigit(left_[0])) return std::nullopt;
    int64_t number = 0;
    for (; !left_.empty() && IsDigit(left_[0]); left_.remove_prefix(1)) {
      number = number * 10 + (left_[0] - '0');
      if (number > most) return std::nullopt;
    }
    return number;
  }

  // One bit, which need not be apart from the next.
  std::optional<int64_t> Bit() {
    PassSpace();
    if (left_.empty() || (left_[0] != '0' && left_[0] != '1')) return std::nullopt;
    const int64_t bit = left_[0] - '0';
    left_.remove_prefix(1);
    return bit;
  }

  // After the one byte that ends a header.
  std::string_view Pixels() const { return left_.substr(std::min<size_t>(1, left_.size())); }
  std::string_view left() const { return left_; }

 private:
  void PassSpace() {
    while (!left_.empty() && (IsSpace(left_[0]) || left_[0] == '#')) {
      const size_t end = left_[0] == '#' ? left_.find_first_of("\r\n") : 0;
      left_.remove_prefix(end == std::string_view::npos ? left_.size() : end + 1);
    }
  }

  std::string_view left_;
};

class PnmReader {
 public:
  explicit PnmReader(std::string_view bytes) : kind_(bytes[1] - '0'), text_(bytes.substr(2)) {}

  absl::StatusOr<DecodedPart> Read(const DecodeOptions& options, const ChoosePart& choose) {
    const std::optional<int64_t> width = text_.Number(kLongestSide);
    const std::optional<int64_t> height = text_.Number(kLongestSide);
    const std::optional<int64_t> most = is_bitmap() ? 1 : text_.Number(kMostValue);
    if (!width.has_value() || !height.has_value() || !most.has_value() || *width == 0 || *height == 0 || *most == 0) {
      return DataError("the PNM is damaged: its header has no width, height and greatest value");
    }
    most_ = static_cast<uint32_t>(*most);
    layout_ = {.height = *height,
               .width = *width,
               .channels = kind_ % 3 == 0 ? 3 : 1,
               .dtype = most_ > 255 ? DType::kUInt16 : DType::kUInt8};
    HEADRACE_RETURN_IF_ERROR(CheckPixelLimit(layout_.width, layout_.height, options.max_pixels));
    if (FewestBytes() > static_cast<int64_t>(text_.left().size())) return EndsEarly();
    return ReadWhole(layout_, options, choose,
                     [this](uint8_t* pixels) { return is_text() ? ReadText(pixels) : ReadPacked(pixels); });
  }

 private:
  static absl::Status EndsEarly() { return DataError("the PNM ends early: the file is truncated"); }

  bool is_text() const { return kind_ <= 3; }
  bool is_bitmap() const { return kind_ == 1 || kind_ == 4; }
  int64_t RowSamples() const { return layout_.width * layout_.channels; }
  // Of a row that is not text.
  int64_t RowBytes() const { return is_bitmap() ? (layout_.width + 7) / 8 : RowSamples() * (most_ > 255 ? 2 : 1); }

  // That the pixels take. Numbers are apart from each other.
  int64_t FewestBytes() const {
    if (!is_text()) return layout_.height * RowBytes() + 1;
    return layout_.height * RowSamples() * (is_bitmap() ? 1 : 2);
  }

  // Rounded to the nearest, or the even one of two.
  uint32_t Scaled(uint32_t value) const {
    const uint32_t to = most_ > 255 ? kMostValue : 255;
    if (most_ == to) return value;
    const uint64_t product = uint64_t{std::min(value, most_)} * to;
    const uint64_t down = product / most_;
    const uint64_t rest = product % most_ * 2;
    return static_cast<uint32_t>(down + (rest > most_ || (rest == most_ && down % 2 == 1) ? 1 : 0));
  }

  // In a bitmap 1 is black.
  void Write(uint32_t value, int64_t at, uint8_t* to) const {
    if (is_bitmap()) {
      to[at] = value != 0 ? 0 : 255;
    } else if (most_ <= 255) {
      to[at] = static_cast<uint8_t>(Scaled(value));
    } else {
      const auto word = static_cast<uint16_t>(Scaled(value));
      std::memcpy(to + 2 * at, &word, sizeof(word));
    }
  }

  absl::Status ReadText(uint8_t* pixels) {
    for (int64_t y = 0; y < layout_.height; ++y) {
      if (StopSignal::Raised()) return StopSignal::Error();
      for (int64_t x = 0; x < RowSamples(); ++x) {
        const std::optional<int64_t> value = is_bitmap() ? text_.Bit() : text_.Number(most_);
        if (!value.has_value() && text_.left().empty()) return EndsEarly();
        if (!value.has_value()) return DataError("the PNM is damaged: a pixel is not a number from 0 to ", most_);
        Write(static_cast<uint32_t>(*value), y * RowSamples() + x, pixels);
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadPacked(uint8_t* pixels) const {
    const auto* row = reinterpret_cast<const uint8_t*>(text_.Pixels().data());
    for (int64_t y = 0; y < layout_.height; ++y, row += RowBytes()) {
      if (StopSignal::Raised()) return StopSignal::Error();
      if (most_ == 255) {
        std::memcpy(pixels + y * RowSamples(), row, static_cast<size_t>(RowSamples()));
        continue;
      }
      for (int64_t x = 0; x < RowSamples(); ++x) {
        const uint32_t value = is_bitmap() ? row[x / 8] >> (7 - x % 8) & 1 : most_ > 255 ? Word(row + 2 * x) : row[x];
        Write(value, y * RowSamples() + x, pixels);
      }
    }
    return absl::OkStatus();
  }

  // The higher byte comes first.
  static uint32_t Word(const uint8_t* bytes) { return static_cast<uint32_t>(bytes[0] << 8 | bytes[1]); }

  const int kind_;  // the digit of its magic
  PnmText text_;
  uint32_t most_ = 1;
  ImageLayout layout_;
};

}  // namespace

bool LooksLikePnm(std::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6' &&
         (IsSpace(bytes[2]) || bytes[2] == '#');
}

absl::StatusOr<DecodedPart> DecodePnm(std::string_view bytes, const DecodeOptions& options, const ChoosePart& choose) {
  PnmReader reader(bytes);
  return reader.Read(options, choose);
}

}  // namespace headrace
