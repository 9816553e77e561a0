// RandomHls: OpenCV's colours there and back, and what is drawn.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "core/testing/chi_square.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::InferType;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

Tensor RowOfPixels(const std::vector<uint8_t>& values) {
  Tensor image = *Tensor::Allocate(DType::kUInt8, {1, static_cast<int64_t>(values.size()) / 3, 3});
  std::copy(values.begin(), values.end(), image.mutable_raw());
  return image;
}

std::vector<uint8_t> Values(const Tensor& image) { return {image.raw(), image.raw() + image.elements()}; }

fixture::Given Most(int64_t hue, int64_t lightness, int64_t saturation) {
  return {{"hue", ir::IntValue(hue)}, {"lightness", ir::IntValue(lightness)}, {"saturation", ir::IntValue(saturation)}};
}

// The pixels are OpenCV 4.8's cvtColor with COLOR_RGB2HLS, then COLOR_HLS2RGB.
TEST(RandomHls, GoesThroughOpenCvsColours) {
  const Tensor image =
      RowOfPixels({0,   0,   0,   255, 255, 255, 255, 0,   0,  10,  10,  11,  159, 122, 67, 40,  177, 188, 8,   29,
                   115, 100, 227, 132, 107, 110, 170, 150, 44, 188, 193, 244, 201, 72,  81, 166, 166, 178, 222, 74,
                   240, 0,   19,  249, 241, 76,  35,  80,  11, 228, 169, 149, 62,  120, 48, 197, 121, 7,   65,  180});
  EXPECT_THAT(Values(*RunKernel("RandomHls", {}, image)),
              ElementsAreArray(std::vector<uint8_t>{
                  0,   0,   0,   255, 255, 255, 255, 1,   1,  10,  10,  10,  159, 122, 67, 40,  178, 188, 8,   30,
                  116, 101, 227, 135, 108, 110, 170, 150, 44, 188, 194, 244, 202, 72,  81, 166, 166, 177, 222, 72,
                  240, 0,   19,  249, 241, 76,  35,  81,  11, 229, 171, 150, 62,  121, 48, 198, 123, 7,   65,  181}));
}

// Grey has no saturation, so that its lightness is its value.
TEST(RandomHls, ShiftsByWholeNumbers) {
  if (!kCountsChances) GTEST_SKIP();
  std::vector<int64_t> counts(7);
  constexpr int kRows = 4000;
  for (uint64_t row = 0; row < kRows; ++row) {
    const auto found = Values(
        *RunKernel("RandomHls", Most(0, 4, 0), {RowOfPixels({100, 100, 100, 2, 2, 2})}, RowRandom(1, 2, {.key = row})));
    const int shift = found[0] - 100;
    ASSERT_LT(std::abs(shift), 4);
    ASSERT_EQ(found[3], std::max(2 + shift, 0));
    ++counts[static_cast<size_t>(shift + 3)];
  }
  const double each = kRows / 8.0;
  // The fraction is cut off, so that both sides of 0 become 0.
  EXPECT_LT(std::abs(ChiSquareDeviation(counts, {each, each, each, 2 * each, each, each, each})), kMostDeviation);
}

TEST(RandomHls, ShiftsHueAndSaturation) {
  const Tensor red = RowOfPixels({200, 50, 50});
  bool hue_moved = false;
  bool saturation_moved = false;
  for (uint64_t row = 0; row < 20; ++row) {
    const auto turned = Values(*RunKernel("RandomHls", Most(20, 0, 0), {red}, RowRandom(1, 2, {.key = row})));
    // The hue of red is 0, below which it does not go.
    EXPECT_NEAR(turned[0], 200, 1);
    EXPECT_NEAR(turned[2], 50, 1);
    hue_moved |= turned[1] > 60;
    const auto bleached = Values(*RunKernel("RandomHls", Most(0, 0, 90), {red}, RowRandom(1, 2, {.key = row})));
    EXPECT_NEAR(bleached[0] + bleached[1], 250, 2);
    EXPECT_EQ(bleached[1], bleached[2]);
    saturation_moved |= bleached[0] < 180;
  }
  EXPECT_TRUE(hue_moved && saturation_moved);
}

TEST(RandomHls, NeedsThreeChannelsOfBytes) {
  EXPECT_THAT(MessageOf(InferType("RandomHls", {}, {ir::ColumnType::Of(DType::kUInt8, {4, 4, 1})})),
              HasSubstr("3 channels (red, green, blue)"));
  EXPECT_THAT(MessageOf(RunKernel("RandomHls", {}, *Tensor::Allocate(DType::kUInt8, {2, 2, 1}))),
              HasSubstr("3 channels"));
  EXPECT_THAT(MessageOf(InferType("RandomHls", {}, {ir::ColumnType::Of(DType::kFloat32, {4, 4, 3})})),
              HasSubstr("needs uint8"));
}

}  // namespace
}  // namespace headrace
