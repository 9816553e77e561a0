#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/value.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Golden;
using fixture::InferType;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

Tensor HsvPixels(const std::vector<std::array<float, 3>>& pixels) {
  Tensor image = *Tensor::Allocate(DType::kFloat32, {1, static_cast<int64_t>(pixels.size()), 3});
  for (size_t i = 0; i < pixels.size(); ++i) std::copy_n(pixels[i].begin(), 3, image.mutable_data<float>() + 3 * i);
  return image;
}

// What Python's colorsys.rgb_to_hsv gives.
const std::vector<std::array<float, 3>> kRgb = {{0, 0, 0},         {1, 1, 1},   {1, 0, 0},
                                                {0, 1, 0},         {0, 0, 1},   {0.5, 0.5, 0},
                                                {0.25, 0.5, 0.75}, {1, 0, 0.5}, {0.2f, 0.2f, 0.2f}};
const std::vector<std::array<float, 3>> kHsv = {{0, 0, 0},
                                                {0, 0, 1},
                                                {0, 1, 1},
                                                {1 / 3.0f, 1, 1},
                                                {2 / 3.0f, 1, 1},
                                                {1 / 6.0f, 1, 0.5},
                                                {0.583333333f, 2 / 3.0f, 0.75},
                                                {0.916666667f, 1, 1},
                                                {0, 0, 0.2f}};

void ExpectNear(const Tensor& found, const std::vector<std::array<float, 3>>& expected) {
  for (size_t i = 0; i < expected.size(); ++i) {
    for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(found.data<float>()[3 * i + c], expected[i][c], 1e-6) << i << " " << c;
  }
}

TEST(Hsv, EqualsColorsys) {
  ExpectNear(*RunKernel("RgbToHsv", {}, HsvPixels(kRgb)), kHsv);
  ExpectNear(*RunKernel("HsvToRgb", {}, HsvPixels(kHsv)), kRgb);
}

TEST(Hsv, GoesOnAroundTheCircle) {
  ExpectNear(*RunKernel("HsvToRgb", {}, HsvPixels({{1, 1, 1}, {-1 / 3.0f, 1, 1}, {1.5f, 1, 1}})),
             {{1, 0, 0}, {0, 0, 1}, {0, 1, 1}});
}

TEST(Hsv, ComesBack) {
  const Tensor bytes = Golden("source");
  const Tensor there = *RunKernel("RgbToHsv", {}, bytes);
  const Tensor back = *RunKernel("HsvToRgb", {}, there);
  ASSERT_EQ(back.TypeName(), "float32 (60, 80, 3)");
  for (int64_t i = 0; i < back.elements(); ++i) {
    ASSERT_NEAR(back.data<float>()[i] * 255, bytes.data<uint8_t>()[i], 1e-3);
    ASSERT_GE(there.data<float>()[i], 0);
    ASSERT_LE(there.data<float>()[i], 1);
  }
}

TEST(Hsv, NeedsThreeChannels) {
  const Tensor grey = *Golden("source").Slice(2, 0, 1).Contiguous();
  EXPECT_THAT(MessageOf(RunKernel("RgbToHsv", {}, grey)), HasSubstr("with 3 channels"));
  EXPECT_FALSE(InferType("HsvToRgb", {}, {ir::ColumnType::Of(DType::kUInt8, {4, 4})}).ok());
  EXPECT_EQ(ir::TypeName(*InferType("RgbToHsv", {}, {ir::ColumnType::Of(DType::kUInt8, {4, -1, -1})})),
            "float32 (4, None, 3)");
}

TEST(LinearTransformation, MultipliesTheVectorByTheMatrix) {
  const fixture::Given given = {{"matrix", ir::FloatsValue({1, 2, 3, 4, 5, 6, 7, 8, 10})},
                                {"mean", ir::FloatsValue({1, 0, -1})}};
  Tensor image = *Tensor::Allocate(DType::kUInt8, {3, 1});
  const std::array<uint8_t, 3> values = {2, 3, 4};
  std::copy(values.begin(), values.end(), image.mutable_data<uint8_t>());
  // (1, 3, 5) times the matrix.
  const Tensor found = *RunKernel("LinearTransformation", given, image);
  EXPECT_EQ(found.TypeName(), "float32 (3, 1)");
  EXPECT_THAT(std::vector<float>(found.data<float>(), found.data<float>() + 3), ::testing::ElementsAre(48, 57, 71));
  EXPECT_THAT(MessageOf(RunKernel("LinearTransformation", given, Golden("source"))),
              HasSubstr("mean has 3 numbers, and the image has 14400 elements"));
  EXPECT_FALSE(InferType("LinearTransformation", given, {ir::ColumnType::Of(DType::kUInt8, {2, 2})}).ok());
  const fixture::Given uneven = {{"matrix", ir::FloatsValue({1, 2})}, {"mean", ir::FloatsValue({1, 2})}};
  EXPECT_THAT(
      std::string(
          InferType("LinearTransformation", uneven, {ir::ColumnType::Of(DType::kUInt8, {2})}).status().message()),
      HasSubstr("the matrix must be square"));
}

TEST(RandomSolarize, InvertsABand) {
  const Tensor image = Golden("source");
  const fixture::Given given = {
      {"threshold", ir::IntValue(60)}, {"upper", ir::IntValue(120)}, {"p", ir::FloatValue(1)}};
  bool inverts = false;
  for (const uint64_t key : {1, 2, 3, 4}) {
    const Tensor found = *RunKernel("RandomSolarize", given, {image}, RowRandom(5, key));
    int first = 256;
    int last = -1;
    for (int64_t i = 0; i < image.elements(); ++i) {
      const int before = image.data<uint8_t>()[i];
      const int after = found.data<uint8_t>()[i];
      ASSERT_TRUE(after == before || after == 255 - before);
      if (after == before) continue;
      first = std::min(first, before);
      last = std::max(last, before);
    }
    inverts = inverts || last >= 0;
    if (last < 0) continue;
    EXPECT_GE(first, 60);
    EXPECT_LE(last, 120);
    // All of the band.
    for (int64_t i = 0; i < image.elements(); ++i) {
      const int before = image.data<uint8_t>()[i];
      if (before < first || last < before) continue;
      ASSERT_EQ(found.data<uint8_t>()[i], 255 - before);
    }
  }
  EXPECT_TRUE(inverts);
  EXPECT_THAT(std::string(InferType("RandomSolarize", {{"threshold", ir::IntValue(9)}, {"upper", ir::IntValue(8)}},
                                    {ir::ColumnType::Of(DType::kUInt8, {4, 4, 3})})
                              .status()
                              .message()),
              HasSubstr("upper = 8 is below threshold = 9"));
}

}  // namespace
}  // namespace headrace
