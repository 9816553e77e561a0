// FitInside: the sizes that MXNet 1.9.1 gives, and the pixels of Resize.
#include <algorithm>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Given;
using fixture::Golden;
using fixture::InferType;
using fixture::Ints;
using fixture::RunKernel;

Given Attributes(int64_t height, int64_t width, bool enlarge, const char* interpolation = "bilinear",
                 bool antialias = false) {
  return {{"size", Ints({height, width})},
          {"enlarge", ir::BoolValue(enlarge)},
          {"interpolation", ir::StringValue(interpolation)},
          {"antialias", ir::BoolValue(antialias)}};
}

Tensor ResizedFitInside(const Tensor& image, int64_t height, int64_t width, const char* interpolation, bool antialias) {
  return *RunKernel("Resize",
                    {{"size", Ints({height, width})},
                     {"interpolation", ir::StringValue(interpolation)},
                     {"antialias", ir::BoolValue(antialias)}},
                    image)
              ->Contiguous();
}

// Seen by running MXNet with data_shape (3, 8, 10).
struct Case {
  Shape image;
  Shape shrunk;
  Shape fitted;
};
const std::vector<Case> kCases = {
    {{12, 15}, {8, 10}, {8, 10}}, {{4, 5}, {4, 5}, {8, 10}},   {{12, 5}, {8, 3}, {8, 3}}, {{4, 20}, {2, 10}, {2, 10}},
    {{16, 20}, {8, 10}, {8, 10}}, {{7, 33}, {2, 10}, {2, 10}}, {{33, 7}, {8, 1}, {8, 1}}, {{8, 10}, {8, 10}, {8, 10}},
    {{9, 10}, {8, 8}, {8, 8}},    {{8, 11}, {7, 10}, {7, 10}}, {{3, 3}, {3, 3}, {8, 8}},  {{30, 31}, {8, 8}, {8, 8}},
};

TEST(FitInside, GivesTheSizesOfMxnet) {
  for (const Case& each : kCases) {
    Tensor image = *Tensor::Allocate(DType::kUInt8, each.image);
    std::fill_n(image.mutable_data<uint8_t>(), image.elements(), uint8_t{9});
    for (const bool enlarge : {false, true}) {
      const Shape& expected = enlarge ? each.fitted : each.shrunk;
      EXPECT_EQ(RunKernel("FitInside", Attributes(8, 10, enlarge), image)->shape(), expected);
      // What is inferred is what comes.
      EXPECT_EQ(
          *InferType("FitInside", Attributes(8, 10, enlarge), {ir::ColumnType::Of(DType::kUInt8, each.image)})->shape,
          expected);
    }
  }
}

TEST(FitInside, HasNoSideWithoutPixels) {
  const Tensor narrow = *Tensor::Allocate(DType::kUInt8, {1, 400, 3});
  for (const bool enlarge : {false, true}) {
    EXPECT_EQ(RunKernel("FitInside", Attributes(8, 10, enlarge, "nearest"), narrow)->shape(), Shape({1, 10, 3}));
  }
}

TEST(FitInside, GivesThePixelsOfResize) {
  const Tensor source = Golden("source");  // 60 x 80
  for (const bool antialias : {false, true}) {
    for (const char* how : {"nearest", "bilinear", "bicubic", "area"}) {
      const auto fitted = [&](int64_t height, int64_t width, bool enlarge) {
        return *RunKernel("FitInside", Attributes(height, width, enlarge, how, antialias), source)->Contiguous();
      };
      EXPECT_TRUE(TensorsEqual(fitted(30, 100, false), ResizedFitInside(source, 30, 40, how, antialias))) << how;
      EXPECT_TRUE(TensorsEqual(fitted(90, 100, true), ResizedFitInside(source, 75, 100, how, antialias))) << how;
      EXPECT_TRUE(TensorsEqual(fitted(90, 100, false), source)) << how;
    }
  }
}

TEST(FitInside, ChoosesTheInterpolation) {
  const Tensor source = Golden("source");
  const auto fitted = [&](int64_t height, int64_t width) {
    return *RunKernel("FitInside", Attributes(height, width, true, "auto"), source)->Contiguous();
  };
  EXPECT_TRUE(TensorsEqual(fitted(30, 40), ResizedFitInside(source, 30, 40, "area", false)));
  EXPECT_TRUE(TensorsEqual(fitted(90, 120), ResizedFitInside(source, 90, 120, "bicubic", false)));
}

TEST(FitInside, InfersWhatIsKnown) {
  const auto type_of = [](std::initializer_list<int64_t> shape) {
    return ir::TypeName(
        *InferType("FitInside", {{"size", Ints({20, 30})}}, {ir::ColumnType::Of(DType::kUInt8, Shape(shape))}));
  };
  EXPECT_EQ(type_of({10, 30, 3}), "uint8 (10, 30, 3)");
  EXPECT_EQ(type_of({-1, -1, 3}), "uint8 (None, None, 3)");
}

}  // namespace
}  // namespace headrace
