#include "kernels/vision/codecs/jpeg/own/sequential_jpeg.h"

#include <algorithm>

#include "kernels/vision/codecs/exif.h"

namespace headrace::jpeg {

namespace {

constexpr int kTables = 4;
constexpr int kMostFactor = 4;
constexpr int kMostBlocksInMcu = 10;
constexpr int64_t kMostSide = 65500;  // libjpeg's

enum Marker : uint8_t {
  kBaseline = 0xC0,
  kExtended = 0xC1,
  kHuffmanTables = 0xC4,
  kScan = 0xDA,
  kQuantizationTables = 0xDB,
  kRestartInterval = 0xDD,
  kFirstApplication = 0xE0,
  kExif = 0xE1,
  kAdobe = 0xEE,
  kLastApplication = 0xEF,
  kComment = 0xFE,
};

int64_t DividedUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The rest of a segment. What is read behind its end is 0, and remembered.
class Segment {
 public:
  explicit Segment(std::string_view bytes) : bytes_(bytes) {}

  int Byte() {
    if (bytes_.empty()) {
      short_ = true;
      return 0;
    }
    const int value = static_cast<uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return value;
  }
  int Word() {
    const int high = Byte();
    return high * 256 + Byte();
  }
  bool empty() const { return bytes_.empty(); }
  std::string_view rest() const { return bytes_; }
  bool EndsHere() const { return bytes_.empty() && !short_; }

 private:
  std::string_view bytes_;
  bool short_ = false;
};

class HeaderReader {
 public:
  explicit HeaderReader(std::string_view bytes) { jpeg_.bytes = bytes; }

  std::optional<SequentialJpeg> Read() {
    if (!jpeg_.bytes.starts_with("\xFF\xD8")) return std::nullopt;
    at_ = 2;
    while (jpeg_.data == 0) {
      if (!ReadSegment()) return std::nullopt;
    }
    return jpeg_;
  }

 private:
  bool ReadSegment() {
    const std::string_view bytes = jpeg_.bytes;
    if (at_ + 4 > bytes.size() || bytes[at_] != '\xFF') return false;
    const auto marker = static_cast<uint8_t>(bytes[at_ + 1]);
    const size_t size = static_cast<size_t>(Segment(bytes.substr(at_ + 2)).Word());
    if (size < 2 || at_ + 2 + size > bytes.size()) return false;
    Segment segment(bytes.substr(at_ + 4, size - 2));
    at_ += 2 + size;
    switch (marker) {
      case kBaseline:
      case kExtended:
        return ReadFrame(segment);
      case kHuffmanTables:
        return ReadHuffmanTables(segment);
      case kQuantizationTables:
        return ReadQuantizationTables(segment);
      case kRestartInterval:
        jpeg_.interval = segment.Word();
        return segment.EndsHere();
      case kScan:
        return ReadScan(segment);
      default:
        if (marker >= kFirstApplication && marker <= kLastApplication) ReadApplication(marker, segment.rest());
        return marker == kComment || (marker >= kFirstApplication && marker <= kLastApplication);
    }
  }

  void ReadApplication(uint8_t marker, std::string_view data) {
    constexpr size_t kJfifBytes = 14;
    constexpr size_t kAdobeBytes = 12;
    if (marker == kFirstApplication && data.size() >= kJfifBytes && data.starts_with(std::string_view("JFIF\0", 5))) {
      jfif_ = true;
    } else if (marker == kAdobe && data.size() >= kAdobeBytes && data.starts_with("Adobe")) {
      adobe_ = static_cast<uint8_t>(data[kAdobeBytes - 1]);
    } else if (marker == kExif && !exif_ && data.starts_with(kExifHeader)) {
      exif_ = true;
      jpeg_.orientation = ExifOrientation(data.substr(kExifHeader.size()));
    }
  }

  bool ReadFrame(Segment& segment) {
    if (jpeg_.count != 0 || segment.Byte() != 8) return false;
    jpeg_.height = segment.Word();
    jpeg_.width = segment.Word();
    jpeg_.count = segment.Byte();
    if (jpeg_.height == 0 || jpeg_.width == 0 || std::max(jpeg_.height, jpeg_.width) > kMostSide) return false;
    if (jpeg_.count != 1 && jpeg_.count != 3) return false;
    for (int i = 0; i < jpeg_.count; ++i) {
      JpegComponent& component = jpeg_.components[i];
      ids_[i] = segment.Byte();
      const int factors = segment.Byte();
      component.horizontal = factors / 16;
      component.vertical = factors % 16;
      component.quantization = segment.Byte();
      if (std::find(ids_.begin(), ids_.begin() + i, ids_[i]) != ids_.begin() + i) return false;
    }
    return segment.EndsHere() && SetSizes();
  }

  bool SetSizes() {
    const auto components = jpeg_.components.begin();
    for (int i = 0; i < jpeg_.count; ++i) {
      JpegComponent& component = components[i];
      const auto is_factor = [](int factor) { return factor >= 1 && factor <= kMostFactor; };
      if (!is_factor(component.horizontal) || !is_factor(component.vertical)) return false;
      // One component alone is not interleaved: its factors mean nothing.
      if (jpeg_.count == 1) component.horizontal = component.vertical = 1;
      jpeg_.max_horizontal = std::max(jpeg_.max_horizontal, component.horizontal);
      jpeg_.max_vertical = std::max(jpeg_.max_vertical, component.vertical);
    }
    int blocks = 0;
    for (int i = 0; i < jpeg_.count; ++i) {
      JpegComponent& component = components[i];
      blocks += component.horizontal * component.vertical;
      // Others are not upsampled by whole numbers.
      if (jpeg_.max_horizontal % component.horizontal != 0 || jpeg_.max_vertical % component.vertical != 0)
        return false;
      component.width = DividedUp(jpeg_.width * component.horizontal, jpeg_.max_horizontal);
      component.height = DividedUp(jpeg_.height * component.vertical, jpeg_.max_vertical);
    }
    return jpeg_.count == 1 || blocks <= kMostBlocksInMcu;
  }

  bool ReadHuffmanTables(Segment& segment) {
    while (!segment.empty()) {
      const int which = segment.Byte();
      if (which / 16 > 1 || which % 16 >= kTables) return false;
      HuffmanCode& code = (which / 16 == 0 ? jpeg_.means : jpeg_.others)[static_cast<size_t>(which % 16)];
      code = {};
      for (uint8_t& count : code.counts) count = static_cast<uint8_t>(segment.Byte());
      const int size = code.size();
      if (size > static_cast<int>(code.symbols.size())) return false;
      for (int i = 0; i < size; ++i) code.symbols[static_cast<size_t>(i)] = static_cast<uint8_t>(segment.Byte());
      code.defined = true;
    }
    return segment.EndsHere();
  }

  bool ReadQuantizationTables(Segment& segment) {
    while (!segment.empty()) {
      const int which = segment.Byte();
      if (which / 16 > 1 || which % 16 >= kTables) return false;
      auto& table = jpeg_.quantization[static_cast<size_t>(which % 16)];
      for (const uint8_t place : kZigzag) {
        table[place] = static_cast<int16_t>(which / 16 == 0 ? segment.Byte() : segment.Word());
      }
      quantized_[static_cast<size_t>(which % 16)] = true;
    }
    return segment.EndsHere();
  }

  bool ReadScan(Segment& segment) {
    if (jpeg_.count == 0 || segment.Byte() != jpeg_.count || !IsGreyOrYcc()) return false;
    for (int i = 0; i < jpeg_.count; ++i) {
      JpegComponent& component = jpeg_.components[i];
      if (segment.Byte() != ids_[i]) return false;
      const int tables = segment.Byte();
      component.means = tables / 16;
      component.others = tables % 16;
      if (component.means >= kTables || component.others >= kTables || component.quantization >= kTables) return false;
      const bool has_codes = jpeg_.means[static_cast<size_t>(component.means)].defined &&
                             jpeg_.others[static_cast<size_t>(component.others)].defined;
      if (!has_codes || !quantized_[static_cast<size_t>(component.quantization)]) return false;
    }
    const int first = segment.Byte();
    const int last = segment.Byte();
    const int bits = segment.Byte();
    if (!segment.EndsHere() || first != 0 || last != kCoefficients - 1 || bits != 0) return false;
    jpeg_.data = at_;
    return true;
  }

  // As libjpeg decides: JFIF says YCbCr, then Adobe's marker counts, then the components' names.
  bool IsGreyOrYcc() const {
    if (jpeg_.count == 1 || jfif_) return true;
    if (adobe_.has_value()) return *adobe_ == 1;
    return !(ids_[0] == 'R' && ids_[1] == 'G' && ids_[2] == 'B');
  }

  SequentialJpeg jpeg_;
  size_t at_ = 0;
  std::array<int, 3> ids_ = {};
  std::array<bool, kTables> quantized_ = {};
  bool jfif_ = false;
  std::optional<int> adobe_;
  bool exif_ = false;
};

}  // namespace

int HuffmanCode::size() const {
  int size = 0;
  for (const uint8_t count : counts) size += count;
  return size;
}

int64_t SequentialJpeg::blocks() const {
  int64_t blocks = 0;
  for (int i = 0; i < count; ++i) {
    const JpegComponent& component = components[static_cast<size_t>(i)];
    blocks += DividedUp(component.width, kBlockSize) * DividedUp(component.height, kBlockSize);
  }
  return blocks;
}

bool SequentialJpeg::HasEndMarker() const { return bytes.substr(data).rfind("\xFF\xD9") != std::string_view::npos; }

std::optional<SequentialJpeg> FindSequentialJpeg(std::string_view bytes) { return HeaderReader(bytes).Read(); }

}  // namespace headrace::jpeg
