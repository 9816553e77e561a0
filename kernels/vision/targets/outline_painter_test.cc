#include "kernels/vision/targets/outline_painter.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// x and y in turn.
using Polygon = std::vector<double>;

Outline OutlineOf(const std::vector<Polygon>& polygons) {
  Outline outline;
  for (const Polygon& polygon : polygons) {
    for (size_t i = 0; i + 1 < polygon.size(); i += 2) {
      outline.points.push_back({*GridCoordinate(polygon[i]), *GridCoordinate(polygon[i + 1])});
    }
    outline.part_ends.push_back(outline.points.size());
  }
  return outline;
}

// The lengths of the runs column by column, of which the first is outside.
std::vector<uint64_t> RunsIn(const std::vector<uint8_t>& mask, int64_t height, int64_t width) {
  std::vector<uint64_t> runs = {0};
  uint8_t before = 0;
  for (int64_t x = 0; x < width; ++x) {
    for (int64_t y = 0; y < height; ++y) {
      const uint8_t pixel = mask[static_cast<size_t>(y * width + x)];
      if (pixel != before) runs.push_back(0);
      ++runs.back();
      before = pixel;
    }
  }
  return runs;
}

std::vector<uint64_t> PaintedRuns(const Outline& outline, int64_t height, int64_t width) {
  OutlinePainter painter = *OutlinePainter::Make(height, width, -1);
  std::vector<uint8_t> mask(static_cast<size_t>(height * width), 0);
  EXPECT_TRUE(painter.Paint(outline, uint8_t{1}, mask.data()).ok());
  // What is painted next is not changed by what was painted before.
  std::vector<uint8_t> again(mask.size(), 0);
  EXPECT_TRUE(painter.Paint(outline, uint8_t{1}, again.data()).ok());
  EXPECT_EQ(mask, again);
  return RunsIn(mask, height, width);
}

std::vector<uint64_t> SquareRuns(const Polygon& polygon, int64_t side) {
  return PaintedRuns(OutlineOf({polygon}), side, side);
}

TEST(OutlinePainter, PaintsPolygonsByTheirDefinition) {
  EXPECT_THAT(SquareRuns({1, 1, 3, 1, 3, 3, 1, 3}, 5), ElementsAre(6, 2, 3, 2, 12));
  EXPECT_THAT(SquareRuns({0.5, 0.5, 2.5, 0.5, 2.5, 2.5, 0.5, 2.5}, 4), ElementsAre(5, 2, 2, 2, 5));
  EXPECT_THAT(SquareRuns({0, 0, 4, 0, 0, 4}, 5), ElementsAre(0, 3, 2, 2, 3, 1, 14));
  EXPECT_THAT(SquareRuns({-2, -2, 3, -2, 3, 3, -2, 3}, 4), ElementsAre(0, 3, 1, 3, 1, 3, 5));
  EXPECT_THAT(SquareRuns({1, 1, 1, 3, 1, 3}, 4), ElementsAre(16));
  EXPECT_THAT(SquareRuns({1.2, 0.7, 3.6, 1.1, 2.9, 3.8}, 5), ElementsAre(11, 2, 3, 1, 8));
}

TEST(OutlinePainter, PaintsNothingOfOutlinesWithoutArea) {
  EXPECT_THAT(PaintedRuns(OutlineOf({}), 3, 4), ElementsAre(12));
  EXPECT_THAT(PaintedRuns(OutlineOf({{}, {1, 1}, {0, 0, 3, 3}}), 3, 4), ElementsAre(12));
}

TEST(OutlinePainter, JoinsThePartsOfAnObject) {
  const Polygon left = {0, 0, 2, 0, 2, 2, 0, 2};
  const Polygon right = {1, 0, 3, 0, 3, 2, 1, 2};
  // Where both are stays painted.
  EXPECT_THAT(PaintedRuns(OutlineOf({left, right}), 3, 3), ElementsAre(0, 2, 1, 2, 1, 2, 1));
}

Outline OfRuns(std::vector<uint64_t> runs) {
  Outline outline;
  outline.by_runs = true;
  outline.runs = std::move(runs);
  return outline;
}

TEST(OutlinePainter, PaintsRunsColumnByColumn) {
  EXPECT_THAT(PaintedRuns(OfRuns({1, 4, 4, 3}), 3, 4), ElementsAre(1, 4, 4, 3));
  EXPECT_THAT(PaintedRuns(OfRuns({0, 12}), 3, 4), ElementsAre(0, 12));
  EXPECT_THAT(PaintedRuns(OfRuns({12}), 3, 4), ElementsAre(12));
  // What the runs do not reach is outside, and runs may be empty.
  EXPECT_THAT(PaintedRuns(OfRuns({2, 3}), 3, 4), ElementsAre(2, 3, 7));
  EXPECT_THAT(PaintedRuns(OfRuns({2, 3, 1}), 3, 4), ElementsAre(2, 3, 7));
  EXPECT_THAT(PaintedRuns(OfRuns({2, 1, 0, 2, 0}), 3, 4), ElementsAre(2, 3, 7));
  EXPECT_THAT(PaintedRuns(OfRuns({}), 3, 4), ElementsAre(12));
}

TEST(OutlinePainter, PaintsWithAValueAndLeavesOtherPixels) {
  OutlinePainter painter = *OutlinePainter::Make(2, 3, 100);
  std::vector<int32_t> image = {9, 9, 9, 9, 9, 9};
  EXPECT_TRUE(painter.Paint(OutlineOf({{0, 0, 2, 0, 2, 1, 0, 1}}), int32_t{1000}, image.data()).ok());
  EXPECT_TRUE(painter.Paint(OfRuns({3, 2, 1}), int32_t{7}, image.data()).ok());
  EXPECT_THAT(image, ElementsAre(1000, 1000, 7, 9, 7, 9));
}

// Work and memory follow the image's size, however far the points lie.
TEST(OutlinePainter, WalksOnlyWhereTheImageIs) {
  const double far = (kMaxOutlineCoordinate - 1.0) / kOutlineGrid;
  EXPECT_THAT(SquareRuns({-far, -far, far, -far, far, far, -far, far}, 5), ElementsAre(0, 25));
  EXPECT_THAT(SquareRuns({2, -far, 3, far, 3, -far}, 5), ElementsAre(25));
}

TEST(OutlinePainter, RefusesWorkBeyondItsLimit) {
  std::vector<uint8_t> mask(25);
  const Outline square = OutlineOf({{0, 0, 5, 0, 5, 5, 0, 5}});
  OutlinePainter enough = *OutlinePainter::Make(5, 5, 35);
  EXPECT_TRUE(enough.Paint(square, uint8_t{1}, mask.data()).ok());
  const absl::Status more = enough.Paint(square, uint8_t{1}, mask.data());
  EXPECT_EQ(KindOf(more), ErrorKind::kData);
  EXPECT_THAT(std::string(more.message()), HasSubstr("max_pixels = 35"));
}

// pycocotools gives the same pixels of 200 random polygons (outline_painter_golden.py).
TEST(OutlinePainter, PaintsTheSamePixelsAsCocosOwnTools) {
  std::ifstream file("kernels/vision/targets/testdata/painted_outlines.txt");
  ASSERT_TRUE(file.is_open());
  int shapes = 0;
  for (std::string line; std::getline(file, line); ++shapes) {
    SCOPED_TRACE(line);
    const size_t first = line.find('|');
    const size_t second = line.rfind('|');
    int64_t height = 0;
    int64_t width = 0;
    std::istringstream(line.substr(0, first)) >> height >> width;
    std::vector<Polygon> polygons(1);
    std::istringstream words(line.substr(first + 1, second - first - 1));
    for (std::string word; words >> word;) {
      if (word == "/") {
        polygons.emplace_back();
      } else {
        polygons.back().push_back(std::stod(word));
      }
    }
    std::vector<uint64_t> expected;
    std::istringstream runs(line.substr(second + 1));
    for (uint64_t run = 0; runs >> run;) expected.push_back(run);
    ASSERT_EQ(PaintedRuns(OutlineOf(polygons), height, width), expected);
  }
  EXPECT_EQ(shapes, 200);
}

TEST(OutlinePainter, CountsThePixelsThatOneRunCovers) {
  Outline outline;
  outline.by_runs = true;
  outline.runs = {0, 100};
  std::vector<uint8_t> mask(100, 0);
  OutlinePainter painter = *OutlinePainter::Make(10, 10, 150);
  EXPECT_TRUE(painter.Paint(outline, uint8_t{1}, mask.data()).ok());
  EXPECT_THAT(mask, testing::Each(1));
  EXPECT_THAT(std::string(painter.Paint(outline, uint8_t{1}, mask.data()).message()), HasSubstr("max_pixels = 150"));
}

}  // namespace
}  // namespace headrace
