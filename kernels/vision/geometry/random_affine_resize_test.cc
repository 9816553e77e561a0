// RandomAffineResize: sizes, places and what is drawn.
#include <algorithm>
#include <cmath>
#include <initializer_list>
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

constexpr float kOutside = -1000;

// A plane: x in channel 0 and y in channel 1, of the pixels' middles.
Tensor Plane(int64_t height, int64_t width) {
  Tensor image = *Tensor::Allocate(DType::kFloat32, {height, width, 2});
  for (int64_t i = 0; i < height * width; ++i) {
    image.mutable_data<float>()[2 * i] = static_cast<float>(i % width) + 0.5f;
    image.mutable_data<float>()[2 * i + 1] = static_cast<float>(i / width) + 0.5f;
  }
  return image;
}

Tensor Warped(Given given, const Tensor& image, uint64_t row = 0) {
  given.emplace_back("fill", Floats({kOutside}));
  return *RunKernel("RandomAffineResize", given, {image}, RowRandom(1, 2, {.key = row}));
}

// Where the pixel (x, y) of the result is in the image, away from its border.
std::pair<float, float> SourceOf(const Tensor& result, int64_t x, int64_t y) {
  const float* const pixel = result.data<float>() + 2 * (y * result.dim(1) + x);
  return {pixel[0], pixel[1]};
}

TEST(RandomAffineResize, ScalesTheSides) {
  const Tensor half = Warped({{"scale", Floats({0.5, 0.5})}}, Plane(40, 61));
  ASSERT_EQ(half.TypeName(), "float32 (20, 30, 2)");
  const auto [x, y] = SourceOf(half, 10, 5);
  // The middle of 30.5 pixels lies over that of 61.
  EXPECT_NEAR(x, 21, 1e-3);
  EXPECT_NEAR(y, 11, 1e-3);
}

TEST(RandomAffineResize, CutsOffOrFillsWhereSidesAreBounded) {
  const Tensor cut = Warped({{"max_size", ir::IntValue(20)}}, Plane(40, 60));
  ASSERT_EQ(cut.TypeName(), "float32 (20, 20, 2)");
  EXPECT_NEAR(SourceOf(cut, 0, 0).first, 20.5, 1e-3);
  EXPECT_NEAR(SourceOf(cut, 0, 0).second, 10.5, 1e-3);
  const Tensor filled = Warped({{"min_size", ir::IntValue(50)}}, Plane(40, 60));
  ASSERT_EQ(filled.TypeName(), "float32 (50, 60, 2)");
  EXPECT_EQ(SourceOf(filled, 30, 2).first, kOutside);
  EXPECT_NEAR(SourceOf(filled, 30, 10).second, 5.5, 1e-3);
}

// Against MXNet's matrix, from the image to the result.
TEST(RandomAffineResize, TurnsShearsAndStretchesAsMxnet) {
  const double angle = 20;
  const double shear = 0.3;
  const double ratio = 1.5;
  const double scale = 1.2;
  const Tensor result = Warped({{"degrees", Floats({angle, angle})},
                                {"shear", Floats({shear, shear})},
                                {"ratio", Floats({ratio, ratio})},
                                {"scale", Floats({scale, scale})}},
                               Plane(100, 100));
  ASSERT_EQ(result.TypeName(), "float32 (120, 120, 2)");
  const double a = std::cos(angle / 180 * M_PI);
  const double b = std::sin(angle / 180 * M_PI);
  const double hs = 2 * scale / (1 + ratio);
  const double ws = ratio * hs;
  for (const auto& [x, y] : {std::pair{60, 60}, {50, 70}, {75, 55}}) {
    const auto [from_x, from_y] = SourceOf(result, x, y);
    const double dx = from_x - 50;
    const double dy = from_y - 50;
    EXPECT_NEAR((hs * a - shear * b * ws) * dx + (hs * b + shear * a * ws) * dy + 60, x + 0.5, 1e-2);
    EXPECT_NEAR(-b * ws * dx + a * ws * dy + 60, y + 0.5, 1e-2);
  }
}

TEST(RandomAffineResize, DrawsUniformly) {
  if (!kCountsChances) GTEST_SKIP();
  const Tensor image = Plane(100, 100);
  std::vector<int64_t> sizes(8);
  std::vector<int64_t> shears(8);
  for (uint64_t row = 0; row < 1600; ++row) {
    const Tensor scaled = Warped({{"scale", Floats({0.2, 0.36})}}, image, row);
    // 20 to 35 pixels, which are equally likely.
    ++sizes[static_cast<size_t>((scaled.dim(0) - 20) / 2)];
    const Tensor sheared = Warped({{"shear", Floats({0.4})}, {"max_size", ir::IntValue(40)}}, image, row);
    // The result's pixel 10 above the middle is that much beside its place.
    const float beside = SourceOf(sheared, 20, 9).first - 50.5f;
    ++shears[static_cast<size_t>(std::clamp((beside / 10.5f + 0.4f) * 10, 0.0f, 7.0f))];
  }
  EXPECT_LT(std::abs(ChiSquareDeviation(sizes)), kMostDeviation);
  EXPECT_LT(std::abs(ChiSquareDeviation(shears)), kMostDeviation);
}

TEST(RandomAffineResize, RefusesWhatCannotBe) {
  const std::vector<ir::ColumnType> input = {ir::ColumnType::Of(DType::kUInt8, {20, 20, 3})};
  const auto refusal = [&](const Given& given) { return MessageOf(InferType("RandomAffineResize", given, input)); };
  EXPECT_THAT(refusal({{"scale", Floats({2, 1})}}), HasSubstr("scale"));
  EXPECT_THAT(refusal({{"ratio", Floats({0, 1})}}), HasSubstr("ratio"));
  EXPECT_THAT(refusal({{"shear", Floats({-1})}}), HasSubstr("shear"));
}

TEST(RandomAffineResize, InfersItsSizeUnlessThatIsDrawn) {
  const auto type_of = [](const Given& given, std::initializer_list<int64_t> shape) {
    const ir::ColumnType input = ir::ColumnType::Of(DType::kUInt8, Shape(shape));
    return ir::TypeName(*InferType("RandomAffineResize", given, {input}));
  };
  EXPECT_EQ(type_of({}, {20, 31, 3}), "uint8 (20, 31, 3)");
  EXPECT_EQ(type_of({{"scale", Floats({0.5, 0.5})}}, {20, 31, 3}), "uint8 (10, 15, 3)");
  EXPECT_EQ(type_of({{"max_size", ir::IntValue(25)}}, {-1, 31, 3}), "uint8 (None, 25, 3)");
  EXPECT_EQ(type_of({{"scale", Floats({0.5, 0.6})}}, {20, 31}), "uint8 (None, None)");
}

}  // namespace
}  // namespace headrace
