#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/testing/chi_square.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/row_axes.h"
#include "kernels/testing/run_kernel.h"
#include "kernels/vision/image/resized_crop_box.h"

namespace headrace {
namespace {

using fixture::Floats;
using fixture::Golden;
using fixture::Ints;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

constexpr Interval kScale = {0.08, 1.0};
constexpr Interval kRatio = {3.0 / 4, 4.0 / 3};

// The golden boxes follow torchvision's formulas over a second implementation of Philox; they include boxes that no
// ratio allows, where the middle is taken.
TEST(DrawResizedCropBox, EqualsTorchvisionsFormulas) {
  const Tensor golden = Golden("resized_crop_boxes");
  for (int64_t row = 0; row < golden.dim(0); ++row) {
    const int64_t* expected = golden.data<int64_t>() + row * 6;
    RowRandom random(7, 3, {.epoch = 1, .key = static_cast<uint64_t>(row)});
    const Interval scale = row % 4 >= 2 ? Interval{0.9, 1.0} : kScale;
    const CropBox box = DrawResizedCropBox(expected[0], expected[1], scale, kRatio, random);
    EXPECT_EQ(box, (CropBox{expected[2], expected[3], expected[4], expected[5]})) << row;
  }
}

TEST(DrawResizedCropBox, StaysInsideForAnyImage) {
  for (uint64_t row = 0; row < 5000; ++row) {
    RowRandom random(1, 0, {.key = row});
    const int64_t height = 1 + static_cast<int64_t>(random.Below(row % 7 == 0 ? 3 : 600));
    const int64_t width = 1 + static_cast<int64_t>(random.Below(row % 5 == 0 ? 3 : 600));
    const CropBox box = DrawResizedCropBox(height, width, kScale, kRatio, random);
    ASSERT_GE(box.top, 0);
    ASSERT_GE(box.left, 0);
    ASSERT_GE(box.height, 1);
    ASSERT_GE(box.width, 1);
    ASSERT_LE(box.top + box.height, height);
    ASSERT_LE(box.left + box.width, width);
  }
}

TEST(DrawResizedCropBox, SpreadsAreaAndRatioAsAsked) {
  constexpr int kRows = 20000;
  double area = 0, log_ratio = 0, least = 1, greatest = 0;
  for (uint64_t row = 0; row < kRows; ++row) {
    RowRandom random(1, 0, {.key = row});
    // So large that every box fits: the shares are uniform.
    const CropBox box = DrawResizedCropBox(4000, 4000, {0.1, 0.5}, kRatio, random);
    const double share = static_cast<double>(box.height * box.width) / 16e6;
    area += share / kRows;
    log_ratio += std::log(static_cast<double>(box.width) / static_cast<double>(box.height)) / kRows;
    least = std::min(least, share);
    greatest = std::max(greatest, share);
  }
  EXPECT_NEAR(area, 0.3, 0.005);
  EXPECT_NEAR(log_ratio, 0.0, 0.01);
  EXPECT_NEAR(least, 0.1, 0.001);
  EXPECT_NEAR(greatest, 0.5, 0.001);
}

// Which of `parts` equal parts of [0, 1) a number falls into.
size_t PartOf(double number, size_t parts) {
  return std::min(parts - 1, static_cast<size_t>(number * static_cast<double>(parts)));
}

// For images so large that every box fits and rounding has no effect: area and logarithm of the ratio are uniform and
// independent, and so are the two coordinates, and the next row's box.
TEST(DrawResizedCropBox, DrawsAreaRatioAndPlaceUniformly) {
  constexpr int64_t kSide = 40'000'000;
  for (const fixture::RowAxis& axis : fixture::kRowAxes) {
    std::vector<int64_t> shapes(144), places(144), steps(144);
    size_t area_before = 0;
    for (uint64_t number = 0; number < 20'000; ++number) {
      RowRandom random = axis.stream(number);
      const CropBox box = DrawResizedCropBox(kSide, kSide, {0.1, 0.5}, kRatio, random);
      const auto height = static_cast<double>(box.height), width = static_cast<double>(box.width);
      const size_t area = PartOf((height * width / kSide / kSide - 0.1) / 0.4, 12);
      const size_t ratio = PartOf(std::log(width / height / kRatio.low) / std::log(kRatio.high / kRatio.low), 12);
      const size_t top = PartOf(static_cast<double>(box.top) / (kSide - height + 1), 12);
      const size_t left = PartOf(static_cast<double>(box.left) / (kSide - width + 1), 12);
      ++shapes[area * 12 + ratio];
      ++places[top * 12 + left];
      if (number > 0) ++steps[area_before * 12 + area];
      area_before = area;
    }
    EXPECT_LT(std::abs(ChiSquareDeviation(shapes)), kMostDeviation) << axis.name;
    EXPECT_LT(std::abs(ChiSquareDeviation(places)), kMostDeviation) << axis.name;
    EXPECT_LT(std::abs(ChiSquareDeviation(steps)), kMostDeviation) << axis.name;
  }
}

TEST(DrawResizedCropBox, DependsOnTheRowAlone) {
  RowRandom image(1, 2, {.epoch = 3, .key = 4});
  RowRandom mask(1, 2, {.epoch = 3, .key = 4});
  RowRandom other_row(1, 2, {.epoch = 3, .key = 5});
  RowRandom other_epoch(1, 2, {.epoch = 4, .key = 4});
  const CropBox box = DrawResizedCropBox(375, 500, kScale, kRatio, image);
  EXPECT_EQ(box, DrawResizedCropBox(375, 500, kScale, kRatio, mask));
  EXPECT_NE(box, DrawResizedCropBox(375, 500, kScale, kRatio, other_row));
  EXPECT_NE(box, DrawResizedCropBox(375, 500, kScale, kRatio, other_epoch));
}

TEST(RandomResizedCrop, CutsAndResizes) {
  const Tensor source = Golden("source");
  for (uint64_t row = 0; row < 4; ++row) {
    const RowRandom random(7, 3, {.epoch = 1, .key = row});
    const fixture::Given pillow = {{"size", Ints({28, 36})}};
    const fixture::Given opencv = {{"size", Ints({28, 36})}, {"antialias", ir::BoolValue(false)}};
    for (const Tensor& input : {source, fixture::WithGaps(source)}) {
      const Tensor exact = *RunKernel("RandomResizedCrop", pillow, {input}, random);
      EXPECT_EQ(fixture::LargestDifference(exact, Golden(Cat("resized_crop.", row, ".pillow"))), 0) << row;
      const Tensor close = *RunKernel("RandomResizedCrop", opencv, {input}, random);
      EXPECT_LE(fixture::LargestDifference(close, Golden(Cat("resized_crop.", row, ".opencv"))), 1) << row;
    }
  }
}

// An image and its mask, two columns of one row, must be cropped alike.
TEST(RandomResizedCrop, CutsColumnsOfOneRowAlike) {
  const Tensor source = Golden("source");
  Tensor mask = *Tensor::Allocate(DType::kUInt8, {60, 80});
  for (int64_t i = 0; i < mask.elements(); ++i) mask.mutable_raw()[i] = source.raw()[i * 3];
  const fixture::Given given = {{"size", ir::IntValue(32)}, {"interpolation", ir::StringValue("nearest")}};
  for (uint64_t row = 0; row < 20; ++row) {
    const RowRandom random(7, 3, {.key = row});
    const Tensor image_crop = *RunKernel("RandomResizedCrop", given, {source}, random);
    const Tensor mask_crop = *RunKernel("RandomResizedCrop", given, {mask}, random);
    for (int64_t i = 0; i < mask_crop.elements(); ++i) ASSERT_EQ(mask_crop.raw()[i], image_crop.raw()[i * 3]);
  }
}

TEST(RandomResizedCrop, RefusesIntervalsThatEndBeforeTheyBegin) {
  const auto crop =
      RunKernel("RandomResizedCrop", {{"size", ir::IntValue(8)}, {"scale", Floats({0.5, 0.2})}}, Golden("source"));
  EXPECT_EQ(KindOf(crop.status()), ErrorKind::kGraph);
  EXPECT_THAT(MessageOf(crop), HasSubstr("scale = (0.5, 0.2) ends before it begins"));
  EXPECT_FALSE(
      RunKernel("RandomResizedCrop", {{"size", ir::IntValue(8)}, {"ratio", Floats({0, 1})}}, Golden("source")).ok());
}

}  // namespace
}  // namespace headrace
