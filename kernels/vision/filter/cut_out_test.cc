#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/testing/chi_square.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/value.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/row_axes.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Golden;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

constexpr int64_t kSide = 6;
constexpr int64_t kLength = 3;
constexpr int64_t kCorners = kSide + kLength + 1;

// Which of kSide × kSide pixels are filled.
std::vector<bool> FilledCutOut(const RowRandom& random, int64_t patches = 1) {
  static const Tensor image = [] {
    Tensor zeros = *Tensor::Allocate(DType::kInt16, {kSide, kSide});
    std::fill_n(zeros.mutable_raw(), zeros.bytes(), 0);
    return zeros;
  }();
  const fixture::Given given = {
      {"length", ir::IntValue(kLength)}, {"patches", ir::IntValue(patches)}, {"value", ir::IntValue(-7)}};
  const Tensor output = *RunKernel("CutOut", given, {image}, random);
  std::vector<bool> filled;
  for (int64_t i = 0; i < kSide * kSide; ++i) filled.push_back(output.data<int16_t>()[i] == -7);
  return filled;
}

// The pixels of the square with this corner.
std::vector<bool> Square(int64_t top, int64_t left) {
  std::vector<bool> filled(kSide * kSide);
  for (int64_t y = std::max<int64_t>(top, 0); y < std::min(top + kLength, kSide); ++y) {
    for (int64_t x = std::max<int64_t>(left, 0); x < std::min(left + kLength, kSide); ++x) {
      filled[static_cast<size_t>(y * kSide + x)] = true;
    }
  }
  return filled;
}

TEST(CutOut, TakesEveryCornerAlike) {
  if (!kCountsChances) GTEST_SKIP();
  constexpr int64_t kDraws = 20000;
  // Squares that miss the image on any side look alike.
  std::vector<std::vector<bool>> looks;
  std::vector<double> expected;
  for (int64_t top = -kLength; top <= kSide; ++top) {
    for (int64_t left = -kLength; left <= kSide; ++left) {
      const std::vector<bool> square = Square(top, left);
      const auto found = std::find(looks.begin(), looks.end(), square);
      if (found == looks.end()) {
        looks.push_back(square);
        expected.push_back(0);
      }
      expected[static_cast<size_t>(std::find(looks.begin(), looks.end(), square) - looks.begin())] +=
          static_cast<double>(kDraws) / (kCorners * kCorners);
    }
  }
  for (const fixture::RowAxis& axis : fixture::kRowAxes) {
    std::vector<int64_t> counts(looks.size());
    for (uint64_t number = 0; number < kDraws; ++number) {
      const auto found = std::find(looks.begin(), looks.end(), FilledCutOut(axis.stream(number)));
      ASSERT_NE(found, looks.end());
      ++counts[static_cast<size_t>(found - looks.begin())];
    }
    EXPECT_LT(std::abs(ChiSquareDeviation(counts, expected)), kMostDeviation) << axis.name;
  }
}

TEST(CutOut, FillsSeveralSquares) {
  size_t most = 0;
  for (uint64_t row = 0; row < 200; ++row) {
    const std::vector<bool> filled = FilledCutOut(RowRandom(1, 2, {.key = row}), 3);
    most = std::max(most, static_cast<size_t>(std::count(filled.begin(), filled.end(), true)));
  }
  EXPECT_GT(most, static_cast<size_t>(kLength * kLength));
}

TEST(CutOut, KeepsTheOtherPixelsAndEachChannelsValue) {
  const Tensor source = Golden("source");
  const fixture::Given given = {{"length", ir::IntValue(20)}, {"value", ir::IntsValue({1, 2, 3})}};
  for (const Tensor& input : {source, fixture::WithGaps(source)}) {
    const Tensor output = *RunKernel("CutOut", given, {input}, RowRandom(3, 0, {.key = 5}));
    int64_t changed = 0;
    for (int64_t i = 0; i < 60 * 80; ++i) {
      const uint8_t* const now = output.raw() + 3 * i;
      const bool filled = now[0] == 1 && now[1] == 2 && now[2] == 3;
      changed += filled ? 1 : 0;
      ASSERT_TRUE(filled || std::equal(now, now + 3, source.raw() + 3 * i));
    }
    EXPECT_GT(changed, 0);
    EXPECT_LE(changed, 400);
  }
}

TEST(CutOut, RefusesWhatItCannotFill) {
  const Tensor source = Golden("source");
  EXPECT_THAT(MessageOf(RunKernel("CutOut", {{"length", ir::IntValue(2)}, {"value", ir::IntValue(300)}}, source)),
              HasSubstr("300"));
  EXPECT_THAT(MessageOf(RunKernel("CutOut", {{"length", ir::IntValue(0)}}, source)), HasSubstr("length"));
}

TEST(CutOut, CutsPlanesAsPixels) {
  const Tensor image = Golden("source");
  const fixture::Given given = {
      {"length", ir::IntValue(20)}, {"patches", ir::IntValue(3)}, {"value", ir::IntsValue({9, 8, 7})}};
  fixture::Given planar = given;
  planar.emplace_back("layout", ir::StringValue("CHW"));
  const Tensor planes = *RunKernel("HWC2CHW", {}, {image});
  for (const uint64_t key : {1, 2, 3}) {
    const RowRandom random(5, key);
    const Tensor expected = *RunKernel("HWC2CHW", {}, {*RunKernel("CutOut", given, {image}, random)});
    EXPECT_TRUE(TensorsEqual(*RunKernel("CutOut", planar, {planes}, random), expected));
    EXPECT_TRUE(TensorsEqual(*RunKernel("CutOut", planar, {fixture::WithGaps(planes)}, random), expected));
  }
  planar[2].second = ir::IntsValue({9, 8});
  EXPECT_THAT(MessageOf(RunKernel("CutOut", planar, {planes})), HasSubstr("one per channel: 3"));
  EXPECT_THAT(MessageOf(RunKernel("CutOut", planar, {*planes.Index(0).Contiguous()})),
              HasSubstr("layout='CHW' needs shape (C, H, W)"));
}

}  // namespace
}  // namespace headrace
