// RandomSquare: sides and places.
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
Tensor NumberedRandomSquare(int64_t height, int64_t width) {
  Tensor image = *Tensor::Allocate(DType::kInt32, {height, width});
  for (int32_t i = 0; i < height * width; ++i) image.mutable_data<int32_t>()[i] = i;
  return image;
}

Given Sides(int64_t least, int64_t most, bool centered = false) {
  return {{"least", ir::IntValue(least)}, {"most", ir::IntValue(most)}, {"centered", ir::BoolValue(centered)}};
}

Tensor Square(const Given& given, const Tensor& image, uint64_t row) {
  return *RunKernel("RandomSquare", given, {image}, RowRandom(1, 2, {.key = row}))->Contiguous();
}

TEST(RandomSquare, DrawsSideAndPlace) {
  if (!kCountsChances) GTEST_SKIP();
  const Tensor image = NumberedRandomSquare(7, 9);
  std::vector<int64_t> sides(3);
  std::vector<int64_t> tops(5);
  std::vector<int64_t> lefts(7);
  for (uint64_t row = 0; row < 6000; ++row) {
    const Tensor square = Square(Sides(3, 5), image, row);
    ASSERT_EQ(square.dim(0), square.dim(1));
    ++sides[static_cast<size_t>(square.dim(0) - 3)];
    if (square.dim(0) != 3) continue;
    const auto first = static_cast<size_t>(square.data<int32_t>()[0]);
    ASSERT_EQ(square.data<int32_t>()[4], first + 10);
    ++tops[first / 9];
    ++lefts[first % 9];
  }
  for (const auto& counts : {sides, tops, lefts}) {
    EXPECT_LT(std::abs(ChiSquareDeviation(counts)), kMostDeviation);
  }
}

TEST(RandomSquare, LiesInTheMiddleOnRequest) {
  const Tensor image = NumberedRandomSquare(6, 9);
  for (uint64_t row = 0; row < 9; ++row) {
    const Tensor square = Square(Sides(3, 5, true), image, row);
    const int64_t side = square.dim(0);
    EXPECT_EQ(square.data<int32_t>()[0], (6 - side) / 2 * 9 + (9 - side) / 2);
  }
}

TEST(RandomSquare, RefusesWhatCannotBe) {
  EXPECT_THAT(MessageOf(RunKernel("RandomSquare", Sides(1, 7), NumberedRandomSquare(6, 9))),
              HasSubstr("the square may be 7 wide, and the image is (6, 9)"));
  const std::vector<ir::ColumnType> input = {ir::ColumnType::Of(DType::kUInt8, {20, 20, 3})};
  EXPECT_THAT(MessageOf(InferType("RandomSquare", Sides(5, 3), input)),
              HasSubstr("least is 5, above most, which is 3"));
  EXPECT_EQ(ir::TypeName(*InferType("RandomSquare", Sides(3, 3), input)), "uint8 (3, 3, 3)");
  EXPECT_EQ(ir::TypeName(*InferType("RandomSquare", Sides(3, 4), input)), "uint8 (None, None, 3)");
}

}  // namespace
}  // namespace headrace
