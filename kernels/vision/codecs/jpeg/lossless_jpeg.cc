#include "kernels/vision/codecs/jpeg/lossless_jpeg.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/stop_signal.h"
#include "kernels/vision/codecs/exif.h"
#include "kernels/vision/codecs/whole/whole_image.h"
#include "kernels/vision/image/pixel_limit.h"

namespace headrace {
namespace {

// The second byte of a marker.
struct LosslessMarker {
  static constexpr uint8_t kFrame = 0xc3;
  static constexpr uint8_t kTables = 0xc4;
  static constexpr uint8_t kFirstRestart = 0xd0;
  static constexpr uint8_t kImageBegin = 0xd8;
  static constexpr uint8_t kImageEnd = 0xd9;
  static constexpr uint8_t kScan = 0xda;
  static constexpr uint8_t kRestartInterval = 0xdd;
  static constexpr uint8_t kJfif = 0xe0;
  static constexpr uint8_t kExif = 0xe1;
  static constexpr uint8_t kAdobe = 0xee;
};

absl::Status LosslessDamaged(std::string_view how) { return DataError("the lossless JPEG is damaged: ", how); }

uint8_t LosslessByte(std::string_view bytes, size_t at) {
  return at < bytes.size() ? static_cast<uint8_t>(bytes[at]) : 0;
}
int64_t LosslessWord(std::string_view bytes, size_t at) {
  return LosslessByte(bytes, at) << 8 | LosslessByte(bytes, at + 1);
}

struct JpegSegment {
  uint8_t marker = 0;
  std::string_view content;
};

// Takes the next segment off; nullopt at the end.
std::optional<JpegSegment> TakeSegment(std::string_view& left) {
  const size_t begin = left.find('\xff');
  if (begin == std::string_view::npos) return std::nullopt;
  left.remove_prefix(begin);
  left.remove_prefix(std::min(left.find_first_not_of('\xff'), left.size()));
  if (left.empty()) return std::nullopt;
  JpegSegment segment = {LosslessByte(left, 0), {}};
  left.remove_prefix(1);
  const bool alone = segment.marker == 0 || segment.marker == 1 ||
                     (segment.marker >= LosslessMarker::kFirstRestart && segment.marker <= LosslessMarker::kImageEnd);
  if (alone) return segment;
  const auto length = static_cast<size_t>(LosslessWord(left, 0));
  if (length < 2 || length > left.size()) return std::nullopt;
  segment.content = left.substr(2, length - 2);
  left.remove_prefix(length);
  return segment;
}

bool IsFrame(uint8_t marker) {
  return marker >= 0xc0 && marker <= 0xcf && marker != LosslessMarker::kTables && marker != 0xc8 && marker != 0xcc;
}

// Codes by their length: of `length` bits there are those from `first[length]` on.
struct LosslessCodes {
  std::array<int32_t, 18> first = {};
  std::array<int32_t, 18> count = {};
  std::array<int32_t, 18> value_at = {};
  std::vector<uint8_t> values;

  // Sets what the content of a table says, and returns how many bytes it takes; 0: it is not a table.
  size_t Set(std::string_view content) {
    constexpr size_t kLengths = 16;
    int32_t code = 0;
    int32_t total = 0;
    for (size_t length = 1; length <= kLengths; ++length) {
      first[length] = code;
      value_at[length] = total;
      count[length] = LosslessByte(content, length);
      total += count[length];
      code = (code + count[length]) * 2;
      if (code > 2 << length) return 0;
    }
    const size_t bytes = 1 + kLengths + static_cast<size_t>(total);
    if (bytes > content.size()) return 0;
    values.assign(content.begin() + 1 + kLengths, content.begin() + static_cast<ptrdiff_t>(bytes));
    return bytes;
  }
};

// Bits of a scan's data, in which a byte 0 follows a byte of 255 that does not begin a marker.
class LosslessBits {
 public:
  explicit LosslessBits(std::string_view data) : data_(data) {}

  // 0 beyond the end, which it notes.
  uint32_t Bit() {
    if (held_ == 0 && !Fill()) return 0;
    return byte_ >> --held_ & 1;
  }
  uint32_t Bits(int count) {
    uint32_t bits = 0;
    for (int i = 0; i < count; ++i) bits = bits << 1 | Bit();
    return bits;
  }
  bool ended() const { return ended_; }

  // Passes a restart marker. False: another byte comes next.
  bool Restart() {
    held_ = 0;
    while (at_ + 1 < data_.size() && LosslessByte(data_, at_) == 0xff && LosslessByte(data_, at_ + 1) == 0xff) ++at_;
    const uint8_t marker = LosslessByte(data_, at_ + 1);
    const bool restarts = marker >= LosslessMarker::kFirstRestart && marker < LosslessMarker::kImageBegin;
    if (LosslessByte(data_, at_) != 0xff || !restarts) return false;
    at_ += 2;
    return true;
  }
  std::string_view left() const { return data_.substr(std::min(at_, data_.size())); }

 private:
  bool Fill() {
    const bool marker = LosslessByte(data_, at_) == 0xff && LosslessByte(data_, at_ + 1) != 0;
    if (at_ >= data_.size() || marker) {
      ended_ = true;
      return false;
    }
    byte_ = LosslessByte(data_, at_);
    at_ += byte_ == 0xff ? 2 : 1;
    held_ = 8;
    return true;
  }

  std::string_view data_;
  size_t at_ = 0;
  uint32_t byte_ = 0;
  int held_ = 0;
  bool ended_ = false;
};

// The difference that comes next; nullopt: there is no such code.
std::optional<int32_t> NextDifference(LosslessBits& bits, const LosslessCodes& codes) {
  int32_t code = 0;
  for (size_t length = 1; length <= 16; ++length) {
    code = code << 1 | static_cast<int32_t>(bits.Bit());
    const int32_t number = code - codes.first[length];
    if (number < 0 || number >= codes.count[length]) continue;
    const int size = codes.values[static_cast<size_t>(codes.value_at[length] + number)];
    if (size == 0) return 0;
    if (size >= 16) return size == 16 ? std::optional<int32_t>(32768) : std::nullopt;
    const auto value = static_cast<int32_t>(bits.Bits(size));
    return value >= 1 << (size - 1) ? value : value - (1 << size) + 1;
  }
  return std::nullopt;
}

// From the samples at the left, above, and above at the left.
int32_t Predicted(int predictor, int32_t left, int32_t above, int32_t corner) {
  switch (predictor) {
    case 1:
      return left;
    case 2:
      return above;
    case 3:
      return corner;
    case 4:
      return left + above - corner;
    case 5:
      return left + ((above - corner) >> 1);
    case 6:
      return above + ((left - corner) >> 1);
    default:
      return (left + above) >> 1;
  }
}

class LosslessReader {
 public:
  explicit LosslessReader(std::string_view bytes) : left_(bytes), size_(bytes.size()) {}

  absl::StatusOr<DecodedPart> Read(const DecodeOptions& options, const ChoosePart& choose) {
    HEADRACE_RETURN_IF_ERROR(ReadToScan());
    HEADRACE_RETURN_IF_ERROR(CheckPixelLimit(layout_.width, layout_.height, options.max_pixels));
    const int64_t samples = layout_.width * layout_.height * layout_.channels;
    if (samples / 8 > static_cast<int64_t>(size_)) {
      return DataError("the lossless JPEG has ", size_, " bytes, which cannot hold its ", layout_.width, " × ",
                       layout_.height, " pixels: they take ", samples / 8, " at least");
    }
    return ReadWhole(layout_, options, choose, [this](uint8_t* pixels) { return ReadScans(pixels); });
  }

 private:
  // Reads up to the data of the next scan. `scan_` stays empty where the image ends.
  absl::Status ReadToScan() {
    scan_ = {};
    while (const std::optional<JpegSegment> segment = TakeSegment(left_)) {
      const std::string_view content = segment->content;
      if (segment->marker == LosslessMarker::kImageEnd) return absl::OkStatus();
      if (segment->marker == LosslessMarker::kTables) HEADRACE_RETURN_IF_ERROR(ReadTables(content));
      if (segment->marker == LosslessMarker::kRestartInterval) restart_ = LosslessWord(content, 0);
      if (segment->marker == LosslessMarker::kJfif && content.starts_with("JFIF")) jfif_ = true;
      if (segment->marker == LosslessMarker::kAdobe && content.starts_with("Adobe")) adobe_ = LosslessByte(content, 11);
      if (segment->marker == LosslessMarker::kExif && content.starts_with(kExifHeader) && layout_.orientation == 1) {
        layout_.orientation = ExifOrientation(content);
      }
      if (IsFrame(segment->marker)) HEADRACE_RETURN_IF_ERROR(ReadFrame(*segment));
      if (segment->marker != LosslessMarker::kScan) continue;
      if (ids_.empty()) return LosslessDamaged("a scan comes before its frame");
      scan_ = content;
      return absl::OkStatus();
    }
    return ids_.empty() ? LosslessDamaged("it has no frame") : absl::OkStatus();
  }

  absl::Status ReadTables(std::string_view content) {
    while (!content.empty()) {
      const uint8_t where = LosslessByte(content, 0);
      // Other tables are of coefficients, which the lossless process does not have.
      LosslessCodes unused;
      const size_t bytes = (where < tables_.size() ? tables_[where] : unused).Set(content);
      if (bytes == 0) return LosslessDamaged("its tables have no codes");
      content.remove_prefix(bytes);
    }
    return absl::OkStatus();
  }

  absl::Status ReadFrame(const JpegSegment& segment) {
    if (segment.marker != LosslessMarker::kFrame || !ids_.empty()) return LosslessDamaged("it has several frames");
    const std::string_view content = segment.content;
    bits_ = LosslessByte(content, 0);
    layout_.height = LosslessWord(content, 1);
    layout_.width = LosslessWord(content, 3);
    layout_.channels = LosslessByte(content, 5);
    if (layout_.height == 0 || layout_.width == 0) return LosslessDamaged("it has no size");
    if (content.size() < 6 + 3 * static_cast<size_t>(layout_.channels)) return LosslessDamaged("its frame is cut off");
    bool sampled_alike = true;
    for (int i = 0; i < layout_.channels; ++i) {
      ids_.push_back(LosslessByte(content, 6 + 3 * static_cast<size_t>(i)));
      sampled_alike &= layout_.channels == 1 || LosslessByte(content, 7 + 3 * static_cast<size_t>(i)) == 0x11;
    }
    const bool luma_and_chroma = layout_.channels == 3 && (jfif_ || adobe_ > 0);
    if (bits_ >= 2 && bits_ <= 8 && (layout_.channels == 1 || layout_.channels == 3) && sampled_alike &&
        !luma_and_chroma) {
      return absl::OkStatus();
    }
    return DataError("the lossless JPEG has ", layout_.channels, " channels of ", bits_, " bits",
                     luma_and_chroma ? " in YCbCr" : "", sampled_alike ? "" : ", sampled differently",
                     ", which is not read: there are grey and RGB of 2 to 8 bits");
  }

  absl::Status ReadScans(uint8_t* pixels) {
    unsigned scanned = 0;
    while (!scan_.empty()) {
      HEADRACE_RETURN_IF_ERROR(ReadScan(pixels, scanned));
      HEADRACE_RETURN_IF_ERROR(ReadToScan());
    }
    return scanned == (1U << layout_.channels) - 1 ? absl::OkStatus() : LosslessDamaged("a component has no scan");
  }

  // Marks the components that it has.
  absl::Status ReadScan(uint8_t* pixels, unsigned& scanned) {
    const size_t count = LosslessByte(scan_, 0);
    if (count == 0 || count > ids_.size() || scan_.size() < 4 + 2 * count) return LosslessDamaged("a scan is cut off");
    channels_.clear();
    codes_.clear();
    for (size_t i = 0; i < count; ++i) {
      const auto id = std::find(ids_.begin(), ids_.end(), LosslessByte(scan_, 1 + 2 * i));
      const size_t table = LosslessByte(scan_, 2 + 2 * i) >> 4;
      if (id == ids_.end() || table >= tables_.size()) return LosslessDamaged("a scan has no such component");
      const auto channel = static_cast<size_t>(id - ids_.begin());
      if ((scanned >> channel & 1) != 0) return LosslessDamaged("a component has two scans");
      scanned |= 1U << channel;
      channels_.push_back(channel);
      codes_.push_back(&tables_[table]);
    }
    predictor_ = LosslessByte(scan_, 1 + 2 * count);
    shift_ = LosslessByte(scan_, 3 + 2 * count) & 15;
    if (predictor_ < 1 || predictor_ > 7 || shift_ >= bits_) return LosslessDamaged("a scan has no such predictor");
    if (restart_ % layout_.width != 0) return LosslessDamaged("it restarts within a row");
    return ReadLosslessRows(pixels);
  }

  absl::Status ReadLosslessRows(uint8_t* pixels) {
    LosslessBits bits(left_);
    const auto width = static_cast<size_t>(layout_.width);
    // Numbers of 16 bits, of the row above and this one.
    std::array<std::vector<uint16_t>, 2> rows = {std::vector<uint16_t>(width * codes_.size()),
                                                 std::vector<uint16_t>(width * codes_.size())};
    const int64_t rows_between = restart_ / layout_.width;
    for (int64_t y = 0; y < layout_.height; ++y) {
      if (StopSignal::Raised()) return StopSignal::Error();
      const bool restarts = rows_between > 0 && y > 0 && y % rows_between == 0;
      if (restarts && !bits.Restart()) return LosslessDamaged("a restart marker is missing");
      std::swap(rows[0], rows[1]);
      HEADRACE_RETURN_IF_ERROR(ReadLosslessRow(bits, y == 0 || restarts, rows[0], rows[1]));
      Place(rows[1], pixels + y * layout_.width * layout_.channels);
    }
    left_ = bits.left();
    return absl::OkStatus();
  }

  absl::Status ReadLosslessRow(LosslessBits& bits, bool first, const std::vector<uint16_t>& above,
                               std::vector<uint16_t>& row) const {
    const size_t step = codes_.size();
    for (size_t at = 0; at < row.size(); ++at) {
      const std::optional<int32_t> difference = NextDifference(bits, *codes_[at % step]);
      if (bits.ended()) return DataError("the lossless JPEG ends early: the file is truncated");
      if (!difference.has_value()) return LosslessDamaged("it has a code that stands for nothing");
      int32_t predicted = 0;
      if (at < step) {
        predicted = first ? 1 << (bits_ - shift_ - 1) : above[at];
      } else {
        predicted = first ? row[at - step] : Predicted(predictor_, row[at - step], above[at], above[at - step]);
      }
      row[at] = static_cast<uint16_t>(predicted + *difference);
    }
    return absl::OkStatus();
  }

  void Place(const std::vector<uint16_t>& row, uint8_t* to) const {
    const size_t step = codes_.size();
    for (size_t at = 0; at < row.size(); ++at) {
      to[at / step * static_cast<size_t>(layout_.channels) + channels_[at % step]] =
          static_cast<uint8_t>(row[at] << shift_);
    }
  }

  std::string_view left_;
  const size_t size_;
  std::string_view scan_;  // the header of the scan whose data come next
  ImageLayout layout_;
  int bits_ = 0;  // of a sample
  bool jfif_ = false;
  int adobe_ = 0;             // its number of a colour space: 0 for RGB
  int64_t restart_ = 0;       // samples between restart markers; 0: it has no markers
  std::vector<uint8_t> ids_;  // of the components
  std::array<LosslessCodes, 4> tables_;
  // Of a scan.
  std::vector<size_t> channels_;
  std::vector<const LosslessCodes*> codes_;
  int predictor_ = 0;
  int shift_ = 0;
};

}  // namespace

bool IsLosslessJpeg(std::string_view bytes) {
  while (const std::optional<JpegSegment> segment = TakeSegment(bytes)) {
    if (segment->marker == LosslessMarker::kScan || segment->marker == LosslessMarker::kImageEnd) return false;
    if (IsFrame(segment->marker)) return segment->marker == LosslessMarker::kFrame;
  }
  return false;
}

absl::StatusOr<DecodedPart> DecodeLosslessJpeg(std::string_view bytes, const DecodeOptions& options,
                                               const ChoosePart& choose) {
  LosslessReader reader(bytes);
  return reader.Read(options, choose);
}

}  // namespace headrace
