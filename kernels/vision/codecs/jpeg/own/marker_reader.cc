#include "kernels/vision/codecs/jpeg/own/marker_reader.h"

#include <algorithm>
#include <cstring>

namespace headrace::jpeg {

int Segment::Byte() {
  if (bytes_.empty()) {
    short_ = true;
    return 0;
  }
  const int value = static_cast<uint8_t>(bytes_.front());
  bytes_.remove_prefix(1);
  return value;
}

int Segment::Word() {
  const int high = Byte();
  return high * 256 + Byte();
}

void Segment::Skip(int count) {
  if (static_cast<size_t>(count) > bytes_.size()) short_ = true;
  bytes_.remove_prefix(std::min(static_cast<size_t>(count), bytes_.size()));
}

bool FrameHeader::HasColoursAsIds() const {
  return count == 3 && components[0].id == 'R' && components[1].id == 'G' && components[2].id == 'B';
}

int FrameHeader::IndexOf(int id) const {
  for (int i = 0; i < count; ++i) {
    if (components[static_cast<size_t>(i)].id == id) return i;
  }
  return -1;
}

std::optional<FrameHeader> ReadFrameHeader(Segment segment) {
  constexpr int kBits = 8;
  if (segment.Byte() != kBits) return std::nullopt;
  FrameHeader frame;
  frame.height = segment.Word();
  frame.width = segment.Word();
  frame.count = segment.Byte();
  if (frame.height == 0 || frame.width == 0 || (frame.count != 1 && frame.count != 3)) return std::nullopt;
  for (int i = 0; i < frame.count; ++i) {
    FrameHeader::Component& component = frame.components[static_cast<size_t>(i)];
    component.id = segment.Byte();
    const int factors = segment.Byte();
    component.horizontal = factors / 16;
    component.vertical = factors % 16;
    component.quantization = segment.Byte();
  }
  if (!segment.EndsHere()) return std::nullopt;
  return frame;
}

std::optional<ScanHeader> ReadScanHeader(Segment segment) {
  ScanHeader scan;
  scan.count = segment.Byte();
  if (scan.count < 1 || scan.count > static_cast<int>(scan.ids.size())) return std::nullopt;
  for (size_t i = 0; i < static_cast<size_t>(scan.count); ++i) {
    scan.ids[i] = segment.Byte();
    const int tables = segment.Byte();
    scan.means[i] = tables / 16;
    scan.others[i] = tables % 16;
  }
  scan.first = segment.Byte();
  scan.last = segment.Byte();
  const int bits = segment.Byte();
  scan.high = bits / 16;
  scan.low = bits % 16;
  if (!segment.EndsHere()) return std::nullopt;
  return scan;
}

std::optional<uint8_t> MarkerReader::NextMarker() {
  if (at_ + 2 > bytes_.size() || bytes_[at_] != '\xFF') return std::nullopt;
  at_ += 2;
  return static_cast<uint8_t>(bytes_[at_ - 1]);
}

std::optional<Segment> MarkerReader::NextSegment() {
  constexpr size_t kLengthBytes = 2;
  const size_t length = static_cast<size_t>(Segment(bytes_.substr(at_)).Word());
  if (length < kLengthBytes || length > bytes_.size() - at_) return std::nullopt;
  const Segment segment(bytes_.substr(at_ + kLengthBytes, length - kLengthBytes));
  at_ += length;
  return segment;
}

// In the data 0xFF is followed by 0, or is part of a restart marker.
std::optional<int64_t> MarkerReader::PassData() {
  int64_t restarts = 0;
  while (true) {
    const void* const found = std::memchr(bytes_.data() + at_, 0xFF, bytes_.size() - at_);
    if (found == nullptr) return std::nullopt;
    at_ = static_cast<size_t>(static_cast<const char*>(found) - bytes_.data());
    if (at_ + 2 > bytes_.size()) return std::nullopt;
    const auto next = static_cast<uint8_t>(bytes_[at_ + 1]);
    const bool restart = next >= kFirstRestart && next <= kLastRestart;
    if (next != 0 && !restart) return restarts;
    if (restart && next != kFirstRestart + restarts++ % 8) return std::nullopt;
    at_ += 2;
  }
}

}  // namespace headrace::jpeg
