// Boxes on their canvas: they end where the pixels go, whatever is drawn.
#include "kernels/vision/geometry/canvas_boxes.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/moves.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Floats;
using fixture::Given;
using fixture::Ints;
using fixture::kMovedHeight;
using fixture::kMovedWidth;
using fixture::MessageOf;
using fixture::Move;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename T>
Tensor Rows(DType dtype, const std::vector<T>& numbers) {
  Tensor tensor = *Tensor::Allocate(dtype, {static_cast<int64_t>(numbers.size() / 4), 4});
  std::copy(numbers.begin(), numbers.end(), tensor.mutable_data<T>());
  return tensor;
}
Tensor Floats64(const std::vector<double>& numbers) { return Rows(DType::kFloat64, numbers); }

// Beside a canvas of kMovedHeight and kMovedWidth.
Tensor OnCanvasCanvasBoxes(std::vector<double> numbers) {
  for (const int64_t number : {int64_t{0}, int64_t{0}, kMovedWidth, kMovedHeight})
    numbers.push_back(static_cast<double>(number));
  return Floats64(numbers);
}

template <typename T = double>
std::vector<T> NumbersOfCanvasBoxes(const Tensor& tensor) {
  return {tensor.data<T>(), tensor.data<T>() + tensor.elements()};
}

std::vector<double> MovedCanvasBoxes(const std::string& kernel, const Given& given, const Tensor& boxes,
                                     RowId id = {}) {
  const auto moved = fixture::RunKernel(Cat(kernel, "OfBoxes"), given, {boxes}, RowRandom(3, 4, id));
  EXPECT_TRUE(moved.ok()) << kernel << ": " << moved.status();
  return moved.ok() ? NumbersOfCanvasBoxes(*moved) : std::vector<double>();
}

// 1 inside of the rectangle, otherwise 0.
Tensor MaskOf(const std::vector<double>& box) {
  Tensor mask = *Tensor::Allocate(DType::kUInt8, {kMovedHeight, kMovedWidth});
  for (int64_t y = 0; y < kMovedHeight; ++y) {
    for (int64_t x = 0; x < kMovedWidth; ++x) {
      const auto at_x = static_cast<double>(x);
      const auto at_y = static_cast<double>(y);
      const bool inside = at_x >= box[0] && at_x < box[2] && at_y >= box[1] && at_y < box[3];
      mask.mutable_data<uint8_t>()[y * kMovedWidth + x] = inside ? 1 : 0;
    }
  }
  return mask;
}

// That of the pixels that are 1; empty: there are none.
std::vector<double> BoxOf(const Tensor& mask) {
  std::vector<double> box;
  const Tensor dense = *mask.Contiguous();
  for (int64_t y = 0; y < dense.dim(0); ++y) {
    for (int64_t x = 0; x < dense.dim(1); ++x) {
      if (dense.data<uint8_t>()[y * dense.dim(1) + x] == 0) continue;
      const std::vector<double> pixel = {static_cast<double>(x), static_cast<double>(y), static_cast<double>(x + 1),
                                         static_cast<double>(y + 1)};
      if (box.empty()) box = pixel;
      box = {std::min(box[0], pixel[0]), std::min(box[1], pixel[1]), std::max(box[2], pixel[2]),
             std::max(box[3], pixel[3])};
    }
  }
  return box;
}

TEST(CanvasBoxes, GoWhereThePixelsGo) {
  int moved_boxes = 0;
  for (const Move& move : fixture::Moves()) {
    for (uint64_t key = 0; key < 60; ++key) {
      SCOPED_TRACE(Cat(move.kernel, " of row ", key));
      const RowId id = {.epoch = 0, .key = key};
      const auto side = [&](int64_t most, uint64_t by) {
        return static_cast<double>((key * by) % static_cast<uint64_t>(most));
      };
      const std::vector<double> box = {side(13, 7), side(11, 5), 14 + side(17, 3), 12 + side(12, 11)};
      const auto pixels = fixture::RunKernel(move.kernel, move.given, {MaskOf(box)}, RowRandom(3, 4, id));
      ASSERT_TRUE(pixels.ok()) << pixels.status();
      const std::vector<double> moved = MovedCanvasBoxes(move.kernel, move.given, OnCanvasCanvasBoxes(box), id);
      ASSERT_EQ(moved.size(), 8u);
      EXPECT_EQ(moved[6], static_cast<double>(pixels->dim(1)));
      EXPECT_EQ(moved[7], static_cast<double>(pixels->dim(0)));
      const std::vector<double> seen = BoxOf(*pixels);
      if (seen.empty()) continue;
      ++moved_boxes;
      for (size_t i = 0; i < 4; ++i) {
        // The corners of a box that is turned are not all seen.
        const double out = i < 2 ? moved[i] - seen[i] : seen[i] - moved[i];
        EXPECT_LE(out, move.within) << i << ": " << moved[i] << " and " << seen[i];
        if (!move.turns()) {
          EXPECT_GE(out, -move.within) << i << ": " << moved[i] << " and " << seen[i];
        }
      }
    }
  }
  EXPECT_GT(moved_boxes, 1000);
}

TEST(CanvasBoxes, AreClampedByWhatCutsAlone) {
  const Tensor outside = OnCanvasCanvasBoxes({-5, -6, 40, 30});
  EXPECT_THAT(MovedCanvasBoxes("RandomHorizontalFlip", {{"p", ir::FloatValue(1)}}, outside),
              ElementsAre(-8, -6, 37, 30, 0, 0, kMovedWidth, kMovedHeight));
  EXPECT_THAT(MovedCanvasBoxes("Resize", {{"size", Ints({48, 64})}}, outside),
              ElementsAre(-10, -12, 80, 60, 0, 0, 64, 48));
  // To the result alone: what is beyond the image may lie on its margins.
  EXPECT_THAT(MovedCanvasBoxes("Pad", {{"padding", Ints({3, 10})}}, outside), ElementsAre(0, 4, 38, 40, 0, 0, 38, 44));
  // Even where it keeps all of the image.
  EXPECT_THAT(MovedCanvasBoxes("CenterCrop", {{"size", Ints({kMovedHeight, kMovedWidth})}}, outside),
              ElementsAre(0, 0, 32, 24, 0, 0, kMovedWidth, kMovedHeight));
}

TEST(CanvasBoxes, AreClampedByTurnsOfAnyAngle) {
  const Tensor outside = OnCanvasCanvasBoxes({-5, 6, 40, 30});
  const auto turned = [&outside](double angle) {
    return MovedCanvasBoxes("Rotate", {{"angle", ir::FloatValue(angle)}, {"expand", ir::BoolValue(true)}}, outside);
  };
  EXPECT_THAT(turned(0), ElementsAre(0, 6, 32, 24, 0, 0, kMovedWidth, kMovedHeight));
  EXPECT_THAT(turned(90), ElementsAre(6, 0, 24, 32, 0, 0, kMovedHeight, kMovedWidth));
  EXPECT_THAT(turned(180), ElementsAre(0, 0, 32, 18, 0, 0, kMovedWidth, kMovedHeight));
  EXPECT_THAT(turned(270), ElementsAre(0, 0, 18, 32, 0, 0, kMovedHeight, kMovedWidth));
}

TEST(CanvasBoxes, LoseFractionsOfWholeNumbers) {
  const Tensor boxes = Rows<int64_t>(DType::kInt64, {3, 5, 7, 11, 0, 0, kMovedWidth, kMovedHeight});
  const Tensor half = *fixture::RunKernel("ResizeOfBoxes", {{"size", Ints({12, 16})}}, boxes);
  EXPECT_EQ(half.dtype(), DType::kInt64);
  EXPECT_THAT(NumbersOfCanvasBoxes<int64_t>(half), ElementsAre(1, 2, 3, 5, 0, 0, 16, 12));
}

TEST(CanvasBoxes, OfNoneAreNone) {
  EXPECT_THAT(MovedCanvasBoxes("RandomCrop", {{"size", Ints({5, 6})}}, OnCanvasCanvasBoxes({})),
              ElementsAre(0, 0, 6, 5));
}

TEST(CanvasBoxes, RefusePixelsThatRepeatTheImage) {
  for (const char* kernel : {"PadOfBoxes", "RandomCropOfBoxes", "PadToSizeOfBoxes"}) {
    const char* const size = std::string(kernel) == "PadOfBoxes" ? "padding" : "size";
    const Given given = {{size, Ints({40, 40})}, {"mode", ir::StringValue("reflect")}};
    EXPECT_THAT(MessageOf(fixture::InferType(kernel, given, {ir::ColumnType::Unknown()})),
                HasSubstr("mode='reflect' repeats the image beyond its border"));
  }
}

TEST(CanvasBoxes, RefuseWhatIsNone) {
  const Tensor image = fixture::Golden("source");
  EXPECT_THAT(MessageOf(fixture::RunKernel("CenterCropOfBoxes", {{"size", Ints({5, 6})}}, image)),
              HasSubstr("needs boxes, float32, float64 or int64 of shape (n, 4); got uint8 (60, 80, 3)"));
}

Given Format(const char* format, bool relative = false) {
  return {{"format", ir::StringValue(format)}, {"relative", ir::BoolValue(relative)}};
}

TEST(PlaceBoxes, ReadsEachFormatAndTakeBoxesWritesIt) {
  const Tensor image = *Tensor::Allocate(DType::kUInt8, {kMovedHeight, kMovedWidth, 3});
  const std::vector<std::pair<Given, std::vector<double>>> written = {
      {Format("xyxy"), {4, 6, 12, 18}},
      {Format("xywh"), {4, 6, 8, 12}},
      {Format("cxcywh"), {8, 12, 8, 12}},
      {Format("xyxy", true), {0.125, 0.25, 0.375, 0.75}},
      {Format("cxcywh", true), {0.25, 0.5, 0.25, 0.5}},
  };
  for (const auto& [format, numbers] : written) {
    const Tensor placed = *fixture::RunKernel("PlaceBoxes", format, {image, Floats64(numbers)});
    EXPECT_THAT(NumbersOfCanvasBoxes(placed), ElementsAre(4, 6, 12, 18, 0, 0, kMovedWidth, kMovedHeight));
    EXPECT_EQ(NumbersOfCanvasBoxes(*fixture::RunKernel("TakeBoxes", format, placed)), numbers);
  }
}

TEST(PlaceBoxes, RoundsMiddlesOfWholeNumbersDown) {
  const Tensor placed = Rows<int64_t>(DType::kInt64, {1, 2, 4, 7, 0, 0, kMovedWidth, kMovedHeight});
  EXPECT_THAT(NumbersOfCanvasBoxes<int64_t>(*fixture::RunKernel("TakeBoxes", Format("cxcywh"), placed)),
              ElementsAre(2, 4, 3, 5));
}

// Whole numbers as middle and size have edges between pixels where the size is odd.
TEST(PlaceBoxes, KeepsMiddlesOfWholeNumbers) {
  const Tensor image = *Tensor::Allocate(DType::kUInt8, {kMovedHeight, kMovedWidth, 3});
  const std::vector<int64_t> given = {10, 11, 7, 3, -4, 2, 5, 4, 6, 6, 6, 5};
  const Tensor placed =
      *fixture::RunKernel("PlaceBoxes", Format("cxcywh"), {image, Rows<int64_t>(DType::kInt64, given)});
  EXPECT_EQ(placed.dtype(), DType::kInt64);
  const auto taken = [](const Tensor& boxes, const char* format) {
    return NumbersOfCanvasBoxes<int64_t>(*fixture::RunKernel("TakeBoxes", Format(format), boxes));
  };
  EXPECT_EQ(taken(placed, "cxcywh"), given);
  EXPECT_THAT(taken(placed, "xyxy"), ElementsAre(6, 9, 13, 12, -7, 0, -2, 4, 3, 3, 9, 8));
  const Tensor flipped = *fixture::RunKernel("RandomHorizontalFlipOfBoxes", {{"p", ir::FloatValue(1)}}, placed);
  EXPECT_THAT(taken(flipped, "cxcywh"), ElementsAre(22, 11, 7, 3, 36, 2, 5, 4, 26, 6, 6, 5));
  const Tensor clamped = *fixture::RunKernel("ClampBoxes", {}, placed);
  EXPECT_THAT(taken(clamped, "cxcywh"), ElementsAre(10, 11, 7, 3, 0, 2, 0, 4, 6, 6, 6, 5));
}

TEST(PlaceBoxes, FindsTheSizeInWhatIsEncoded) {
  const Tensor boxes = Floats64({1, 2, 3, 4});
  const std::vector<double> placed =
      NumbersOfCanvasBoxes(*fixture::RunKernel("PlaceBoxes", {}, {fixture::Encoded("baseline_420.jpg"), boxes}));
  const Tensor image = *fixture::RunKernel("Decode", {}, fixture::Encoded("baseline_420.jpg"));
  EXPECT_EQ(placed[6], static_cast<double>(image.dim(1)));
  EXPECT_EQ(placed[7], static_cast<double>(image.dim(0)));
  const auto none = fixture::RunKernel("PlaceBoxes", {}, {*Tensor::CopyBytes(DType::kBytes, "8BPS"), boxes});
  EXPECT_EQ(KindOf(none.status()), ErrorKind::kData);
  EXPECT_THAT(MessageOf(none), HasSubstr("not a JPEG, PNG, WebP, GIF, BMP, TIFF or PNM"));
}

TEST(PlaceBoxes, RefusesLabelsOfAnotherNumber) {
  const Tensor image = *Tensor::Allocate(DType::kUInt8, {kMovedHeight, kMovedWidth, 3});
  const Tensor one = *Tensor::Allocate(DType::kInt64, {1});
  const Tensor three = *Tensor::Allocate(DType::kInt64, {3});
  const Given columns = {{"columns", ir::StringsValue(std::vector<std::string>{"objects", "kind", "name"})}};
  const auto placed = fixture::RunKernel("PlaceBoxes", columns, {image, Floats64({1, 2, 3, 4}), one, three});
  EXPECT_EQ(KindOf(placed.status()), ErrorKind::kData);
  EXPECT_THAT(MessageOf(placed),
              HasSubstr("column \"name\" is int64 (3,), and column \"objects\" has 1; it needs one element for each "
                        "box, of shape (1, …)"));
  const Tensor none = *Tensor::Allocate(DType::kInt64, {});
  EXPECT_THAT(MessageOf(fixture::RunKernel("PlaceBoxes", {}, {image, Floats64({1, 2, 3, 4}), none})),
              HasSubstr("labels is int64 (), and what they label has 1"));
}

TEST(PlaceBoxes, RefusesWholeNumbersAsParts) {
  const auto type =
      fixture::InferType("PlaceBoxes", Format("xyxy", true),
                         {ir::ColumnType::Unknown(), ir::ColumnType::Of(DType::kInt64, {ir::kUnknownDim, 4})});
  EXPECT_THAT(MessageOf(type), HasSubstr("leave out relative=True"));
}

TEST(ClampBoxes, CutsBoxesOffAtTheImage) {
  const Tensor boxes =
      Floats64({-3.5, 6, 40, 18, 4, -9, 12, 25, -9, 30, -2, 35, 4, 6, 12, 18, 0, 0, kMovedWidth, kMovedHeight});
  EXPECT_THAT(NumbersOfCanvasBoxes(*fixture::RunKernel("ClampBoxes", {}, boxes)),
              ElementsAre(0, 6, kMovedWidth, 18, 4, 0, 12, kMovedHeight, 0, kMovedHeight, 0, kMovedHeight, 4, 6, 12, 18,
                          0, 0, kMovedWidth, kMovedHeight));
}

TEST(ConvertBoxFormat, LeavesTheCanvasAlone) {
  const Tensor boxes = Floats64({4, 6, 12, 18, 0, 0, kMovedWidth, kMovedHeight});
  EXPECT_TRUE(TensorsEqual(*fixture::RunKernel("ConvertBoxFormat", Format("xywh", true), boxes), boxes));
  const Tensor whole = Rows<int64_t>(DType::kInt64, {1, 2, 4, 7, 0, 0, kMovedWidth, kMovedHeight});
  EXPECT_THAT(MessageOf(fixture::RunKernel("ConvertBoxFormat", Format("xywh", true), whole)),
              HasSubstr("leave out relative=True"));
}

TEST(SanitizeBoxes, LeavesWhatHoldsSomething) {
  const Tensor boxes =
      OnCanvasCanvasBoxes({0, 0, 32, 24, 1, 1, 1.5, 9, 2, 2, 3, 3, 30, 2, 33, 9, -1, 2, 5, 9, 5, 5, 5, 5});
  Tensor labels = *Tensor::Allocate(DType::kInt64, {6, 2});
  for (int64_t i = 0; i < 12; ++i) labels.mutable_data<int64_t>()[i] = i;
  const Tensors kept = *fixture::RunKernelOutputs("SanitizeBoxes", {}, {boxes, labels});
  EXPECT_THAT(NumbersOfCanvasBoxes(kept[0]), ElementsAre(0, 0, 32, 24, 2, 2, 3, 3, 0, 0, kMovedWidth, kMovedHeight));
  EXPECT_THAT(NumbersOfCanvasBoxes<int64_t>(kept[1]), ElementsAre(0, 1, 4, 5));
  const Tensors large =
      *fixture::RunKernelOutputs("SanitizeBoxes", {{"min_area", ir::FloatValue(769)}}, {boxes, labels});
  EXPECT_THAT(NumbersOfCanvasBoxes(large[0]), ElementsAre(0, 0, kMovedWidth, kMovedHeight));
  EXPECT_EQ(large[1].shape(), Shape({0, 2}));
}

TEST(MatchMask, RefusesAnotherSize) {
  const Tensor image = *Tensor::Allocate(DType::kUInt8, {kMovedHeight, kMovedWidth, 3});
  const Tensor mask = *Tensor::Allocate(DType::kInt32, {kMovedHeight, kMovedWidth});
  EXPECT_EQ((*fixture::RunKernel("MatchMask", {}, {image, mask})).raw(), mask.raw());
  const auto other =
      fixture::RunKernel("MatchMask", {}, {image, *Tensor::Allocate(DType::kInt32, {kMovedWidth, kMovedHeight})});
  EXPECT_EQ(KindOf(other.status()), ErrorKind::kData);
  EXPECT_THAT(MessageOf(other), HasSubstr("the mask has height 32 and width 24, but its image has height 24"));
}

}  // namespace
}  // namespace headrace
