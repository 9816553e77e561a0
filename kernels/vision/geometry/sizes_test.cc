// Tests Crop, PadToSize, RandomZoomOut, RandomResize, RandomShortestSize and ScaleJitter: sizes and places by
// torchvision's formulas, pixels by Pad, Resize and slices.
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "core/testing/chi_square.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Floats;
using fixture::Given;
using fixture::Golden;
using fixture::InferType;
using fixture::Ints;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

TEST(Sizes, CropCutsAndFills) {
  const Tensor image = Golden("source");
  const auto crop = [&](int64_t top, int64_t left, int64_t height, int64_t width) {
    return *RunKernel("Crop",
                      {{"top", ir::IntValue(top)},
                       {"left", ir::IntValue(left)},
                       {"height", ir::IntValue(height)},
                       {"width", ir::IntValue(width)},
                       {"fill", ir::IntValue(9)}},
                      image);
  };
  EXPECT_TRUE(TensorsEqual(crop(10, 20, 30, 40), image.Slice(0, 10, 30).Slice(1, 20, 40).Contiguous().value()));
  const Tensor padded = *RunKernel("Pad", {{"padding", Ints({2, 3})}, {"fill", ir::IntValue(9)}}, image);
  EXPECT_TRUE(TensorsEqual(crop(-3, -2, 66, 84), padded));
}

TEST(Sizes, PadToSizeCentersOrPlaces) {
  const Tensor image = Golden("source");
  const Tensor centered = *RunKernel("PadToSize", {{"size", Ints({65, 82})}}, image);
  EXPECT_TRUE(TensorsEqual(centered, *RunKernel("Pad", {{"padding", Ints({1, 2, 1, 3})}}, image)));
  const Given given = {{"size", Ints({65, 82})}, {"offset", Ints({5, 0})}};
  const Tensor placed = *RunKernel("PadToSize", given, image);
  EXPECT_TRUE(TensorsEqual(placed, *RunKernel("Pad", {{"padding", Ints({0, 5, 2, 0})}}, image)));
  EXPECT_THAT(MessageOf(RunKernel("PadToSize", {{"size", Ints({50, 90})}}, image)),
              HasSubstr("the image (60, 80) does not fit into (50, 90)"));
  EXPECT_THAT(MessageOf(RunKernel("PadToSize", {{"size", Ints({65, 82})}, {"offset", Ints({6, 0})}}, image)),
              HasSubstr("at the offset (6, 0)"));
}

// The size of what a kernel gives for an image of (60, 80), and how often.
std::map<std::string, int64_t> SizesOf(const std::string& kernel, const Given& given, uint64_t rows) {
  std::map<std::string, int64_t> sizes;
  const Tensor image = Golden("source").Slice(2, 0, 1);
  for (uint64_t row = 0; row < rows; ++row) {
    ++sizes[RunKernel(kernel, given, {image}, RowRandom(1, 2, {.key = row}))->TypeName()];
  }
  return sizes;
}

void ExpectEquallyOften(const std::map<std::string, int64_t>& sizes, const std::vector<std::string>& expected) {
  std::vector<int64_t> counts;
  std::vector<std::string> names;
  for (const auto& [name, count] : sizes) {
    names.push_back(name);
    counts.push_back(count);
  }
  EXPECT_EQ(names, expected);
  if (!kCountsChances) return;
  EXPECT_LT(std::abs(ChiSquareDeviation(counts)), kMostDeviation);
}

TEST(Sizes, ResizeToDrawnLengths) {
  const Given range = {{"min_size", ir::IntValue(10)}, {"max_size", ir::IntValue(13)}};
  ExpectEquallyOften(SizesOf("RandomResize", range, 600),
                     {"uint8 (10, 13, 1)", "uint8 (11, 14, 1)", "uint8 (12, 16, 1)"});
  const Given lengths = {{"min_size", Ints({6, 9, 30})}, {"max_size", ir::IntValue(20)}};
  ExpectEquallyOften(SizesOf("RandomShortestSize", lengths, 600),
                     {"uint8 (15, 20, 1)", "uint8 (6, 8, 1)", "uint8 (9, 12, 1)"});
  const Given jitter = {{"target_size", Ints({30, 20})}, {"scale_range", Floats({0.5, 0.5})}};
  EXPECT_EQ(SizesOf("ScaleJitter", jitter, 3).begin()->first, "uint8 (7, 10, 1)");
}

TEST(Sizes, ResizeAsResizeDoes) {
  const Given given = {{"min_size", ir::IntValue(21)}, {"max_size", ir::IntValue(22)}};
  EXPECT_TRUE(TensorsEqual(*RunKernel("RandomResize", given, Golden("source")),
                           *RunKernel("Resize", {{"size", Ints({21, 28})}}, Golden("source"))));
}

TEST(Sizes, JitterUniformly) {
  if (!kCountsChances) GTEST_SKIP();
  const Given jitter = {{"target_size", Ints({60, 80})}, {"scale_range", Floats({0.5, 1})}};
  std::vector<int64_t> counts(5);
  for (const auto& [size, count] : SizesOf("ScaleJitter", jitter, 2000)) {
    const int64_t height = std::stoll(size.substr(size.find('(') + 1));
    ASSERT_TRUE(height >= 30 && height < 60) << size;
    counts[static_cast<size_t>((height - 30) / 6)] += count;
  }
  EXPECT_LT(std::abs(ChiSquareDeviation(counts)), kMostDeviation);
}

// The image lies unchanged on the canvas, wherever it is.
TEST(Sizes, ZoomOutPlacesTheImage) {
  const Given given = {{"side_range", Floats({1.5, 1.5})}, {"p", ir::FloatValue(0.5)}, {"fill", ir::IntValue(7)}};
  const Tensor image = Golden("source").Slice(0, 10, 20).Slice(1, 10, 20).Contiguous().value();
  std::vector<int64_t> tops(10);
  int64_t zoomed = 0;
  for (uint64_t row = 0; row < 1000; ++row) {
    const Tensor found = *RunKernel("RandomZoomOut", given, {image}, RowRandom(1, 2, {.key = row}));
    if (found.dim(0) == 20) continue;
    ASSERT_EQ(found.TypeName(), "uint8 (30, 30, 3)");
    ++zoomed;
    int64_t places = 0;
    for (int64_t top = 0; top < 10; ++top) {
      for (int64_t left = 0; left < 10; ++left) {
        if (std::memcmp(found.raw() + (top * 30 + left) * 3, image.raw(), 60) != 0) continue;
        if (!TensorsEqual(found.Slice(0, top, 20).Slice(1, left, 20).Contiguous().value(), image)) continue;
        ++places;
        ++tops[static_cast<size_t>(top)];
      }
    }
    ASSERT_EQ(places, 1);
  }
  if (!kCountsChances) return;
  EXPECT_LT(std::abs(ChiSquareDeviation(tops)), kMostDeviation);
  EXPECT_LT(std::abs(ChiSquareDeviation({zoomed, 1000 - zoomed})), kMostDeviation);
}

TEST(Sizes, ZoomOutRefusesAFillThatDoesNotFitWhateverIsDrawn) {
  for (uint64_t row = 0; row < 20; ++row) {
    const Given given = {{"fill", Ints({1, 2})}};
    EXPECT_THAT(MessageOf(RunKernel("RandomZoomOut", given, {Golden("source")}, RowRandom(0, 0, {.key = row}))),
                HasSubstr("fill has 2 values, but the image has 3 channels"));
  }
}

TEST(Sizes, RefuseWhatCannotBe) {
  EXPECT_THAT(MessageOf(RunKernel("RandomResize", {{"min_size", ir::IntValue(9)}, {"max_size", ir::IntValue(9)}},
                                  Golden("source"))),
              HasSubstr("min_size must be less than max_size"));
  EXPECT_THAT(MessageOf(RunKernel("RandomShortestSize", {{"min_size", Ints({})}}, Golden("source"))),
              HasSubstr("min_size is empty"));
  EXPECT_THAT(MessageOf(RunKernel("ScaleJitter", {{"target_size", Ints({9, 9})}, {"scale_range", Floats({2, 1})}},
                                  Golden("source"))),
              HasSubstr("scale_range"));
}

// A side that would be longer is an error, as the ratio would not be the image's.
TEST(Sizes, DoNotExceedTheMost) {
  const Tensor flat = *Tensor::Allocate(DType::kUInt8, {2, 2000, 1});
  const auto refused = [&](const char* kernel, const Given& given) {
    return MessageOf(RunKernel(kernel, given, flat));
  };
  const std::string message = "an image of height 2 and width 2000 would become 100 × 100000";
  EXPECT_THAT(refused("RandomResize", {{"min_size", ir::IntValue(100)}, {"max_size", ir::IntValue(101)}}),
              HasSubstr(message));
  EXPECT_THAT(refused("RandomShortestSize", {{"min_size", Ints({100})}}), HasSubstr(message));
  EXPECT_THAT(refused("ScaleJitter", {{"target_size", Ints({9, 9})}, {"scale_range", Floats({1, 1e9})}}),
              HasSubstr("scale_range is"));
}

// The longer side is at most max_size, by torchvision's truncation.
TEST(Sizes, ResizeHasAMostSide) {
  const auto resized = [](int64_t size, int64_t most) {
    const Given given = {{"size", Ints({size})}, {"max_size", ir::IntValue(most)}};
    const std::string found = RunKernel("Resize", given, Golden("source"))->TypeName();
    const auto inferred = InferType("Resize", given, {ir::ColumnType::Of(DType::kUInt8, {60, 80, 3})});
    EXPECT_EQ(ir::TypeName(*inferred), found);
    return found;
  };
  EXPECT_EQ(resized(30, 100), "uint8 (30, 40, 3)");
  EXPECT_EQ(resized(30, 35), "uint8 (26, 35, 3)");
  EXPECT_THAT(MessageOf(RunKernel("Resize", {{"size", Ints({9, 9})}, {"max_size", ir::IntValue(9)}}, Golden("source"))),
              HasSubstr("max_size"));
}

}  // namespace
}  // namespace headrace
