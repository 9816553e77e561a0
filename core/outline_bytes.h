// `OutlineBytes` are the outlines of the objects of one image as bytes, which travel as a column until masks are asked
// for. An outline is polygons, on the grid that rasterization rounds to, or the runs of a mask. `AppendOutline` and
// `AppendOutlinesHead` write them, `OutlineReader` reads bytes that nobody has checked.
// Threads: pure functions; an OutlineReader belongs to one thread at a time.
#ifndef HEADRACE_CORE_OUTLINE_BYTES_H_
#define HEADRACE_CORE_OUTLINE_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace headrace {

// The steps of the grid in a pixel.
inline constexpr int32_t kOutlineGrid = 5;
// The farthest coordinate on the grid: three million pixels beyond the image's corner.
inline constexpr int32_t kMaxOutlineCoordinate = 1 << 24;
// Of an image with outlines.
inline constexpr int64_t kMaxOutlineSide = 1 << 20;

struct GridPoint {
  int32_t x = 0;
  int32_t y = 0;
  bool operator==(const GridPoint&) const = default;
};

// Made once and filled for many objects, so that its memory is used again.
struct Outline {
  // Polygons, which are closed: part i ends before point part_ends[i]. An outline without parts is empty.
  std::vector<GridPoint> points;
  std::vector<size_t> part_ends;
  // Or the lengths of runs, column by column, of which the first is outside.
  bool by_runs = false;
  std::vector<uint64_t> runs;
  int64_t runs_height = 0;
  int64_t runs_width = 0;

  void Clear();
};

// A coordinate in pixels, rounded to the grid; nullopt: not a number, or beyond kMaxOutlineCoordinate.
std::optional<int32_t> GridCoordinate(double pixels);

// What the outlines of an image begin with; `objects` outlines follow.
void AppendOutlinesHead(int64_t height, int64_t width, uint64_t objects, std::string& bytes);
void AppendOutline(const Outline& outline, std::string& bytes);

class OutlineReader {
 public:
  // `bytes` must outlive it.
  explicit OutlineReader(std::string_view bytes) : bytes_(bytes), left_(bytes) {}

  // First. kData: these are not outlines, or their head claims more than the bytes can hold.
  absl::Status ReadHead();
  int64_t height() const { return height_; }
  int64_t width() const { return width_; }
  int64_t objects() const { return objects_; }
  // The next of objects(). kData: it is damaged, or has runs that are not those of height() and width().
  absl::Status ReadOutline(Outline& outline);
  // Last. kData: there are bytes after the outlines.
  absl::Status CheckEnd() const;

 private:
  bool TakeWhole(uint64_t& whole);
  bool TakeCoordinate(int32_t& coordinate);
  absl::Status ReadPolygons(Outline& outline);
  absl::Status ReadRuns(Outline& outline);
  absl::Status Damage(std::string_view what) const;

  std::string_view bytes_;
  std::string_view left_;
  int64_t height_ = 0;
  int64_t width_ = 0;
  int64_t objects_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_CORE_OUTLINE_BYTES_H_
