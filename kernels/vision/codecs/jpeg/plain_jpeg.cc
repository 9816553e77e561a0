#include "kernels/vision/codecs/jpeg/plain_jpeg.h"

#include <algorithm>
#include <array>

#include "kernels/vision/codecs/jpeg/own/marker_reader.h"

namespace headrace {
namespace {

using jpeg::DividedUp;
using jpeg::FrameHeader;
using jpeg::kCoefficients;
using jpeg::kTables;
using jpeg::MarkerReader;
using jpeg::ScanHeader;
using jpeg::Segment;

// As many as libjpeg reads of an image of any content.
constexpr int kMostScans = 15;
constexpr int kMostMissingBits = 13;

struct Sampling {
  int horizontal = 0;
  int vertical = 0;

  friend bool operator==(const Sampling&, const Sampling&) = default;
};

// Of the luma, where both chromas are 1x1.
constexpr Sampling kColourSamplings[] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}, {4, 2}};

// The places of a scan's components in the frame.
using Indices = std::array<int, 3>;

class PlainReader {
 public:
  explicit PlainReader(std::string_view bytes) : reader_(bytes) {
    missing_tables_.fill(true);
    for (auto& missing : missing_) missing.fill(-1);
  }

  std::optional<PlainJpeg> Read() {
    if (reader_.NextMarker() != jpeg::kBegin) return std::nullopt;
    while (true) {
      const std::optional<uint8_t> marker = reader_.NextMarker();
      if (marker == jpeg::kEnd) break;
      const std::optional<Segment> segment = marker.has_value() ? reader_.NextSegment() : std::nullopt;
      if (!segment.has_value() || !TakeSegment(*marker, *segment)) return std::nullopt;
    }
    if (!IsWhole()) return std::nullopt;
    return PlainJpeg{reader_.bytes().substr(0, reader_.at()), frame_.height, frame_.width, frame_.count};
  }

 private:
  bool TakeSegment(uint8_t marker, Segment segment) {
    switch (marker) {
      case jpeg::kBaseline:
      case jpeg::kExtended:
      case jpeg::kProgressive:
        progressive_ = marker == jpeg::kProgressive;
        return TakeFrame(segment);
      case jpeg::kHuffmanTables:
        return TakeHuffmanTables(segment);
      case jpeg::kQuantizationTables:
        return TakeQuantizationTables(segment);
      case jpeg::kRestartInterval:
        interval_ = segment.Word();
        return segment.EndsHere();
      case jpeg::kScan:
        return TakeScan(segment);
      case jpeg::kAdobe:
        TakeAdobe(segment);
        return true;
      default:
        return jpeg::IsRemark(marker);
    }
  }

  bool TakeFrame(Segment segment) {
    const std::optional<FrameHeader> frame = jpeg::ReadFrameHeader(segment);
    if (frame_.count != 0 || !frame.has_value()) return false;
    frame_ = *frame;
    return int64_t{frame->height} * frame->width <= kMostPlainPixels && HasCommonSampling() &&
           !frame->HasColoursAsIds();
  }

  Sampling SamplingOf(int component) const {
    return {frame_.components[component].horizontal, frame_.components[component].vertical};
  }

  bool HasCommonSampling() const {
    constexpr Sampling kSingle = {1, 1};
    if (frame_.count == 1) return SamplingOf(0) == kSingle;
    if (SamplingOf(1) != kSingle || SamplingOf(2) != kSingle) return false;
    const auto* const end = std::end(kColourSamplings);
    return std::find(std::begin(kColourSamplings), end, SamplingOf(0)) != end;
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

  bool TakeHuffmanTables(Segment segment) {
    while (!segment.empty()) {
      const int which = segment.Byte();
      int symbols = 0;
      for (int length = 1; length <= 16; ++length) symbols += segment.Byte();
      segment.Skip(symbols);
      if (which / 16 > 1 || !Found(which / 16, which % 16)) return false;
    }
    return segment.EndsHere();
  }

  bool TakeQuantizationTables(Segment segment) {
    while (!segment.empty()) {
      const int which = segment.Byte();
      segment.Skip(kCoefficients * (which / 16 + 1));
      if (which / 16 > 1 || !Found(2, which % 16)) return false;
    }
    return segment.EndsHere();
  }

  void TakeAdobe(Segment segment) {
    constexpr int kBeforeTransform = 6;
    if (!segment.rest().starts_with("Adobe")) return;
    segment.Skip(5 + kBeforeTransform);
    adobe_transform_ = segment.Byte();
    adobe_ = true;
  }

  bool TakeScan(Segment segment) {
    const std::optional<ScanHeader> scan = jpeg::ReadScanHeader(segment);
    if (frame_.count == 0 || ++scans_ > kMostScans || !scan.has_value()) return false;
    Indices components = {};
    for (int i = 0; i < scan->count; ++i) {
      components[i] = frame_.IndexOf(scan->ids[i]);
      // In the frame's order, each once.
      if (components[i] <= (i == 0 ? -1 : components[i - 1])) return false;
    }
    return (progressive_ ? Refines(*scan, components) : HoldsAll(*scan)) && HasTables(*scan, components) &&
           PassData(*scan, components);
  }

  bool HoldsAll(const ScanHeader& scan) {
    for (auto& missing : missing_) missing.fill(0);
    return scans_ == 1 && scan.count == frame_.count && scan.IsSequential();
  }

  // Also notes what the scan brings.
  bool Refines(const ScanHeader& scan, const Indices& components) {
    if (scan.last < scan.first || scan.last >= kCoefficients || scan.low > kMostMissingBits) return false;
    if (scan.first == 0 ? scan.last != 0 : scan.count != 1) return false;
    if (scan.high != 0 && scan.high != scan.low + 1) return false;
    for (int i = 0; i < scan.count; ++i) {
      auto& missing = missing_[components[i]];
      if (scan.first > 0 && missing[0] < 0) return false;
      for (int k = scan.first; k <= scan.last; ++k) {
        const bool follows = scan.high == 0 ? missing[k] < 0 : missing[k] == scan.high;
        if (!follows) return false;
        missing[k] = static_cast<int8_t>(scan.low);
      }
    }
    return true;
  }

  bool HasTables(const ScanHeader& scan, const Indices& components) const {
    for (int i = 0; i < scan.count; ++i) {
      if (Lacks(2, frame_.components[components[i]].quantization)) return false;
      const bool means = scan.first == 0 && scan.high == 0;
      if (means && Lacks(0, scan.means[i])) return false;
      if (scan.last > 0 && Lacks(1, scan.others[i])) return false;
    }
    return true;
  }

  int64_t UnitsOf(const ScanHeader& scan, const Indices& components) const {
    const Sampling largest = SamplingOf(0);
    if (scan.count > 1) {
      return DividedUp(frame_.width, 8 * largest.horizontal) * DividedUp(frame_.height, 8 * largest.vertical);
    }
    const Sampling sampling = SamplingOf(components[0]);
    const int64_t width = DividedUp(int64_t{frame_.width} * sampling.horizontal, largest.horizontal);
    const int64_t height = DividedUp(int64_t{frame_.height} * sampling.vertical, largest.vertical);
    return DividedUp(width, 8) * DividedUp(height, 8);
  }

  bool PassData(const ScanHeader& scan, const Indices& components) {
    const int64_t announced = interval_ == 0 ? 0 : DividedUp(UnitsOf(scan, components), interval_) - 1;
    return reader_.PassData() == announced;
  }

  bool IsWhole() const {
    if (scans_ == 0 || (frame_.count == 3 && adobe_ && adobe_transform_ != 1)) return false;
    return std::all_of(missing_.begin(), missing_.begin() + frame_.count, [](const auto& missing) {
      return std::all_of(missing.begin(), missing.end(), [](int bits) { return bits == 0; });
    });
  }

  MarkerReader reader_;
  FrameHeader frame_;  // without components: none yet
  bool progressive_ = false;
  // For each coefficient of a component the number of its low bits that no scan had yet; -1: all.
  std::array<std::array<int8_t, kCoefficients>, 3> missing_;
  std::array<bool, size_t{3} * kTables> missing_tables_;
  int interval_ = 0;
  bool adobe_ = false;
  int adobe_transform_ = 0;
  int scans_ = 0;
};

}  // namespace

std::optional<PlainJpeg> FindPlainJpeg(std::string_view bytes) { return PlainReader(bytes).Read(); }

}  // namespace headrace
