#include <string>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/value.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Golden;
using fixture::MessageOf;
using fixture::RunKernel;
using fixture::WithGaps;
using ::testing::HasSubstr;

fixture::Given Channels(int64_t channels) { return {{"output_channels", ir::IntValue(channels)}}; }

TEST(Grayscale, EqualsPillow) {
  const Tensor source = Golden("source");
  for (const Tensor& input : {source, WithGaps(source)}) {
    EXPECT_TRUE(TensorsEqual(*RunKernel("Grayscale", {}, input), Golden("grayscale")));
  }
}

TEST(Grayscale, RepeatsTheLumaInThreeChannels) {
  const Tensor gray = *RunKernel("Grayscale", Channels(3), Golden("source"));
  EXPECT_EQ(gray.shape(), Shape({60, 80, 3}));
  for (int64_t c = 0; c < 3; ++c) EXPECT_TRUE(TensorsEqual(gray.Slice(2, c, 1), Golden("grayscale")));
}

TEST(Grayscale, KeepsOneChannel) {
  const Tensor gray = Golden("grayscale");
  EXPECT_EQ(RunKernel("Grayscale", {}, gray)->raw(), gray.raw());
  EXPECT_TRUE(TensorsEqual(*RunKernel("Grayscale", {}, gray.Reshape({60, 80})), gray));
  EXPECT_TRUE(TensorsEqual(*RunKernel("Grayscale", {}, WithGaps(gray.Reshape({60, 80}))), gray));
  const Tensor three = *RunKernel("Grayscale", Channels(3), WithGaps(gray));
  for (int64_t c = 0; c < 3; ++c) EXPECT_TRUE(TensorsEqual(three.Slice(2, c, 1), gray));
}

TEST(Grayscale, RefusesOtherNumbersOfChannels) {
  const Tensor four = *Tensor::Allocate(DType::kUInt8, {2, 2, 4});
  EXPECT_EQ(KindOf(RunKernel("Grayscale", {}, four).status()), ErrorKind::kGraph);
  EXPECT_THAT(MessageOf(RunKernel("Grayscale", {}, four)), HasSubstr("1 channel or 3 (red, green, blue); got uint8"));
  EXPECT_THAT(MessageOf(RunKernel("Grayscale", Channels(2), Golden("source"))), HasSubstr("must be 1 or 3"));
  EXPECT_FALSE(RunKernel("Grayscale", {}, *Tensor::Allocate(DType::kInt32, {2, 2, 3})).ok());
}

TEST(Grayscale, InfersChannels) {
  using ir::ColumnType;
  EXPECT_EQ(ir::TypeName(*fixture::InferType("Grayscale", {}, {ColumnType::Of(DType::kUInt8, {-1, 5})})),
            "uint8 (None, 5, 1)");
  EXPECT_FALSE(fixture::InferType("Grayscale", {}, {ColumnType::Of(DType::kUInt8, {-1, 5, 4})}).ok());
  EXPECT_FALSE(fixture::InferType("Grayscale", Channels(2), {ColumnType::Of(DType::kUInt8, {-1, 5, 3})}).ok());
}

}  // namespace
}  // namespace headrace
