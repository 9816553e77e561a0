// Standardize: (x - mean) / std by columns, in float64.
#include <algorithm>
#include <vector>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Floats;
using fixture::Given;
using fixture::InferType;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename T>
Tensor ToStandardize(const Shape& shape, const std::vector<T>& values) {
  Tensor tensor = *Tensor::Allocate(DTypeOf<T>::value, shape);
  std::copy(values.begin(), values.end(), tensor.mutable_data<T>());
  return tensor;
}

std::vector<float> Standardized(const Given& given, const Tensor& input) {
  const Tensor output = *RunKernel("Standardize", given, input);
  EXPECT_EQ(output.dtype(), DType::kFloat32);
  EXPECT_EQ(output.shape(), input.shape());
  return {output.data<float>(), output.data<float>() + output.elements()};
}

const Given kTwoColumns = {{"mean", Floats({1, 10})}, {"std", Floats({2, 0})}};

TEST(Standardize, TakesOneMeanForEachColumn) {
  EXPECT_THAT(Standardized(kTwoColumns, ToStandardize<int32_t>({2, 2}, {1, 10, 4, 9})), ElementsAre(0, 0, 1.5, -1));
  EXPECT_THAT(Standardized(kTwoColumns, ToStandardize<double>({2}, {2, 10.5})), ElementsAre(0.5, 0.5));
  const Tensor strided = fixture::WithGaps(ToStandardize<float>({3, 2}, {1, 10, 3, 11, 5, 12}));
  EXPECT_THAT(Standardized(kTwoColumns, strided), ElementsAre(0, 0, 1, 1, 2, 2));
}

TEST(Standardize, TakesOneMeanForAll) {
  const Given given = {{"mean", Floats({3})}, {"std", Floats({0.5})}};
  EXPECT_THAT(Standardized(given, *Tensor::Scalar<uint8_t>(4)), ElementsAre(2));
  EXPECT_THAT(Standardized(given, ToStandardize<bool>({3}, {true, false, true})), ElementsAre(-4, -6, -4));
}

// In float32, 2 ** 24 + 1 is 2 ** 24.
TEST(Standardize, ComputesInFloat64) {
  const Given given = {{"mean", Floats({16777216})}, {"std", Floats({1})}};
  EXPECT_THAT(Standardized(given, *Tensor::Scalar<int64_t>(16777217)), ElementsAre(1));
}

TEST(Standardize, RefusesOtherColumns) {
  EXPECT_THAT(MessageOf(RunKernel("Standardize", kTwoColumns, ToStandardize<float>({3}, {1, 2, 3}))),
              HasSubstr("2 numbers, one for each element of the last axis; got float32 (3,)"));
  const auto inferred = [](const Shape& shape) {
    return InferType("Standardize", kTwoColumns, {ir::ColumnType::Of(DType::kInt64, shape)});
  };
  EXPECT_FALSE(inferred({3}).ok());
  EXPECT_FALSE(inferred({}).ok());
  EXPECT_EQ(ir::TypeName(*inferred({5, 2})), "float32 (5, 2)");
  EXPECT_EQ(ir::TypeName(*inferred({-1})), "float32 (None,)");
  EXPECT_FALSE(InferType("Standardize", kTwoColumns, {ir::ColumnType::Of(DType::kString, {2})}).ok());
  const Given uneven = {{"mean", Floats({1, 10})}, {"std", Floats({2})}};
  EXPECT_THAT(MessageOf(RunKernel("Standardize", uneven, ToStandardize<float>({2}, {1, 2}))),
              HasSubstr("mean has 2 numbers and std 1"));
}

}  // namespace
}  // namespace headrace
