#include "kernels/vision/codecs/jpeg/plain_jpeg.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace headrace {
namespace {

constexpr int kCoefficients = 64;
constexpr int kTables = 4;
// As many as libjpeg reads of an image of any content.
constexpr int kMostScans = 15;
constexpr int kMostMissingBits = 13;

enum Marker : uint8_t {
  kBaseline = 0xC0,
  kExtended = 0xC1,
  kProgressive = 0xC2,
  kHuffmanTables = 0xC4,
  kFirstRestart = 0xD0,
  kLastRestart = 0xD7,
  kEnd = 0xD9,
  kScan = 0xDA,
  kQuantizationTables = 0xDB,
  kRestartInterval = 0xDD,
  kFirstApplication = 0xE0,
  kAdobe = 0xEE,
  kLastApplication = 0xEF,
  kComment = 0xFE,
};

// The rest of a segment. Reads beyond its end give zeros and are remembered.
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
  void Skip(int count) {
    if (static_cast<size_t>(count) > bytes_.size()) short_ = true;
    bytes_.remove_prefix(std::min(static_cast<size_t>(count), bytes_.size()));
  }
  bool empty() const { return bytes_.empty(); }
  std::string_view rest() const { return bytes_; }
  bool EndsHere() const { return bytes_.empty() && !short_; }

 private:
  std::string_view bytes_;
  bool short_ = false;
};

struct Sampling {
  int horizontal = 0;
  int vertical = 0;

  friend bool operator==(const Sampling&, const Sampling&) = default;
};

// Of the luma, where both chromas are 1x1.
constexpr Sampling kColourSamplings[] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}, {4, 2}};

struct Component {
  int id = 0;
  Sampling sampling;
  int quantization = 0;
  // For each coefficient the number of its low bits that no scan had yet.
  std::array<int8_t, kCoefficients> missing;
};

struct Scan {
  std::array<int, 3> components = {};  // indices
  std::array<int, 3> tables = {};      // of means, and of the other coefficients in the low half of the byte
  int count = 0;
  int first = 0;  // coefficients
  int last = 0;
  int high = 0;  // missing bits before it and after it
  int low = 0;
};

int64_t DividedUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) { missing_tables_.fill(true); }

  std::optional<PlainJpeg> Read() {
    if (!bytes_.starts_with("\xFF\xD8")) return std::nullopt;
    at_ = 2;
    while (true) {
      const std::optional<uint8_t> marker = NextMarker();
      if (!marker.has_value()) return std::nullopt;
      if (*marker == kEnd) break;
      if (!ReadSegment(*marker)) return std::nullopt;
    }
    if (!IsWhole()) return std::nullopt;
    return PlainJpeg{bytes_.substr(0, at_), height_, width_, count_};
  }

 private:
  std::optional<uint8_t> NextMarker() {
    if (at_ + 2 > bytes_.size() || bytes_[at_] != '\xFF') return std::nullopt;
    at_ += 2;
    return static_cast<uint8_t>(bytes_[at_ - 1]);
  }

  bool ReadSegment(uint8_t marker) {
    Segment length(bytes_.substr(std::min(at_, bytes_.size())));
    const int size = length.Word();
    if (size < 2 || at_ + static_cast<size_t>(size) > bytes_.size()) return false;
    Segment segment(bytes_.substr(at_ + 2, static_cast<size_t>(size) - 2));
    at_ += static_cast<size_t>(size);
    switch (marker) {
      case kBaseline:
      case kExtended:
      case kProgressive:
        progressive_ = marker == kProgressive;
        return ReadFrame(segment);
      case kHuffmanTables:
        return ReadHuffmanTables(segment);
      case kQuantizationTables:
        return ReadQuantizationTables(segment);
      case kRestartInterval:
        interval_ = segment.Word();
        return segment.EndsHere();
      case kScan:
        return ReadScan(segment);
      case kAdobe:
        ReadAdobe(segment);
        return true;
      default:
        return marker == kComment || (marker >= kFirstApplication && marker <= kLastApplication);
    }
  }

  bool ReadFrame(Segment& segment) {
    if (count_ != 0 || segment.Byte() != 8) return false;
    height_ = segment.Word();
    width_ = segment.Word();
    count_ = segment.Byte();
    if (height_ == 0 || width_ == 0 || height_ * width_ > kMostPlainPixels) return false;
    if (count_ != 1 && count_ != 3) return false;
    for (int i = 0; i < count_; ++i) {
      Component& component = components_[i];
      component.id = segment.Byte();
      const int sampling = segment.Byte();
      component.sampling = {sampling / 16, sampling % 16};
      component.quantization = segment.Byte();
      component.missing.fill(-1);
    }
    return segment.EndsHere() && HasCommonSampling() && !HasColoursAsIds();
  }

  bool HasCommonSampling() const {
    const Sampling luma = components_[0].sampling;
    if (count_ == 1) return luma == Sampling{1, 1};
    if (components_[1].sampling != Sampling{1, 1} || components_[2].sampling != Sampling{1, 1}) return false;
    return std::find(std::begin(kColourSamplings), std::end(kColourSamplings), luma) != std::end(kColourSamplings);
  }

  bool HasColoursAsIds() const {
    return count_ == 3 && components_[0].id == 'R' && components_[1].id == 'G' && components_[2].id == 'B';
  }

  // Marks a table as present: those of means, of other coefficients, and of quantization.
  bool Found(int kind, int table) {
    if (kind > 2 || table >= kTables) return false;
    missing_tables_[static_cast<size_t>(kind * kTables + table)] = false;
    return true;
  }
  bool Lacks(int kind, int table) const {
    return table >= kTables || missing_tables_[static_cast<size_t>(kind * kTables + table)];
  }

  bool ReadHuffmanTables(Segment& segment) {
    while (!segment.empty()) {
      const int which = segment.Byte();
      int symbols = 0;
      for (int length = 1; length <= 16; ++length) symbols += segment.Byte();
      segment.Skip(symbols);
      if (which / 16 > 1 || !Found(which / 16, which % 16)) return false;
    }
    return segment.EndsHere();
  }

  bool ReadQuantizationTables(Segment& segment) {
    while (!segment.empty()) {
      const int which = segment.Byte();
      segment.Skip(kCoefficients * (which / 16 + 1));
      if (which / 16 > 1 || !Found(2, which % 16)) return false;
    }
    return segment.EndsHere();
  }

  void ReadAdobe(Segment& segment) {
    constexpr int kBeforeTransform = 6;
    if (!segment.rest().starts_with("Adobe")) return;
    segment.Skip(5 + kBeforeTransform);
    adobe_transform_ = segment.Byte();
    adobe_ = true;
  }

  bool ReadScan(Segment& segment) {
    if (count_ == 0 || ++scans_ > kMostScans) return false;
    Scan scan;
    scan.count = segment.Byte();
    if (scan.count < 1 || scan.count > count_) return false;
    int before = -1;
    for (int i = 0; i < scan.count; ++i) {
      const int component = IndexOf(segment.Byte());
      // In the frame's order, each once.
      if (component <= before) return false;
      scan.components[i] = before = component;
      scan.tables[i] = segment.Byte();
    }
    scan.first = segment.Byte();
    scan.last = segment.Byte();
    const int bits = segment.Byte();
    scan.high = bits / 16;
    scan.low = bits % 16;
    return segment.EndsHere() && (progressive_ ? Refines(scan) : HoldsAll(scan)) && HasTables(scan) && SkipData(scan);
  }

  int IndexOf(int id) const {
    for (int i = 0; i < count_; ++i) {
      if (components_[i].id == id) return i;
    }
    return -1;
  }

  bool HoldsAll(const Scan& scan) {
    for (int i = 0; i < count_; ++i) components_[i].missing.fill(0);
    return scans_ == 1 && scan.count == count_ && scan.first == 0 && scan.last == kCoefficients - 1 && scan.high == 0 &&
           scan.low == 0;
  }

  // Also notes what the scan brings.
  bool Refines(const Scan& scan) {
    if (scan.last < scan.first || scan.last >= kCoefficients || scan.low > kMostMissingBits) return false;
    if (scan.first == 0 ? scan.last != 0 : scan.count != 1) return false;
    if (scan.high != 0 && scan.high != scan.low + 1) return false;
    for (int i = 0; i < scan.count; ++i) {
      auto& missing = components_[scan.components[i]].missing;
      if (scan.first > 0 && missing[0] < 0) return false;
      for (int k = scan.first; k <= scan.last; ++k) {
        const bool follows = scan.high == 0 ? missing[k] < 0 : missing[k] == scan.high;
        if (!follows) return false;
        missing[k] = static_cast<int8_t>(scan.low);
      }
    }
    return true;
  }

  bool HasTables(const Scan& scan) const {
    for (int i = 0; i < scan.count; ++i) {
      if (Lacks(2, components_[scan.components[i]].quantization)) return false;
      const bool means = scan.first == 0 && scan.high == 0;
      if (means && Lacks(0, scan.tables[i] / 16)) return false;
      if (scan.last > 0 && Lacks(1, scan.tables[i] % 16)) return false;
    }
    return true;
  }

  int64_t UnitsOf(const Scan& scan) const {
    const Sampling largest = components_[0].sampling;
    if (scan.count > 1) return DividedUp(width_, 8 * largest.horizontal) * DividedUp(height_, 8 * largest.vertical);
    const Sampling sampling = components_[scan.components[0]].sampling;
    const int64_t width = DividedUp(int64_t{width_} * sampling.horizontal, largest.horizontal);
    const int64_t height = DividedUp(int64_t{height_} * sampling.vertical, largest.vertical);
    return DividedUp(width, 8) * DividedUp(height, 8);
  }

  // Moves to the marker after the scan's data. In them 0xFF is followed by 0, or is part of a restart marker.
  bool SkipData(const Scan& scan) {
    int64_t restarts = 0;
    while (true) {
      const void* const found = std::memchr(bytes_.data() + at_, 0xFF, bytes_.size() - at_);
      if (found == nullptr) return false;
      at_ = static_cast<size_t>(static_cast<const char*>(found) - bytes_.data());
      if (at_ + 2 > bytes_.size()) return false;
      const auto next = static_cast<uint8_t>(bytes_[at_ + 1]);
      const bool restart = next >= kFirstRestart && next <= kLastRestart;
      if (next != 0 && !restart) break;
      if (restart && next != kFirstRestart + restarts++ % 8) return false;
      at_ += 2;
    }
    return restarts == (interval_ == 0 ? 0 : DividedUp(UnitsOf(scan), interval_) - 1);
  }

  bool IsWhole() const {
    if (scans_ == 0 || (count_ == 3 && adobe_ && adobe_transform_ != 1)) return false;
    for (int i = 0; i < count_; ++i) {
      const auto& missing = components_[i].missing;
      if (std::any_of(missing.begin(), missing.end(), [](int bits) { return bits != 0; })) return false;
    }
    return true;
  }

  const std::string_view bytes_;
  size_t at_ = 0;
  bool progressive_ = false;
  int64_t height_ = 0;
  int64_t width_ = 0;
  int count_ = 0;  // 0: no frame yet
  std::array<Component, 3> components_ = {};
  std::array<bool, size_t{3} * kTables> missing_tables_;
  int interval_ = 0;
  bool adobe_ = false;
  int adobe_transform_ = 0;
  int scans_ = 0;
};

}  // namespace

std::optional<PlainJpeg> FindPlainJpeg(std::string_view bytes) { return Reader(bytes).Read(); }

}  // namespace headrace
