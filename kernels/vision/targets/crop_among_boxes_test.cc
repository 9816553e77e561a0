// Crops that depend on boxes: pixels and boxes agree, parts satisfy what is asked for, and draws have their chances.
#include "kernels/vision/targets/crop_among_boxes.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/testing/chi_square.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Floats;
using fixture::Given;
using fixture::MessageOf;
using ::testing::HasSubstr;

constexpr int64_t kHeight = 40;
constexpr int64_t kWidth = 50;

using Numbers = std::vector<double>;

Tensor OnCanvas(Numbers numbers, int64_t height = kHeight, int64_t width = kWidth) {
  for (const int64_t number : {int64_t{0}, int64_t{0}, width, height}) numbers.push_back(static_cast<double>(number));
  Tensor tensor = *Tensor::Allocate(DType::kFloat64, {static_cast<int64_t>(numbers.size() / 4), 4});
  std::copy(numbers.begin(), numbers.end(), tensor.mutable_data<double>());
  return tensor;
}

// Each pixel has its number, row by row.
Tensor Numbered(int64_t height = kHeight, int64_t width = kWidth) {
  Tensor image = *Tensor::Allocate(DType::kInt32, {height, width});
  for (int32_t i = 0; i < height * width; ++i) image.mutable_data<int32_t>()[i] = i;
  return image;
}

Tensor LabelsOf(int64_t count) {
  Tensor labels = *Tensor::Allocate(DType::kInt64, {count});
  for (int64_t i = 0; i < count; ++i) labels.mutable_data<int64_t>()[i] = i;
  return labels;
}

struct Result {
  Window window;
  std::vector<Box> boxes;
  std::vector<int64_t> labels;
  bool whole = false;
};

std::vector<Box> RowsOf(const Tensor& tensor) {
  std::vector<Box> rows;
  for (int64_t i = 0; i < tensor.dim(0); ++i) {
    const double* const at = tensor.data<double>() + 4 * i;
    rows.push_back({at[0], at[1], at[2], at[3]});
  }
  return rows;
}

// Of the image and of the boxes, with one row's numbers. The last of the boxes is the canvas.
Result CroppedBy(const std::string& kernel, const Given& given, const Tensor& image, const Tensor& boxes,
                 uint64_t row) {
  const RowRandom random(5, 6, {.key = row});
  const Tensor part = *fixture::RunKernel(kernel, given, {image, boxes}, random)->Contiguous();
  const auto cut =
      fixture::RunKernelOutputs(Cat(kernel, "OfBoxes"), given, {boxes, LabelsOf(boxes.dim(0) - 1)}, random);
  Result result;
  const int64_t first = part.data<int32_t>()[0];
  result.window = {first / image.dim(1), first % image.dim(1), part.dim(0), part.dim(1)};
  result.whole = part.dim(0) == image.dim(0) && part.dim(1) == image.dim(1);
  result.boxes = RowsOf((*cut)[0]);
  EXPECT_EQ(result.boxes.back().bottom, static_cast<double>(part.dim(0)));
  EXPECT_EQ(result.boxes.back().right, static_cast<double>(part.dim(1)));
  result.boxes.pop_back();
  const Tensor labels = *(*cut)[1].Contiguous();
  result.labels.assign(labels.data<int64_t>(), labels.data<int64_t>() + labels.elements());
  return result;
}

const Numbers kBoxes = {2, 3, 20, 30, 15, 10, 45, 38, 30, 2, 49, 12};

Box MovedInto(const Box& box, const Window& window) {
  const auto clamp = [](double at, int64_t from, int64_t side) {
    return std::clamp(at - static_cast<double>(from), 0.0, static_cast<double>(side));
  };
  return {clamp(box.left, window.left, window.width), clamp(box.top, window.top, window.height),
          clamp(box.right, window.left, window.width), clamp(box.bottom, window.top, window.height)};
}

TEST(CropAmongBoxes, BoxesEndWhereThePixelsGo) {
  const Tensor boxes = OnCanvas(kBoxes);
  const std::vector<Box> before = RowsOf(boxes);
  for (const char* const kernel : {"RandomIoUCrop", "RandomObjectCrop", "RandomConstrainedCrop"}) {
    int crops = 0;
    for (uint64_t row = 0; row < 60; ++row) {
      SCOPED_TRACE(Cat(kernel, " ", row));
      const Result result = CroppedBy(kernel, {}, Numbered(), boxes, row);
      crops += result.whole ? 0 : 1;
      ASSERT_EQ(result.boxes.size(), result.labels.size());
      for (size_t i = 0; i < result.boxes.size(); ++i) {
        const Box moved = MovedInto(before[static_cast<size_t>(result.labels[i])], result.window);
        const Box& box = result.boxes[i];
        if (AreaOf(box) == 0) continue;  // marked
        EXPECT_EQ(box.left, moved.left);
        EXPECT_EQ(box.top, moved.top);
        EXPECT_EQ(box.right, moved.right);
        EXPECT_EQ(box.bottom, moved.bottom);
      }
    }
    EXPECT_GT(crops, 20) << kernel;
  }
}

// On a canvas of kHeight and kWidth.
Tensor KeypointsOnCanvas(Numbers numbers) {
  for (const int64_t number : {kWidth, kHeight}) numbers.push_back(static_cast<double>(number));
  Tensor tensor = *Tensor::Allocate(DType::kFloat64, {static_cast<int64_t>(numbers.size() / 2), 2});
  std::copy(numbers.begin(), numbers.end(), tensor.mutable_data<double>());
  return tensor;
}

TEST(CropAmongBoxes, KeypointsAreSeenFromThePart) {
  const Tensor boxes = OnCanvas(kBoxes);
  for (const char* const kernel : {"RandomIoUCrop", "RandomObjectCrop", "RandomConstrainedCrop"}) {
    for (uint64_t row = 0; row < 20; ++row) {
      SCOPED_TRACE(Cat(kernel, " ", row));
      const Window window = CroppedBy(kernel, {}, Numbered(), boxes, row).window;
      const Tensor moved = *fixture::RunKernel(Cat(kernel, "OfKeypoints"), {}, {KeypointsOnCanvas({1, 2.5}), boxes},
                                               RowRandom(5, 6, {.key = row}));
      ASSERT_EQ(moved.shape(), Shape({2, 2}));
      EXPECT_EQ(moved.data<double>()[0], 1 - static_cast<double>(window.left));
      EXPECT_EQ(moved.data<double>()[1], 2.5 - static_cast<double>(window.top));
      EXPECT_EQ(moved.data<double>()[2], static_cast<double>(window.width));
      EXPECT_EQ(moved.data<double>()[3], static_cast<double>(window.height));
    }
  }
}

TEST(CropAmongBoxes, MasksAreCutAsTheirImage) {
  const Tensor boxes = OnCanvas(kBoxes);
  const Tensor numbered = Numbered().Reshape({1, kHeight, kWidth});
  for (const char* const kernel : {"RandomIoUCrop", "RandomObjectCrop", "RandomConstrainedCrop"}) {
    for (uint64_t row = 0; row < 20; ++row) {
      SCOPED_TRACE(Cat(kernel, " ", row));
      const RowRandom random(5, 6, {.key = row});
      const Tensor part = *fixture::RunKernel(kernel, {}, {Numbered(), boxes}, random);
      const Tensor masks = *fixture::RunKernel(Cat(kernel, "OfMasks"), {}, {numbered, boxes}, random);
      ASSERT_EQ(masks.rank(), 3);
      EXPECT_TRUE(TensorsEqual(masks.Index(0), part));
    }
  }
}

TEST(CropAmongBoxes, RefusesWhatDoesNotFit) {
  EXPECT_THAT(
      MessageOf(fixture::RunKernel("RandomIoUCropOfKeypoints", {}, {KeypointsOnCanvas({}), OnCanvas(kBoxes, 9, 8)},
                                   RowRandom(1, 2, RowId{}))),
      HasSubstr(
          "the boxes are those of an image of height 9 and width 8; got keypoints of one of height 40 and width 50"));
  EXPECT_THAT(
      MessageOf(fixture::RunKernel("RandomIoUCrop", {}, {Numbered(9, 9), OnCanvas(kBoxes)}, RowRandom(1, 2, RowId{}))),
      HasSubstr("the boxes are those of an image of height 40 and width 50; got int32 (9, 9)"));
  EXPECT_THAT(MessageOf(fixture::RunKernelOutputs("RandomObjectCropOfBoxes", {}, {OnCanvas(kBoxes), LabelsOf(2)})),
              HasSubstr("needs one label a box, of shape (3, …)"));
  EXPECT_THAT(MessageOf(fixture::MakeKernel("RandomIoUCrop",
                                            {{"min_scale", ir::FloatValue(0.8)}, {"max_scale", ir::FloatValue(0.5)}})),
              HasSubstr("min_scale is 0.8, above max_scale, which is 0.5"));
  EXPECT_THAT(MessageOf(fixture::MakeKernel("RandomIoUCrop", {{"sampler_options", Floats({})}})),
              HasSubstr("sampler_options is empty"));
  EXPECT_THAT(MessageOf(fixture::MakeKernel("RandomConstrainedCrop", {{"min_crop_scales", Floats({0.1, 0.2})},
                                                                      {"min_crop_overlaps", Floats({0, 0, 0})}})),
              HasSubstr("min_crop_overlaps has 3 numbers, and there are 2 samplers"));
  EXPECT_THAT(MessageOf(fixture::MakeKernel("RandomConstrainedCrop",
                                            {{"min_crop_scales", Floats({0.9})}, {"max_crop_scales", Floats({0.2})}})),
              HasSubstr("min_crop_scales is 0.9, above max_crop_scales, which is 0.2"));
}

double Overlap(const Box& box, const Window& window) {
  const double common = AreaInside(box, window);
  return common / (AreaOf(box) + static_cast<double>(window.width * window.height) - common);
}

TEST(RandomIoUCrop, TakesPartsThatOverlapAsAskedFor) {
  const Tensor boxes = OnCanvas(kBoxes);
  const Given given = {{"sampler_options", Floats({0.5})}, {"max_scale", ir::FloatValue(0.9)}};
  for (uint64_t row = 0; row < 60; ++row) {
    const Result result = CroppedBy("RandomIoUCrop", given, Numbered(), boxes, row);
    ASSERT_FALSE(result.whole);
    double best = 0;
    for (size_t i = 0; i < 3; ++i) {
      const Box box = RowsOf(boxes)[i];
      const bool marked = AreaOf(result.boxes[i]) == 0;
      const double x = (box.left + box.right) / 2 - static_cast<double>(result.window.left);
      const double y = (box.top + box.bottom) / 2 - static_cast<double>(result.window.top);
      const bool inside = x > 0 && y > 0 && x < static_cast<double>(result.window.width) &&
                          y < static_cast<double>(result.window.height);
      EXPECT_EQ(marked, !inside);
      if (inside) best = std::max(best, Overlap(box, result.window));
    }
    EXPECT_GE(best, 0.5);
  }
}

TEST(RandomIoUCrop, DrawsOptionsAlikeAndSidesUniformly) {
  if (!kCountsChances) GTEST_SKIP();
  // A box that is all of the image: each part of an allowed ratio is taken if it holds the middle.
  const Tensor boxes = OnCanvas({0, 0, 50, 50}, 50, 50);
  const Tensor image = Numbered(50, 50);
  std::vector<int64_t> left_alone(2);
  std::vector<int64_t> widths(10);
  const Given given = {
      {"sampler_options", Floats({0, 1})}, {"min_scale", ir::FloatValue(0.7)}, {"max_scale", ir::FloatValue(0.9)}};
  for (uint64_t row = 0; row < 4000; ++row) {
    const Result result = CroppedBy("RandomIoUCrop", given, image, boxes, row);
    ++left_alone[result.whole ? 1 : 0];
    if (!result.whole) ++widths[static_cast<size_t>(result.window.width - 35)];
  }
  EXPECT_LT(std::abs(ChiSquareDeviation(left_alone)), kMostDeviation);
  EXPECT_LT(std::abs(ChiSquareDeviation(widths)), kMostDeviation);
}

TEST(RandomIoUCrop, LeavesImagesWithoutBoxesAlone) {
  EXPECT_TRUE(CroppedBy("RandomIoUCrop", {{"sampler_options", Floats({0})}}, Numbered(), OnCanvas({}), 1).whole);
  // No part of 0.3 × 0.3 overlaps it by 0.9.
  const Given never = {{"sampler_options", Floats({0.9})}, {"max_scale", ir::FloatValue(0.3)}};
  EXPECT_TRUE(CroppedBy("RandomIoUCrop", never, Numbered(), OnCanvas({0, 0, 50, 40}), 1).whole);
}

TEST(RandomObjectCrop, TakesPartsThatHoldWhatIsAskedFor) {
  const Tensor boxes = OnCanvas(kBoxes);
  const Given given = {{"min_object_covered", ir::FloatValue(0.6)}, {"min_eject_coverage", ir::FloatValue(0.8)}};
  for (uint64_t row = 0; row < 80; ++row) {
    const Result result = CroppedBy("RandomObjectCrop", given, Numbered(), boxes, row);
    if (result.whole) continue;
    std::vector<int64_t> kept;
    for (int64_t i = 0; i < 3; ++i) {
      const Box box = RowsOf(boxes)[static_cast<size_t>(i)];
      const double covered = AreaInside(box, result.window) / AreaOf(box);
      EXPECT_TRUE(covered == 0 || covered > 0.6) << covered;
      if (covered > 0.8) kept.push_back(i);
    }
    EXPECT_EQ(result.labels, kept);
    EXPECT_FALSE(kept.empty());
  }
}

TEST(RandomObjectCrop, DrawsHeightsAndPlacesUniformly) {
  if (!kCountsChances) GTEST_SKIP();
  const Tensor boxes = OnCanvas({0, 0, 50, 50}, 50, 50);
  const Tensor image = Numbered(50, 50);
  // Squares of 30 to 40 pixels.
  const Given given = {{"aspect_ratio_range", Floats({1, 1})},
                       {"area_range", Floats({0.36, 0.64})},
                       {"min_eject_coverage", ir::FloatValue(0)}};
  std::vector<int64_t> heights(11);
  std::vector<int64_t> tops(11);
  std::vector<int64_t> lefts(11);
  for (uint64_t row = 0; row < 20000; ++row) {
    const Result result = CroppedBy("RandomObjectCrop", given, image, boxes, row);
    ASSERT_EQ(result.window.height, result.window.width);
    ++heights[static_cast<size_t>(result.window.height - 30)];
    if (result.window.height != 40) continue;
    ++tops[static_cast<size_t>(result.window.top)];
    ++lefts[static_cast<size_t>(result.window.left)];
  }
  for (const auto& counts : {heights, tops, lefts}) EXPECT_LT(std::abs(ChiSquareDeviation(counts)), kMostDeviation);
}

TEST(RandomObjectCrop, TriesAsOftenAsItMay) {
  // About one part in 100 holds the small box.
  const Tensor boxes = OnCanvas({10, 10, 15, 15});
  const Given rare = {{"area_range", Floats({0.012, 0.02})}, {"min_object_covered", ir::FloatValue(0.9)}};
  const auto crops = [&](int64_t attempts) {
    Given given = rare;
    given.emplace_back("max_attempts", ir::IntValue(attempts));
    int count = 0;
    for (uint64_t row = 0; row < 200; ++row)
      count += CroppedBy("RandomObjectCrop", given, Numbered(), boxes, row).whole ? 0 : 1;
    return count;
  };
  EXPECT_LT(crops(1), 20);
  EXPECT_GT(crops(2000), 150);
  EXPECT_TRUE(CroppedBy("RandomObjectCrop", {}, Numbered(), OnCanvas({}), 1).whole);
}

TEST(RandomConstrainedCrop, EachConstraintRestricts) {
  const Tensor boxes = OnCanvas(kBoxes);
  struct Case {
    std::string range;
    double (*share)(const Box&, const Window&);
  };
  const std::vector<Case> cases = {
      {"crop_overlaps", [](const Box& box, const Window& window) { return Overlap(box, window); }},
      {"crop_sample_coverages",
       [](const Box& box, const Window& window) {
         return AreaInside(box, window) / static_cast<double>(window.width * window.height);
       }},
      {"crop_object_coverages",
       [](const Box& box, const Window& window) { return AreaInside(box, window) / AreaOf(box); }}};
  for (const Case& each : cases) {
    const Given given = {{Cat("min_", each.range), Floats({0.3})},
                         {Cat("max_", each.range), Floats({0.6})},
                         {"min_crop_scales", Floats({0.2})}};
    int crops = 0;
    for (uint64_t row = 0; row < 60; ++row) {
      const Result result = CroppedBy("RandomConstrainedCrop", given, Numbered(), boxes, row);
      if (result.whole) continue;
      ++crops;
      bool any = false;
      for (size_t i = 0; i < 3; ++i) {
        const double share = each.share(RowsOf(boxes)[i], result.window);
        any = any || (share >= 0.3 && share <= 0.6);
      }
      EXPECT_TRUE(any) << each.range << " " << row;
    }
    EXPECT_GT(crops, 20) << each.range;
  }
}

TEST(RandomConstrainedCrop, DrawsScalesAndSamplers) {
  if (!kCountsChances) GTEST_SKIP();
  const Tensor boxes = OnCanvas({0, 0, 100, 100}, 100, 100);
  const Tensor image = Numbered(100, 100);
  const Given given = {{"min_crop_scales", Floats({0.3, 0.7})},
                       {"max_crop_scales", Floats({0.5, 0.9})},
                       {"emit_mode", ir::StringValue("overlap")},
                       {"emit_overlap_thresh", ir::FloatValue(0)}};
  std::vector<int64_t> samplers(2);
  std::vector<int64_t> widths(20);
  std::vector<int64_t> places(10);
  for (uint64_t row = 0; row < 8000; ++row) {
    const Result result = CroppedBy("RandomConstrainedCrop", given, image, boxes, row);
    ASSERT_EQ(result.window.height, result.window.width);
    const bool first = result.window.width < 60;
    ++samplers[first ? 0 : 1];
    if (!first) continue;
    ++widths[static_cast<size_t>(result.window.width - 30)];
    // Whole pixels of 100 - width, in ten parts.
    const double place =
        (static_cast<double>(result.window.left) + 0.5) / static_cast<double>(100 - result.window.width);
    ++places[std::min<size_t>(static_cast<size_t>(place * 10), 9)];
  }
  EXPECT_LT(std::abs(ChiSquareDeviation(samplers)), kMostDeviation);
  EXPECT_LT(std::abs(ChiSquareDeviation(widths)), kMostDeviation);
  EXPECT_LT(*std::max_element(places.begin(), places.end()), 1.3 * 400);
}

TEST(RandomConstrainedCrop, KeepsObjectsByTheirMiddleOrByWhatIsInside) {
  const Tensor boxes = OnCanvas(kBoxes);
  for (const bool by_middle : {true, false}) {
    const Given given = {{"emit_mode", ir::StringValue(by_middle ? "center" : "overlap")},
                         {"emit_overlap_thresh", ir::FloatValue(0.7)},
                         {"min_crop_scales", Floats({0.3})},
                         {"min_crop_aspect_ratios", Floats({0.5})},
                         {"max_crop_aspect_ratios", Floats({2})}};
    for (uint64_t row = 0; row < 60; ++row) {
      const Result result = CroppedBy("RandomConstrainedCrop", given, Numbered(), boxes, row);
      if (result.whole) continue;
      std::vector<int64_t> kept;
      for (int64_t i = 0; i < 3; ++i) {
        const Box box = RowsOf(boxes)[static_cast<size_t>(i)];
        const Window middle = {static_cast<int64_t>(std::floor((box.top + box.bottom) / 2)),
                               static_cast<int64_t>(std::floor((box.left + box.right) / 2)), 1, 1};
        const bool inside = middle.left >= result.window.left && middle.top >= result.window.top &&
                            middle.left < result.window.left + result.window.width &&
                            middle.top < result.window.top + result.window.height;
        if (by_middle ? inside : AreaInside(box, result.window) > 0.7 * AreaOf(box)) kept.push_back(i);
      }
      // A middle on the border is inside, too.
      EXPECT_TRUE(by_middle || result.labels == kept);
      for (const int64_t each : kept) EXPECT_THAT(result.labels, ::testing::Contains(each));
    }
  }
}

TEST(RandomConstrainedCrop, WithoutBoxesEveryPartIsTaken) {
  const Given given = {{"min_crop_overlaps", Floats({0.9})}, {"max_crop_scales", Floats({0.5})}};
  EXPECT_FALSE(CroppedBy("RandomConstrainedCrop", given, Numbered(), OnCanvas({}), 3).whole);
  // With one, none is.
  EXPECT_TRUE(CroppedBy("RandomConstrainedCrop", given, Numbered(), OnCanvas({0, 0, 50, 40}), 3).whole);
}

}  // namespace
}  // namespace headrace
