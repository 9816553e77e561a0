#include "kernels/vision/codecs/jpeg/own/sequential_jpeg.h"

#include <algorithm>

#include "kernels/vision/codecs/exif.h"

namespace headrace::jpeg {

namespace {

constexpr int kMostFactor = 4;
constexpr int kMostBlocksInMcu = 10;
constexpr int64_t kMostSide = 65500;  // libjpeg's

class HeaderReader {
 public:
  explicit HeaderReader(std::string_view bytes) : reader_(bytes) { jpeg_.bytes = bytes; }

  std::optional<SequentialJpeg> Read() {
    if (reader_.NextMarker() != kBegin) return std::nullopt;
    while (jpeg_.data == 0) {
      const std::optional<uint8_t> marker = reader_.NextMarker();
      const std::optional<Segment> segment = marker.has_value() ? reader_.NextSegment() : std::nullopt;
      if (!segment.has_value() || !TakeSegment(*marker, *segment)) return std::nullopt;
    }
    return jpeg_;
  }

 private:
  bool TakeSegment(uint8_t marker, Segment segment) {
    switch (marker) {
      case kBaseline:
      case kExtended:
        return TakeFrame(segment);
      case kHuffmanTables:
        return TakeHuffmanTables(segment);
      case kQuantizationTables:
        return TakeQuantizationTables(segment);
      case kRestartInterval:
        jpeg_.interval = segment.Word();
        return segment.EndsHere();
      case kScan:
        return TakeScan(segment);
      default:
        TakeRemark(marker, segment.rest());
        return IsRemark(marker);
    }
  }

  void TakeRemark(uint8_t marker, std::string_view data) {
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

  bool TakeFrame(Segment segment) {
    const std::optional<FrameHeader> frame = ReadFrameHeader(segment);
    if (jpeg_.count != 0 || !frame.has_value() || std::max(frame->height, frame->width) > kMostSide) return false;
    frame_ = *frame;
    jpeg_.height = frame->height;
    jpeg_.width = frame->width;
    jpeg_.count = frame->count;
    for (int i = 0; i < frame->count; ++i) {
      const FrameHeader::Component& from = frame->components[i];
      if (frame->IndexOf(from.id) != i) return false;
      JpegComponent& component = jpeg_.components[i];
      component.horizontal = from.horizontal;
      component.vertical = from.vertical;
      component.quantization = from.quantization;
    }
    return SetSizes();
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

  bool TakeHuffmanTables(Segment segment) {
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

  bool TakeQuantizationTables(Segment segment) {
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

  bool TakeScan(Segment segment) {
    const std::optional<ScanHeader> scan = ReadScanHeader(segment);
    if (!scan.has_value() || scan->count != jpeg_.count || !scan->IsSequential() || !IsGreyOrYcc()) return false;
    for (int i = 0; i < jpeg_.count; ++i) {
      if (scan->ids[i] != frame_.components[i].id) return false;
      JpegComponent& component = jpeg_.components[i];
      component.means = scan->means[i];
      component.others = scan->others[i];
      if (component.means >= kTables || component.others >= kTables || component.quantization >= kTables) return false;
      const bool has_codes = jpeg_.means[static_cast<size_t>(component.means)].defined &&
                             jpeg_.others[static_cast<size_t>(component.others)].defined;
      if (!has_codes || !quantized_[static_cast<size_t>(component.quantization)]) return false;
    }
    jpeg_.data = reader_.at();
    return true;
  }

  // As libjpeg decides: JFIF says YCbCr, then Adobe's marker counts, then the components' names.
  bool IsGreyOrYcc() const {
    if (jpeg_.count == 1 || jfif_) return true;
    if (adobe_.has_value()) return *adobe_ == 1;
    return !frame_.HasColoursAsIds();
  }

  SequentialJpeg jpeg_;
  MarkerReader reader_;
  FrameHeader frame_;
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
