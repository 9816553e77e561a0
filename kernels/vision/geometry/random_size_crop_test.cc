// RandomSizeCrop: sides and places.
#include <cmath>
#include <vector>

#include "core/testing/chi_square.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Given;
using fixture::InferType;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

// Each pixel has its number, row by row.
Tensor NumberedForSizeCrop(int64_t height, int64_t width) {
  Tensor image = *Tensor::Allocate(DType::kInt32, {height, width});
  for (int32_t i = 0; i < height * width; ++i) image.mutable_data<int32_t>()[i] = i;
  return image;
}

Given SizeRange(int64_t least, int64_t most) {
  return {{"min_size", ir::IntValue(least)}, {"max_size", ir::IntValue(most)}};
}

TEST(RandomSizeCrop, DrawsSidesAndPlaces) {
  if (!kCountsChances) GTEST_SKIP();
  const Tensor image = NumberedForSizeCrop(5, 9);
  // The height ends at the image's 5, the width at 7.
  std::vector<int64_t> sizes(3 * 5);
  std::vector<int64_t> places(3 * 7);
  for (uint64_t row = 0; row < 30000; ++row) {
    const Tensor crop =
        *RunKernel("RandomSizeCrop", SizeRange(3, 7), {image}, RowRandom(1, 2, {.key = row}))->Contiguous();
    ++sizes[static_cast<size_t>((crop.dim(0) - 3) * 5 + crop.dim(1) - 3)];
    const int32_t first = crop.data<int32_t>()[0];
    ASSERT_EQ(crop.data<int32_t>()[crop.dim(1)], first + 9);
    if (crop.dim(0) == 3 && crop.dim(1) == 3) ++places[static_cast<size_t>(first / 9 * 7 + first % 9)];
  }
  for (const auto& counts : {sizes, places}) EXPECT_LT(std::abs(ChiSquareDeviation(counts)), kMostDeviation);
}

TEST(RandomSizeCrop, RefusesWhatCannotBe) {
  EXPECT_THAT(MessageOf(RunKernel("RandomSizeCrop", SizeRange(7, 8), NumberedForSizeCrop(6, 9))),
              HasSubstr("at least 7 pixels, and the image is (6, 9)"));
  const std::vector<ir::ColumnType> input = {ir::ColumnType::Of(DType::kUInt8, {20, 30, 3})};
  EXPECT_THAT(MessageOf(InferType("RandomSizeCrop", SizeRange(21, 25), input)), HasSubstr("the image is (20, 30)"));
  EXPECT_THAT(MessageOf(InferType("RandomSizeCrop", SizeRange(5, 3), input)),
              HasSubstr("min_size is 5, above max_size, which is 3"));
  EXPECT_EQ(ir::TypeName(*InferType("RandomSizeCrop", SizeRange(3, 3), input)), "uint8 (3, 3, 3)");
  EXPECT_EQ(ir::TypeName(*InferType("RandomSizeCrop", SizeRange(3, 40), input)), "uint8 (None, None, 3)");
}

}  // namespace
}  // namespace headrace
