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
using ::testing::HasSubstr;

fixture::Given Orders(const char* source, const char* target) {
  return {{"source", ir::StringValue(source)}, {"target", ir::StringValue(target)}};
}
absl::StatusOr<Tensor> Converted(const Tensor& image, const char* source, const char* target) {
  return RunKernel("ConvertColor", Orders(source, target), image);
}
Tensor Channel(const Tensor& image, int64_t c) { return image.Slice(2, c, 1); }

TEST(ConvertColor, ReversesTheColours) {
  for (const char* name : {"source", "source.float32"}) {
    const Tensor source = Golden(name);
    for (const Tensor& input : {source, fixture::WithGaps(source)}) {
      const Tensor reversed = *Converted(input, "RGB", "BGR");
      for (int64_t c = 0; c < 3; ++c) EXPECT_TRUE(TensorsEqual(Channel(reversed, c), Channel(source, 2 - c))) << name;
      EXPECT_TRUE(TensorsEqual(*Converted(reversed, "BGR", "RGB"), source)) << name;
    }
  }
}

TEST(ConvertColor, AddsAnOpaqueAlphaAndDropsIt) {
  const Tensor source = Golden("source");
  const Tensor with_alpha = *Converted(source, "RGB", "BGRA");
  EXPECT_EQ(with_alpha.shape(), Shape({60, 80, 4}));
  EXPECT_TRUE(TensorsEqual(Channel(with_alpha, 0), Channel(source, 2)));
  for (int64_t i = 0; i < 60 * 80; ++i) ASSERT_EQ(with_alpha.raw()[4 * i + 3], 255);
  EXPECT_TRUE(TensorsEqual(*Converted(with_alpha, "BGRA", "RGB"), source));
  const Tensor kept = *Converted(with_alpha, "BGRA", "RGBA");
  EXPECT_TRUE(TensorsEqual(Channel(kept, 3), Channel(with_alpha, 3)));
  const Tensor real = *Converted(Golden("source.float32"), "RGB", "RGBA");
  EXPECT_EQ(real.data<float>()[3], 1.0f);
}

TEST(ConvertColor, GivesTheLumaOfGrayscale) {
  for (const char* name : {"", ".float32"}) {
    const Tensor source = Golden(Cat("source", name));
    const Tensor gray = *Converted(source, "RGB", "GRAY");
    EXPECT_TRUE(TensorsEqual(gray, Golden(Cat("grayscale", name)))) << name;
    EXPECT_TRUE(TensorsEqual(*Converted(*Converted(source, "RGB", "BGR"), "BGR", "GRAY"), gray)) << name;
    const Tensor colors = *Converted(gray.Reshape({60, 80}), "GRAY", "RGB");
    for (int64_t c = 0; c < 3; ++c) EXPECT_TRUE(TensorsEqual(Channel(colors, c), gray)) << name;
  }
}

TEST(ConvertColor, RefusesOtherNumbersOfChannels) {
  EXPECT_THAT(MessageOf(Converted(Golden("source"), "RGBA", "RGB")),
              HasSubstr("needs an image of 4 channels, RGBA; got uint8 (60, 80, 3)"));
  EXPECT_THAT(MessageOf(Converted(Golden("source"), "GRAY", "RGB")), HasSubstr("of 1 channel, GRAY; got uint8"));
  EXPECT_FALSE(Converted(*Tensor::Allocate(DType::kInt32, {2, 2, 3}), "RGB", "BGR").ok());
}

TEST(ConvertColor, InfersChannels) {
  using ir::ColumnType;
  const auto type = [](const char* source, const char* target, const Shape& shape) {
    return fixture::InferType("ConvertColor", Orders(source, target), {ColumnType::Of(DType::kUInt8, shape)});
  };
  EXPECT_EQ(ir::TypeName(*type("RGB", "BGRA", {-1, 5, 3})), "uint8 (None, 5, 4)");
  EXPECT_EQ(ir::TypeName(*type("GRAY", "RGB", {7, 5})), "uint8 (7, 5, 3)");
  EXPECT_FALSE(type("RGB", "BGR", {-1, 5, 4}).ok());
}

}  // namespace
}  // namespace headrace
