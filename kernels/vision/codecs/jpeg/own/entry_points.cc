#include "kernels/vision/codecs/jpeg/own/entry_points.h"

#include <algorithm>
#include <cstring>

#include "core/hash.h"
#include "core/varint.h"
#include "kernels/vision/codecs/jpeg/own/file_checksum.h"

namespace headrace::jpeg {
namespace {

// Of notes: a version, a checksum of eight bytes, and the points: for each, the differences from the point before, as
// varints: of its bit, and of each component's mean value, which has its sign in the lowest bit.
constexpr char kVersion = 2;
constexpr size_t kChecksumBytes = sizeof(uint64_t);
constexpr size_t kHeadBytes = 1 + kChecksumBytes;
// Mean values of faultless data are less far apart.
constexpr int64_t kMostMeanDifference = int64_t{1} << 29;

// Nullopt: it does not end there, or is larger than any in notes.
std::optional<uint64_t> TakeVarint(std::string_view bytes, size_t& at) {
  uint64_t value = 0;
  for (int shift = 0; shift <= 42 && at < bytes.size(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes[at++]);
    value |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

}  // namespace

int64_t EntryPoints::PointAfter(int64_t mcu) const {
  const int64_t row_end = (mcu / mcus_per_row_ + 1) * mcus_per_row_;
  return std::min(mcu + kEvery, row_end);
}

std::optional<EntryPoint> EntryPoints::Read(const EntryPoint& before, size_t& at) const {
  EntryPoint point = before;
  point.mcu = PointAfter(before.mcu);
  const std::optional<uint64_t> bits = TakeVarint(points_, at);
  if (!bits.has_value() || *bits > bits_ - before.bit || point.mcu >= mcus_) return std::nullopt;
  point.bit += *bits;
  for (int i = 0; i < count_; ++i) {
    const std::optional<uint64_t> coded = TakeVarint(points_, at);
    if (!coded.has_value()) return std::nullopt;
    const int64_t mean = point.means[static_cast<size_t>(i)] + UnfoldSign(*coded);
    if (mean <= -kMostMeanDifference || mean >= kMostMeanDifference) return std::nullopt;
    point.means[static_cast<size_t>(i)] = static_cast<int32_t>(mean);
  }
  return point;
}

void EntryPoints::Clear(const SequentialJpeg& jpeg) {
  file_ = jpeg.bytes;
  count_ = jpeg.count;
  mcus_per_row_ = jpeg.mcus_per_row();
  mcus_ = mcus_per_row_ * jpeg.mcu_rows();
  bits_ = (jpeg.bytes.size() - jpeg.data) * 8;
  checksum_ = std::nullopt;
  points_.clear();
  known_bytes_ = found_end_ = 0;
  last_known_ = last_ = found_ = {};
  missing_ = PointAfter(0);
}

bool EntryPoints::Begin(const SequentialJpeg& jpeg, std::string_view notes, std::optional<uint64_t> known) {
  Clear(jpeg);
  checksum_ = known;
  if (notes.size() < kHeadBytes || notes[0] != kVersion) return false;
  uint64_t checksum = 0;
  std::memcpy(&checksum, notes.data() + 1, kChecksumBytes);
  const uint64_t of_file = known.has_value() ? *known : FileChecksum(file_);
  notes.remove_prefix(kHeadBytes);
  const bool taken = checksum == HashBytes(notes, of_file) && BeginUnchecked(jpeg, notes);
  checksum_ = of_file;
  return taken;
}

bool EntryPoints::BeginUnchecked(const SequentialJpeg& jpeg, std::string_view points) {
  Clear(jpeg);
  points_.assign(points);
  EntryPoint last;
  for (size_t at = 0; at < points_.size();) {
    const std::optional<EntryPoint> next = Read(last, at);
    if (!next.has_value()) {
      points_.clear();
      return false;
    }
    last = *next;
  }
  last_known_ = last_ = last;
  known_bytes_ = points_.size();
  missing_ = PointAfter(last.mcu);
  return true;
}

const EntryPoint& EntryPoints::FindUpTo(int64_t mcu) {
  while (found_end_ < known_bytes_ && PointAfter(found_.mcu) <= mcu) found_ = *Read(found_, found_end_);
  return found_;
}

void EntryPoints::Add(const EntryPoint& point) {
  PutVarint(points_, point.bit - last_.bit);
  for (size_t i = 0; i < static_cast<size_t>(count_); ++i) {
    PutVarint(points_, FoldSign(int64_t{point.means[i]} - last_.means[i]));
  }
  last_ = point;
  missing_ = PointAfter(point.mcu);
}

std::string_view EntryPoints::Notes() {
  if (!checksum_.has_value()) checksum_ = FileChecksum(file_);
  const uint64_t checksum = HashBytes(points_, *checksum_);
  notes_.assign(1, kVersion);
  notes_.append(reinterpret_cast<const char*>(&checksum), kChecksumBytes);
  notes_.append(points_);
  return notes_;
}

void EntryPoints::KeepLittle() {
  file_ = {};
  if (points_.capacity() + notes_.capacity() <= kMostBytesKept) return;
  points_ = {};
  notes_ = {};
}

}  // namespace headrace::jpeg
