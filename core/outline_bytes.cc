#include "core/outline_bytes.h"

#include <cmath>

#include "core/error.h"
#include "core/varint.h"

namespace headrace {
namespace {

// Says what the bytes are, and in which version.
constexpr uint64_t kOutlinesMark = 0x4f01;
enum OutlineKind : uint64_t { kPolygonOutline = 0, kRunOutline = 1 };

void AppendRuns(const Outline& outline, std::string& bytes) {
  PutVarint(bytes, kRunOutline);
  PutVarint(bytes, static_cast<uint64_t>(outline.runs_height));
  PutVarint(bytes, static_cast<uint64_t>(outline.runs_width));
  PutVarint(bytes, outline.runs.size());
  for (const uint64_t run : outline.runs) PutVarint(bytes, run);
}

void AppendPolygons(const Outline& outline, std::string& bytes) {
  PutVarint(bytes, kPolygonOutline);
  PutVarint(bytes, outline.part_ends.size());
  GridPoint before;
  size_t at = 0;
  for (const size_t end : outline.part_ends) {
    PutVarint(bytes, end - at);
    for (; at < end; ++at) {
      const GridPoint point = outline.points[at];
      PutVarint(bytes, FoldSign(point.x - before.x));
      PutVarint(bytes, FoldSign(point.y - before.y));
      before = point;
    }
  }
}

}  // namespace

void Outline::Clear() {
  points.clear();
  part_ends.clear();
  by_runs = false;
  runs.clear();
  runs_height = 0;
  runs_width = 0;
}

std::optional<int32_t> GridCoordinate(double pixels) {
  const double grid = kOutlineGrid * pixels + 0.5;
  // Not for NaN, either.
  if (!(std::abs(grid) <= kMaxOutlineCoordinate)) return std::nullopt;
  return static_cast<int32_t>(grid);
}

void AppendOutlinesHead(int64_t height, int64_t width, uint64_t objects, std::string& bytes) {
  PutVarint(bytes, kOutlinesMark);
  PutVarint(bytes, static_cast<uint64_t>(height));
  PutVarint(bytes, static_cast<uint64_t>(width));
  PutVarint(bytes, objects);
}

void AppendOutline(const Outline& outline, std::string& bytes) {
  if (outline.by_runs) return AppendRuns(outline, bytes);
  AppendPolygons(outline, bytes);
}

bool OutlineReader::TakeWhole(uint64_t& whole) {
  whole = 0;
  for (int shift = 0; shift < 63; shift += 7) {
    if (left_.empty()) return false;
    const auto byte = static_cast<uint8_t>(left_.front());
    left_.remove_prefix(1);
    whole |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

absl::Status OutlineReader::Damage(std::string_view what) const {
  return DataError("the outlines are damaged: ", what, " at byte ", bytes_.size() - left_.size());
}

absl::Status OutlineReader::ReadHead() {
  uint64_t mark = 0;
  if (!TakeWhole(mark) || mark != kOutlinesMark) {
    return DataError("these ", bytes_.size(), " bytes are not outlines, as headrace.datasets.Coco gives them");
  }
  uint64_t sides[2];
  uint64_t objects = 0;
  if (!TakeWhole(sides[0]) || !TakeWhole(sides[1]) || !TakeWhole(objects)) return Damage("the head is cut off");
  for (const uint64_t side : sides) {
    if (side < 1 || side > kMaxOutlineSide) return Damage("the image's height or width is out of range");
  }
  // An outline has two bytes or more.
  if (objects > left_.size() / 2) return Damage("there are more objects than bytes");
  height_ = static_cast<int64_t>(sides[0]);
  width_ = static_cast<int64_t>(sides[1]);
  objects_ = static_cast<int64_t>(objects);
  return absl::OkStatus();
}

absl::Status OutlineReader::ReadOutline(Outline& outline) {
  outline.Clear();
  uint64_t kind = 0;
  if (!TakeWhole(kind)) return Damage("an outline is missing");
  if (kind == kPolygonOutline) return ReadPolygons(outline);
  if (kind == kRunOutline) return ReadRuns(outline);
  return Damage("an outline is of no known kind");
}

bool OutlineReader::TakeCoordinate(int32_t& coordinate) {
  uint64_t folded = 0;
  if (!TakeWhole(folded) || folded > 4 * static_cast<uint64_t>(kMaxOutlineCoordinate) + 1) return false;
  const int64_t moved = coordinate + UnfoldSign(folded);
  if (moved < -kMaxOutlineCoordinate || moved > kMaxOutlineCoordinate) return false;
  coordinate = static_cast<int32_t>(moved);
  return true;
}

absl::Status OutlineReader::ReadPolygons(Outline& outline) {
  uint64_t parts = 0;
  if (!TakeWhole(parts) || parts > left_.size()) return Damage("there are more polygons than bytes");
  GridPoint point;
  for (uint64_t part = 0; part < parts; ++part) {
    uint64_t points = 0;
    if (!TakeWhole(points) || points > left_.size() / 2) return Damage("there are more points than bytes");
    for (uint64_t i = 0; i < points; ++i) {
      if (!TakeCoordinate(point.x) || !TakeCoordinate(point.y)) return Damage("a point is cut off or out of range");
      outline.points.push_back(point);
    }
    outline.part_ends.push_back(outline.points.size());
  }
  return absl::OkStatus();
}

absl::Status OutlineReader::ReadRuns(Outline& outline) {
  uint64_t height = 0;
  uint64_t width = 0;
  uint64_t count = 0;
  if (!TakeWhole(height) || !TakeWhole(width) || !TakeWhole(count)) return Damage("runs are cut off");
  if (height != static_cast<uint64_t>(height_) || width != static_cast<uint64_t>(width_)) {
    return Damage("runs are of another height or width than the image's");
  }
  if (count > left_.size()) return Damage("there are more runs than bytes");
  const uint64_t pixels = height * width;
  uint64_t covered = 0;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t run = 0;
    if (!TakeWhole(run) || run > pixels - covered) return Damage("runs go beyond the image");
    covered += run;
    outline.runs.push_back(run);
  }
  outline.by_runs = true;
  outline.runs_height = height_;
  outline.runs_width = width_;
  return absl::OkStatus();
}

absl::Status OutlineReader::CheckEnd() const {
  return left_.empty() ? absl::OkStatus() : Damage("there are bytes after the last outline");
}

}  // namespace headrace
