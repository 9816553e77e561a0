// SubtractImage: its values, and the shapes that it refuses.
#include <string>
#include <vector>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Floats;
using fixture::Golden;
using fixture::InferType;
using fixture::Ints;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

constexpr int64_t kElements = 60 * 80 * 3;

std::vector<double> Ramp() {
  std::vector<double> values;
  for (int64_t i = 0; i < kElements; ++i) values.push_back(static_cast<double>(i) / 64);
  return values;
}

fixture::Given SubtractGiven() { return {{"image", ir::FloatsValue(Ramp())}, {"shape", Ints({60, 80, 3})}}; }

template <typename T>
void ExpectDifferences(const Tensor& source, const Tensor& result) {
  ASSERT_EQ(result.TypeName(), "float32 (60, 80, 3)");
  for (int64_t i = 0; i < kElements; ++i) {
    ASSERT_EQ(result.data<float>()[i], static_cast<float>(source.data<T>()[i]) - static_cast<float>(i) / 64) << i;
  }
}

TEST(SubtractImage, SubtractsEachValueFromThePixelAtItsPlace) {
  ExpectDifferences<uint8_t>(Golden("source"), *RunKernel("SubtractImage", SubtractGiven(), Golden("source")));
  ExpectDifferences<float>(Golden("source.float32"),
                           *RunKernel("SubtractImage", SubtractGiven(), Golden("source.float32")));
}

TEST(SubtractImage, TakesRowsThatLieApart) {
  for (const char* name : {"source", "source.float32"}) {
    const Tensor source = Golden(name);
    EXPECT_TRUE(TensorsEqual(*RunKernel("SubtractImage", SubtractGiven(), fixture::WithGaps(source)),
                             *RunKernel("SubtractImage", SubtractGiven(), source)));
  }
}

TEST(SubtractImage, SubtractsOneNumberFromAllPixels) {
  const fixture::Given seven = {{"image", Floats({7})}, {"shape", Ints({60, 80, 3})}};
  const Tensor source = Golden("source");
  const Tensor result = *RunKernel("SubtractImage", seven, source);
  for (int64_t i = 0; i < kElements; ++i) ASSERT_EQ(result.data<float>()[i], static_cast<float>(source.raw()[i]) - 7);
}

TEST(SubtractImage, RefusesAnotherShape) {
  const fixture::Given other = {{"image", Floats({7})}, {"shape", Ints({60, 80})}};
  const auto message = HasSubstr(
      "the image that it subtracts has shape (60, 80), and the image has shape (60, 80, 3); they must be equal");
  EXPECT_THAT(MessageOf(RunKernel("SubtractImage", other, Golden("source"))), message);
  EXPECT_THAT(MessageOf(InferType("SubtractImage", other, {ir::ColumnType::Of(DType::kUInt8, {60, 80, 3})})), message);
  EXPECT_EQ(ir::TypeName(*InferType("SubtractImage", other, {ir::ColumnType::Of(DType::kUInt8, {-1, 80})})),
            "float32 (60, 80)");
}

TEST(SubtractImage, RefusesValuesThatDoNotFillTheShape) {
  for (const auto& [shape, size] : {std::pair{"(2, 2)", 3}, {"(2, 2)", 5}, {"(2, 2)", 8}}) {
    const std::vector<double> values(size, 1.0);
    const fixture::Given given = {{"image", ir::FloatsValue(values)}, {"shape", Ints({2, 2})}};
    const auto message = HasSubstr(Cat("image has ", size, " values, which do not fill shape ", shape));
    EXPECT_THAT(MessageOf(InferType("SubtractImage", given, {ir::ColumnType::Of(DType::kUInt8, {2, 2})})), message);
    EXPECT_THAT(MessageOf(fixture::MakeKernel("SubtractImage", given)), message);
  }
}

}  // namespace
}  // namespace headrace
