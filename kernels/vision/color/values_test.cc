// Tests Normalize, Rescale and HWC2CHW, the last kernels before a training step.
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
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

fixture::Given ImageNet(std::string_view layout = "HWC") {
  return {{"mean", Floats({123.675, 116.28, 103.53})},
          {"std", Floats({58.395, 57.12, 57.375})},
          {"layout", ir::StringValue(layout)}};
}

TEST(Normalize, EqualsNumPyInFloat32) {
  for (const char* dtype : {"uint8", "float32"}) {
    const Tensor source = Golden(std::string(dtype) == "uint8" ? "source" : "source.float32");
    const Tensor golden = Golden(Cat("normalize.", dtype));
    ASSERT_FALSE(fixture::AllZero(golden));
    EXPECT_TRUE(TensorsEqual(*RunKernel("Normalize", ImageNet(), source), golden)) << dtype;
    EXPECT_TRUE(TensorsEqual(*RunKernel("Normalize", ImageNet(), fixture::WithGaps(source)), golden)) << dtype;
  }
}

TEST(Normalize, TakesPlanes) {
  const Tensor planes = *RunKernel("HWC2CHW", {}, Golden("source"));
  const Tensor golden = *RunKernel("HWC2CHW", {}, Golden("normalize.uint8"));
  EXPECT_TRUE(TensorsEqual(*RunKernel("Normalize", ImageNet("CHW"), planes), golden));
  EXPECT_TRUE(TensorsEqual(*RunKernel("Normalize", ImageNet("CHW"), fixture::WithGaps(planes)), golden));
}

// One to nine channels, with one value a channel: every length of the pattern, and images that end amid it.
TEST(Normalize, TakesAnyNumberOfChannels) {
  for (int64_t channels = 1; channels <= 9; ++channels) {
    Tensor image = *Tensor::Allocate(DType::kUInt8, {3, 7, channels});
    for (int64_t i = 0; i < image.elements(); ++i) image.mutable_raw()[i] = static_cast<uint8_t>(i * 5);
    std::vector<double> mean, std;
    for (int64_t c = 0; c < channels; ++c) mean.push_back(static_cast<double>(c) + 0.5);
    for (int64_t c = 0; c < channels; ++c) std.push_back(static_cast<double>(c) + 2);
    const Tensor result =
        *RunKernel("Normalize", {{"mean", ir::FloatsValue(mean)}, {"std", ir::FloatsValue(std)}}, image);
    for (int64_t i = 0; i < image.elements(); ++i) {
      const float expected = (static_cast<float>(image.raw()[i]) - static_cast<float>(mean[i % channels])) /
                             static_cast<float>(std[i % channels]);
      ASSERT_EQ(result.data<float>()[i], expected) << channels << " channels, element " << i;
    }
  }
}

TEST(Normalize, RefusesAnotherNumberOfChannels) {
  const fixture::Given two = {{"mean", Floats({1, 2})}, {"std", Floats({1})}};
  EXPECT_THAT(MessageOf(RunKernel("Normalize", two, Golden("source"))),
              HasSubstr("mean has 2 values, but the image has 3 channels"));
  EXPECT_THAT(MessageOf(InferType("Normalize", two, {ir::ColumnType::Of(DType::kUInt8, {-1, -1, 3})})),
              HasSubstr("mean has 2 values, but the image has 3 channels"));
  EXPECT_FALSE(RunKernel("Normalize", {{"mean", Floats({1})}, {"std", Floats({0})}}, Golden("source")).ok());
  EXPECT_EQ(ir::TypeName(*InferType("Normalize", ImageNet(), {ir::ColumnType::Of(DType::kUInt8, {-1, -1, 3})})),
            "float32 (None, None, 3)");
}

TEST(Rescale, EqualsNumPyInFloat32) {
  const fixture::Given given = {{"scale", ir::FloatValue(1.0 / 255)}, {"shift", ir::FloatValue(-0.5)}};
  const Tensor golden = Golden("rescale.uint8");
  ASSERT_FALSE(fixture::AllZero(golden));
  EXPECT_TRUE(TensorsEqual(*RunKernel("Rescale", given, Golden("source")), golden));
  EXPECT_TRUE(TensorsEqual(*RunKernel("Rescale", given, fixture::WithGaps(Golden("source"))), golden));
}

TEST(Rescale, TakesNumbersOfAnyShape) {
  const fixture::Given given = {{"scale", ir::FloatValue(2)}, {"shift", ir::FloatValue(1)}};
  EXPECT_EQ(RunKernel("Rescale", given, *Tensor::Scalar<int64_t>(-20))->value<float>(), -39.0f);
  EXPECT_EQ(RunKernel("Rescale", given, *Tensor::Scalar(true))->value<float>(), 3.0f);
  EXPECT_FALSE(RunKernel("Rescale", given, *Tensor::CopyBytes(DType::kString, "7")).ok());
}

template <typename T>
void ExpectPlanes(int64_t height, int64_t width, int64_t channels) {
  Tensor image = *Tensor::Allocate(DTypeOf<T>::value, {height, width, channels});
  for (int64_t i = 0; i < image.elements(); ++i) image.mutable_data<T>()[i] = static_cast<T>(i * 3 + 1);
  for (const Tensor& input : {image, fixture::WithGaps(image)}) {
    const Tensor planes = *RunKernel("HWC2CHW", {}, input);
    ASSERT_EQ(planes.shape(), (Shape{channels, height, width}));
    for (int64_t i = 0; i < height * width; ++i) {
      for (int64_t c = 0; c < channels; ++c) {
        ASSERT_EQ(planes.data<T>()[c * height * width + i], image.data<T>()[i * channels + c]);
      }
    }
  }
}

TEST(HWC2CHW, MovesChannelsToTheFront) {
  for (int64_t width = 1; width <= 40; ++width) {
    ExpectPlanes<uint8_t>(2, width, 3);
    ExpectPlanes<float>(2, width, 3);
  }
  ExpectPlanes<uint8_t>(3, 5, 1);
  ExpectPlanes<uint8_t>(3, 5, 4);
  ExpectPlanes<int16_t>(3, 5, 3);
  ExpectPlanes<float>(3, 5, 2);
  ExpectPlanes<double>(3, 5, 3);
}

TEST(HWC2CHW, GivesMasksAChannel) {
  EXPECT_EQ(RunKernel("HWC2CHW", {}, *Tensor::Allocate(DType::kInt32, {4, 5}))->TypeName(), "int32 (1, 4, 5)");
  EXPECT_EQ(ir::TypeName(*InferType("HWC2CHW", {}, {ir::ColumnType::Of(DType::kUInt8, {-1, 7, 3})})),
            "uint8 (3, None, 7)");
  EXPECT_FALSE(RunKernel("HWC2CHW", {}, *Tensor::Allocate(DType::kUInt8, {4})).ok());
}

}  // namespace
}  // namespace headrace
