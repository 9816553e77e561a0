#include "core/outline_bytes.h"

#include <cmath>
#include <limits>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Outline TwoTriangles() {
  Outline outline;
  outline.points = {{0, 0}, {20, 0}, {20, 15}, {-7, 3}, {9, 300}, {kMaxOutlineCoordinate, -kMaxOutlineCoordinate}};
  outline.part_ends = {3, 6};
  return outline;
}

Outline RunsOf(std::vector<uint64_t> runs, int64_t height, int64_t width) {
  Outline outline;
  outline.by_runs = true;
  outline.runs = std::move(runs);
  outline.runs_height = height;
  outline.runs_width = width;
  return outline;
}

TEST(OutlineBytes, GivesOutlinesBackAsTheyWere) {
  std::string bytes;
  AppendOutlinesHead(4, 300, 3, bytes);
  AppendOutline(TwoTriangles(), bytes);
  AppendOutline(RunsOf({0, 300, 100}, 4, 300), bytes);
  AppendOutline({}, bytes);

  OutlineReader reader(bytes);
  ASSERT_TRUE(reader.ReadHead().ok());
  EXPECT_EQ(reader.height(), 4);
  EXPECT_EQ(reader.width(), 300);
  ASSERT_EQ(reader.objects(), 3);
  Outline outline;
  ASSERT_TRUE(reader.ReadOutline(outline).ok());
  EXPECT_EQ(outline.points, TwoTriangles().points);
  EXPECT_THAT(outline.part_ends, ElementsAre(3, 6));
  EXPECT_FALSE(outline.by_runs);
  ASSERT_TRUE(reader.ReadOutline(outline).ok());
  EXPECT_TRUE(outline.by_runs);
  EXPECT_THAT(outline.runs, ElementsAre(0, 300, 100));
  EXPECT_THAT(outline.points, IsEmpty());
  ASSERT_TRUE(reader.ReadOutline(outline).ok());
  EXPECT_FALSE(outline.by_runs);
  EXPECT_THAT(outline.part_ends, IsEmpty());
  EXPECT_TRUE(reader.CheckEnd().ok());
}

TEST(OutlineBytes, RoundsCoordinatesTowardZeroAfterHalfAStep) {
  EXPECT_EQ(GridCoordinate(1), 5);
  EXPECT_EQ(GridCoordinate(0.1), 1);
  EXPECT_EQ(GridCoordinate(0.09), 0);
  EXPECT_EQ(GridCoordinate(-0.2), 0);
  EXPECT_EQ(GridCoordinate(-1), -4);
  EXPECT_EQ(GridCoordinate(1e9), std::nullopt);
  EXPECT_EQ(GridCoordinate(-1e300), std::nullopt);
  EXPECT_EQ(GridCoordinate(std::numeric_limits<double>::quiet_NaN()), std::nullopt);
}

// Every shorter run of the bytes is damage, not other outlines.
TEST(OutlineBytes, RefusesBytesThatAreCutOff) {
  std::string bytes;
  AppendOutlinesHead(4, 100, 2, bytes);
  AppendOutline(TwoTriangles(), bytes);
  AppendOutline(RunsOf({300, 100}, 4, 100), bytes);
  for (size_t size = 0; size < bytes.size(); ++size) {
    OutlineReader reader(std::string_view(bytes).substr(0, size));
    absl::Status status = reader.ReadHead();
    Outline outline;
    for (int i = 0; i < 2 && status.ok(); ++i) status = reader.ReadOutline(outline);
    EXPECT_EQ(KindOf(status), ErrorKind::kData) << size;
  }
}

TEST(OutlineBytes, RefusesRunsThatDoNotFitTheImage) {
  const auto read = [](const Outline& outline) {
    std::string bytes;
    AppendOutlinesHead(4, 100, 1, bytes);
    AppendOutline(outline, bytes);
    OutlineReader reader(bytes);
    EXPECT_TRUE(reader.ReadHead().ok());
    Outline read;
    return reader.ReadOutline(read);
  };
  EXPECT_TRUE(read(RunsOf({399, 1}, 4, 100)).ok());
  EXPECT_THAT(std::string(read(RunsOf({399, 2}, 4, 100)).message()), HasSubstr("beyond the image"));
  EXPECT_THAT(std::string(read(RunsOf({1}, 100, 4)).message()), HasSubstr("another height or width"));
}

TEST(OutlineBytes, RefusesClaimsThatTheBytesCannotHold) {
  std::string bytes;
  AppendOutlinesHead(4, 100, 1'000'000, bytes);
  EXPECT_EQ(KindOf(OutlineReader(bytes).ReadHead()), ErrorKind::kData);
  EXPECT_EQ(KindOf(OutlineReader("no outlines").ReadHead()), ErrorKind::kData);
  EXPECT_EQ(KindOf(OutlineReader("").ReadHead()), ErrorKind::kData);
}

}  // namespace
}  // namespace headrace
