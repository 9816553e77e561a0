// Keypoints on their canvas: they end where the pixels go, whatever is drawn, and may leave the image.
#include "kernels/vision/geometry/canvas_keypoints.h"

#include <algorithm>
#include <cmath>
#include <limits>
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
Tensor Of(DType dtype, const Shape& shape, const std::vector<T>& numbers) {
  Tensor tensor = *Tensor::Allocate(dtype, shape);
  std::copy(numbers.begin(), numbers.end(), tensor.mutable_data<T>());
  return tensor;
}

Tensor Points(const std::vector<double>& numbers) {
  return Of(DType::kFloat64, {static_cast<int64_t>(numbers.size() / 2), 2}, numbers);
}

// Beside a canvas of kMovedHeight and kMovedWidth.
Tensor OnCanvasCanvasKeypoints(std::vector<double> numbers) {
  for (const int64_t number : {kMovedWidth, kMovedHeight}) numbers.push_back(static_cast<double>(number));
  return Points(numbers);
}

template <typename T = double>
std::vector<T> NumbersOfCanvasKeypoints(const Tensor& tensor) {
  const Tensor dense = *tensor.Contiguous();
  return {dense.data<T>(), dense.data<T>() + dense.elements()};
}

std::vector<double> MovedCanvasKeypoints(const std::string& kernel, const Given& given, const Tensor& points,
                                         RowId id = {}) {
  const auto moved = fixture::RunKernel(Cat(kernel, "OfKeypoints"), given, {points}, RowRandom(3, 4, id));
  EXPECT_TRUE(moved.ok()) << kernel << ": " << moved.status();
  return moved.ok() ? NumbersOfCanvasKeypoints(*moved) : std::vector<double>();
}

// 1 within a pixel of this one, otherwise 0.
Tensor SpotAt(int64_t at_x, int64_t at_y) {
  Tensor image = *Tensor::Allocate(DType::kUInt8, {kMovedHeight, kMovedWidth});
  for (int64_t y = 0; y < kMovedHeight; ++y) {
    for (int64_t x = 0; x < kMovedWidth; ++x) {
      image.mutable_data<uint8_t>()[y * kMovedWidth + x] = std::abs(x - at_x) <= 1 && std::abs(y - at_y) <= 1 ? 1 : 0;
    }
  }
  return image;
}

// The middle of the pixels that are 1, and half their extent.
struct Spot {
  double x = 0;
  double y = 0;
  double reach = 0;
  bool whole = false;  // and none of them at the border
};

Spot SpotIn(const Tensor& image) {
  const Tensor dense = *image.Contiguous();
  const int64_t height = dense.dim(0);
  const int64_t width = dense.dim(1);
  int64_t left = width;
  int64_t top = height;
  int64_t right = -1;
  int64_t bottom = -1;
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      if (dense.data<uint8_t>()[y * width + x] == 0) continue;
      left = std::min(left, x);
      right = std::max(right, x);
      top = std::min(top, y);
      bottom = std::max(bottom, y);
    }
  }
  const auto middle = [](int64_t low, int64_t high) { return static_cast<double>(low + high) / 2; };
  return {middle(left, right), middle(top, bottom), static_cast<double>(std::max(right - left, bottom - top) + 1) / 2,
          left > 0 && top > 0 && right + 1 < width && bottom + 1 < height && right >= left};
}

TEST(CanvasKeypoints, GoWhereThePixelsGo) {
  int seen_points = 0;
  for (const Move& move : fixture::Moves()) {
    for (uint64_t key = 0; key < 60; ++key) {
      SCOPED_TRACE(Cat(move.kernel, " of row ", key));
      const RowId id = {.epoch = 0, .key = key};
      const auto x = static_cast<int64_t>(1 + key * 7 % 30);
      const auto y = static_cast<int64_t>(1 + key * 5 % 22);
      const auto pixels = fixture::RunKernel(move.kernel, move.given, {SpotAt(x, y)}, RowRandom(3, 4, id));
      ASSERT_TRUE(pixels.ok()) << pixels.status();
      const std::vector<double> moved = MovedCanvasKeypoints(
          move.kernel, move.given, OnCanvasCanvasKeypoints({static_cast<double>(x), static_cast<double>(y)}), id);
      ASSERT_EQ(moved.size(), 4u);
      EXPECT_EQ(moved[2], static_cast<double>(pixels->dim(1)));
      EXPECT_EQ(moved[3], static_cast<double>(pixels->dim(0)));
      const Spot spot = SpotIn(*pixels);
      if (!spot.whole) continue;
      ++seen_points;
      // What turns or resizes takes a point for a place of the plane: half a pixel before the middle of its pixel.
      const bool exact = move.within == 0 && move.kernel != "Rotate";
      const double within = exact ? 0 : 1 + spot.reach / 3;
      EXPECT_LE(std::abs(moved[0] - spot.x), within) << moved[0] << " and " << spot.x;
      EXPECT_LE(std::abs(moved[1] - spot.y), within) << moved[1] << " and " << spot.y;
    }
  }
  EXPECT_GT(seen_points, 700);
}

TEST(CanvasKeypoints, AreFlippedAsMiddlesOfPixels) {
  const Tensor points = OnCanvasCanvasKeypoints({0, 0, 31, 23, 2.25, 7.5, -4, 40});
  EXPECT_THAT(MovedCanvasKeypoints("RandomHorizontalFlip", {{"p", ir::FloatValue(1)}}, points),
              ElementsAre(31, 0, 0, 23, 28.75, 7.5, 35, 40, kMovedWidth, kMovedHeight));
  EXPECT_THAT(MovedCanvasKeypoints("RandomVerticalFlip", {{"p", ir::FloatValue(1)}}, points),
              ElementsAre(0, 23, 31, 0, 2.25, 15.5, -4, -17, kMovedWidth, kMovedHeight));
}

TEST(CanvasKeypoints, AreTurnedAsPlaces) {
  const Tensor points = OnCanvasCanvasKeypoints({0, 0, 32, 24, 0.1, 7.5});
  const auto turned = [&points](double angle) {
    return MovedCanvasKeypoints("Rotate", {{"angle", ir::FloatValue(angle)}, {"expand", ir::BoolValue(true)}}, points);
  };
  EXPECT_THAT(turned(90), ElementsAre(0, 32, 24, 0, 7.5, 32 - 0.1, kMovedHeight, kMovedWidth));
  EXPECT_THAT(turned(180), ElementsAre(32, 24, 0, 0, 32 - 0.1, 16.5, kMovedWidth, kMovedHeight));
  EXPECT_THAT(turned(270), ElementsAre(24, 0, 0, 32, 16.5, 0.1, kMovedHeight, kMovedWidth));
  EXPECT_THAT(turned(360), ElementsAre(0, 0, 32, 24, 0.1, 7.5, kMovedWidth, kMovedHeight));
}

TEST(CanvasKeypoints, LeaveTheImageAndComeBack) {
  const Tensor points = OnCanvasCanvasKeypoints({2, 3, 30, 20});
  const Given crop = {
      {"top", ir::IntValue(5)}, {"left", ir::IntValue(6)}, {"height", ir::IntValue(10)}, {"width", ir::IntValue(12)}};
  const Tensor cut = *fixture::RunKernel("CropOfKeypoints", crop, points);
  EXPECT_THAT(NumbersOfCanvasKeypoints(cut), ElementsAre(-4, -2, 24, 15, 12, 10));
  EXPECT_THAT(MovedCanvasKeypoints("Pad", {{"padding", Ints({6, 5, 14, 9})}}, cut),
              ElementsAre(2, 3, 30, 20, kMovedWidth, kMovedHeight));
  EXPECT_THAT(MovedCanvasKeypoints("Resize", {{"size", Ints({20, 36})}}, cut), ElementsAre(-12, -4, 72, 30, 36, 20));
  EXPECT_THAT(MovedCanvasKeypoints("Affine", {{"translate", Floats({40, -40})}}, points),
              ElementsAre(42, -37, 70, -20, kMovedWidth, kMovedHeight));
}

TEST(CanvasKeypoints, KeepGroupsAndDType) {
  const Tensor groups = Of<float>(DType::kFloat32, {3, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 32, 24, 32, 24});
  const Tensor half = *fixture::RunKernel("ResizeOfKeypoints", {{"size", Ints({12, 16})}}, groups);
  EXPECT_EQ(half.shape(), Shape({3, 2, 2}));
  EXPECT_EQ(half.dtype(), DType::kFloat32);
  EXPECT_THAT(NumbersOfCanvasKeypoints<float>(half), ElementsAre(0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 16, 12, 16, 12));
  EXPECT_EQ((*fixture::RunKernel("TakeKeypoints", {}, half)).shape(), Shape({2, 2, 2}));
}

TEST(CanvasKeypoints, LoseFractionsOfWholeNumbers) {
  const Tensor points = Of<int64_t>(DType::kInt64, {3, 2}, {3, 5, -7, 11, kMovedWidth, kMovedHeight});
  const Tensor half = *fixture::RunKernel("ResizeOfKeypoints", {{"size", Ints({12, 16})}}, points);
  EXPECT_EQ(half.dtype(), DType::kInt64);
  EXPECT_THAT(NumbersOfCanvasKeypoints<int64_t>(half), ElementsAre(1, 2, -3, 5, 16, 12));
}

TEST(CanvasKeypoints, LoseFractionsOfWholeNumbersFarAway) {
  const Tensor points = Of<int64_t>(DType::kInt64, {2, 2}, {2'000'000'003, -2'000'000'003, kMovedWidth, kMovedHeight});
  const Tensor half = *fixture::RunKernel("ResizeOfKeypoints", {{"size", Ints({12, 16})}}, points);
  EXPECT_THAT(NumbersOfCanvasKeypoints<int64_t>(half), ElementsAre(1'000'000'001, -1'000'000'001, 16, 12));
}

// The map's last bits put a point a hair short of a whole number.
TEST(CanvasKeypoints, OfWholeNumbersLandOnThePointsOfAPerspective) {
  const Tensor points = Of<int64_t>(DType::kInt64, {5, 2}, {0, 0, 79, 0, 79, 63, 0, 63, 80, 64});
  const Given given = {{"startpoints", Floats({0, 0, 79, 0, 79, 63, 0, 63})},
                       {"endpoints", Floats({-5, -4, 83, 0, 80, 73, 2, 64})}};
  EXPECT_THAT(NumbersOfCanvasKeypoints<int64_t>(*fixture::RunKernel("PerspectiveOfKeypoints", given, points)),
              ElementsAre(-5, -4, 83, 0, 80, 73, 2, 64, 80, 64));
}

TEST(CanvasKeypoints, OfNoneAreNone) {
  EXPECT_THAT(MovedCanvasKeypoints("RandomCrop", {{"size", Ints({5, 6})}}, OnCanvasCanvasKeypoints({})),
              ElementsAre(6, 5));
  EXPECT_THAT(MovedCanvasKeypoints("Rotate", {{"angle", ir::FloatValue(30)}}, OnCanvasCanvasKeypoints({})),
              ElementsAre(kMovedWidth, kMovedHeight));
}

TEST(CanvasKeypoints, RefusePixelsThatRepeatTheImage) {
  const Given given = {{"padding", Ints({4})}, {"mode", ir::StringValue("reflect")}};
  EXPECT_THAT(MessageOf(fixture::InferType("PadOfKeypoints", given, {ir::ColumnType::Unknown()})),
              HasSubstr("mode='reflect' repeats the image beyond its border, where keypoints would be missing"));
}

TEST(CanvasKeypoints, RefuseWhatIsNone) {
  const char* const kNeeds = "needs keypoints, float32, float64 or int64 of shape (n, 2) or (n, k, 2); got ";
  const Given size = {{"size", Ints({5, 6})}};
  EXPECT_THAT(MessageOf(fixture::RunKernel("CenterCropOfKeypoints", size, fixture::Golden("source"))),
              HasSubstr(Cat(kNeeds, "uint8 (60, 80, 3)")));
  for (const Shape& shape : {Shape{2}, Shape{4, 3}, Shape{4, 0, 2}}) {
    const Tensor wrong = *Tensor::Allocate(DType::kFloat32, shape);
    EXPECT_THAT(MessageOf(fixture::RunKernel("CenterCropOfKeypoints", size, wrong)), HasSubstr(kNeeds));
    EXPECT_THAT(
        MessageOf(fixture::InferType("CenterCropOfKeypoints", size, {ir::ColumnType::Of(DType::kFloat32, shape)})),
        HasSubstr(kNeeds));
  }
  EXPECT_THAT(MessageOf(fixture::RunKernel("CenterCropOfKeypoints", size, Points({}))),
              HasSubstr("needs keypoints on a canvas, as hr.keypoints makes them; got float64 (0, 2)"));
}

TEST(PlaceKeypoints, PutsTheImagesSizeBehind) {
  const Tensor image = *Tensor::Allocate(DType::kUInt8, {kMovedHeight, kMovedWidth, 3});
  const Tensor placed = *fixture::RunKernel("PlaceKeypoints", {}, {image, Points({1, 2, -3, 90})});
  EXPECT_THAT(NumbersOfCanvasKeypoints(placed), ElementsAre(1, 2, -3, 90, kMovedWidth, kMovedHeight));
  EXPECT_THAT(NumbersOfCanvasKeypoints(*fixture::RunKernel("TakeKeypoints", {}, placed)), ElementsAre(1, 2, -3, 90));
}

TEST(PlaceKeypoints, FindsTheSizeInWhatIsEncoded) {
  const Tensor encoded = fixture::Encoded("baseline_420.jpg");
  const std::vector<double> placed =
      NumbersOfCanvasKeypoints(*fixture::RunKernel("PlaceKeypoints", {}, {encoded, Points({1, 2})}));
  const Tensor image = *fixture::RunKernel("Decode", {}, encoded);
  EXPECT_THAT(placed, ElementsAre(1, 2, static_cast<double>(image.dim(1)), static_cast<double>(image.dim(0))));
  const auto none = fixture::RunKernel("PlaceKeypoints", {}, {*Tensor::CopyBytes(DType::kBytes, "8BPS"), Points({})});
  EXPECT_EQ(KindOf(none.status()), ErrorKind::kData);
}

TEST(PlaceKeypoints, RefusesLabelsOfAnotherNumber) {
  const Tensor image = *Tensor::Allocate(DType::kUInt8, {kMovedHeight, kMovedWidth, 3});
  const Tensor groups = *Tensor::Allocate(DType::kFloat32, {2, 3, 2});
  const Tensor labels = *Tensor::Allocate(DType::kInt64, {6});
  const Given columns = {{"columns", ir::StringsValue(std::vector<std::string>{"points", "part"})}};
  const auto placed = fixture::RunKernel("PlaceKeypoints", columns, {image, groups, labels});
  EXPECT_EQ(KindOf(placed.status()), ErrorKind::kData);
  EXPECT_THAT(MessageOf(placed), HasSubstr("column \"part\" is int64 (6,), and column \"points\" has 2; it needs one "
                                           "element for each keypoint"));
}

TEST(ClampKeypoints, MovesThoseOutsideToTheBorder) {
  const Tensor points = OnCanvasCanvasKeypoints({-3, 5, 31, 23, 31.5, 23.25, 7, 90});
  EXPECT_THAT(NumbersOfCanvasKeypoints(*fixture::RunKernel("ClampKeypoints", {}, points)),
              ElementsAre(0, 5, 31, 23, 31, 23, 7, 23, kMovedWidth, kMovedHeight));
}

TEST(SanitizeKeypoints, LeavesThoseInside) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor points = OnCanvasCanvasKeypoints({0, 0, 31.9, 23.9, -0.1, 5, 32, 5, 5, 24, nan, 5});
  Tensor labels = *Tensor::Allocate(DType::kInt64, {6, 2});
  for (int64_t i = 0; i < 12; ++i) labels.mutable_data<int64_t>()[i] = i;
  const Tensors kept = *fixture::RunKernelOutputs("SanitizeKeypoints", {}, {points, labels});
  EXPECT_THAT(NumbersOfCanvasKeypoints(kept[0]), ElementsAre(0, 0, 31.9, 23.9, kMovedWidth, kMovedHeight));
  EXPECT_THAT(NumbersOfCanvasKeypoints<int64_t>(kept[1]), ElementsAre(0, 1, 2, 3));
}

TEST(SanitizeKeypoints, RemovesGroupsOfWhichAPointIsOutside) {
  const Tensor groups = Of<double>(DType::kFloat64, {4, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 24, 8, 9, 10, 11, 32, 24, 32, 24});
  const Tensors kept = *fixture::RunKernelOutputs("SanitizeKeypoints", {}, {groups});
  EXPECT_THAT(NumbersOfCanvasKeypoints(kept[0]),
              ElementsAre(1, 2, 3, 4, 8, 9, 10, 11, kMovedWidth, kMovedHeight, kMovedWidth, kMovedHeight));
  EXPECT_EQ(kept[0].shape(), Shape({3, 2, 2}));
}

}  // namespace
}  // namespace headrace
