// RandomPad: canvases and places.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/testing/chi_square.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Floats;
using fixture::Given;
using fixture::InferType;
using fixture::MessageOf;
using ::testing::HasSubstr;

constexpr int64_t kSide = 20;

Tensor Padded(const Given& given, uint64_t row) {
  Tensor image = *Tensor::Allocate(DType::kUInt8, {kSide, kSide});
  std::fill_n(image.mutable_data<uint8_t>(), kSide * kSide, uint8_t{1});
  return *fixture::RunKernel("RandomPad", given, {image}, RowRandom(1, 2, {.key = row}))->Contiguous();
}

TEST(RandomPad, DrawsHeightsAndPlacesUniformly) {
  if (!kCountsChances) GTEST_SKIP();
  // Squares of 25 to 30 pixels.
  const Given given = {{"aspect_ratio_range", Floats({1, 1})}, {"area_range", Floats({1.5625, 2.25})}};
  std::vector<int64_t> heights(6);
  std::vector<int64_t> tops(11);
  std::vector<int64_t> lefts(11);
  for (uint64_t row = 0; row < 9000; ++row) {
    const Tensor canvas = Padded(given, row);
    ASSERT_EQ(canvas.dim(0), canvas.dim(1));
    ++heights[static_cast<size_t>(canvas.dim(0) - 25)];
    const uint8_t* const pixels = canvas.data<uint8_t>();
    const int64_t first = std::find(pixels, pixels + canvas.elements(), uint8_t{1}) - pixels;
    EXPECT_EQ(std::count(pixels, pixels + canvas.elements(), uint8_t{1}), kSide * kSide);
    if (canvas.dim(0) != 30) continue;
    ++tops[static_cast<size_t>(first / 30)];
    ++lefts[static_cast<size_t>(first % 30)];
  }
  for (const auto& counts : {heights, tops, lefts}) EXPECT_LT(std::abs(ChiSquareDeviation(counts)), kMostDeviation);
}

TEST(RandomPad, HasTheRatiosThatAreAskedFor) {
  const Given given = {
      {"aspect_ratio_range", Floats({0.5, 0.8})}, {"area_range", Floats({1, 6})}, {"fill", ir::IntValue(7)}};
  for (uint64_t row = 0; row < 60; ++row) {
    const Tensor canvas = Padded(given, row);
    if (canvas.dim(0) == kSide) continue;
    const double ratio = static_cast<double>(canvas.dim(1)) / static_cast<double>(canvas.dim(0));
    EXPECT_GT(ratio, 0.47);
    EXPECT_LT(ratio, 0.83);
    EXPECT_GE(canvas.dim(1), kSide + 2);
    EXPECT_EQ(std::count(canvas.data<uint8_t>(), canvas.data<uint8_t>() + canvas.elements(), uint8_t{7}),
              canvas.elements() - kSide * kSide);
  }
}

TEST(RandomPad, LeavesWhatHasNoRoom) {
  const Given given = {{"area_range", Floats({1, 1.05})}, {"max_attempts", ir::IntValue(3)}};
  EXPECT_EQ(Padded(given, 1).shape(), Shape({kSide, kSide}));
  EXPECT_THAT(MessageOf(InferType("RandomPad", {{"area_range", Floats({3, 2})}},
                                  {ir::ColumnType::Of(DType::kUInt8, {20, 20, 3})})),
              HasSubstr("area_range"));
}

}  // namespace
}  // namespace headrace
