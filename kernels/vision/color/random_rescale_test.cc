// RandomRescale: what it draws, alone and in one pass with other kernels.
#include <algorithm>
#include <cmath>
#include <utility>
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
using fixture::RunKernel;
using ::testing::HasSubstr;

Tensor Numbers(std::vector<float> values) {
  Tensor tensor = *Tensor::Allocate(DType::kFloat32, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
  return tensor;
}

TEST(RandomRescale, DrawsFactorAndSummand) {
  if (!kCountsChances) GTEST_SKIP();
  const Given given = {{"scale", Floats({0.5, 1.5})}, {"shift", Floats({-2, 6})}};
  std::vector<int64_t> scales(10);
  std::vector<int64_t> shifts(10);
  for (uint64_t row = 0; row < 4000; ++row) {
    const Tensor found = *RunKernel("RandomRescale", given, {Numbers({0, 100})}, RowRandom(1, 2, {.key = row}));
    const float shift = found.data<float>()[0];
    const float scale = (found.data<float>()[1] - shift) / 100;
    ASSERT_TRUE(shift >= -2 && shift <= 6 && scale > 0.499 && scale < 1.501);
    ++scales[static_cast<size_t>(std::min(9.0f, (scale - 0.5f) * 10))];
    ++shifts[static_cast<size_t>(std::min(9.0f, (shift + 2) / 0.8f))];
  }
  EXPECT_LT(std::abs(ChiSquareDeviation(scales)), kMostDeviation);
  EXPECT_LT(std::abs(ChiSquareDeviation(shifts)), kMostDeviation);
}

TEST(RandomRescale, IsRescaleWhereTheRangesAreOneNumber) {
  const Given given = {{"scale", Floats({0.3, 0.3})}, {"shift", Floats({7, 7})}};
  const Tensor input = Numbers({1, -2, 1e6});
  const Given fixed = {{"scale", ir::FloatValue(0.3)}, {"shift", ir::FloatValue(7)}};
  EXPECT_TRUE(TensorsEqual(*RunKernel("RandomRescale", given, input), *RunKernel("Rescale", fixed, input)));
}

TEST(RandomRescale, RefusesWhatCannotBe) {
  const std::vector<ir::ColumnType> bytes = {ir::ColumnType::Of(DType::kBytes, {})};
  EXPECT_THAT(MessageOf(InferType("RandomRescale", {}, bytes)), HasSubstr("needs numbers"));
  EXPECT_THAT(MessageOf(RunKernel("RandomRescale", {{"scale", Floats({2, 1})}}, Numbers({1}))), HasSubstr("scale"));
}

}  // namespace
}  // namespace headrace
