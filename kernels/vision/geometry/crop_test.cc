// CenterCrop, RandomCrop and Pad: one copy with borders underneath.
#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/testing/chi_square.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/row_axes.h"
#include "kernels/testing/run_kernel.h"
#include "kernels/vision/image/window.h"

namespace headrace {
namespace {

using fixture::Floats;
using fixture::Golden;
using fixture::InferType;
using fixture::Ints;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

TEST(CenterCrop, EqualsTorchvision) {
  const Tensor source = Golden("source");
  for (const auto& [height, width] : {std::pair{31, 41}, {60, 80}, {75, 40}, {40, 95}, {73, 91}, {59, 79}, {57, 77}}) {
    const Tensor golden = Golden(Cat("center_crop.", height, "x", width));
    ASSERT_FALSE(fixture::AllZero(golden));
    for (const Tensor& input : {source, fixture::WithGaps(source)}) {
      const Tensor crop = *RunKernel("CenterCrop", {{"size", Ints({height, width})}}, input);
      EXPECT_TRUE(TensorsEqual(crop, golden)) << height << " x " << width;
    }
  }
}

TEST(CenterCrop, RoundsDownOnRequest) {
  const Tensor source = Golden("source");  // 60 x 80
  const auto crop = [&](int64_t height, int64_t width, const char* rounding) {
    const fixture::Given given = {{"size", Ints({height, width})}, {"rounding", ir::StringValue(rounding)}};
    return *RunKernel("CenterCrop", given, source)->Contiguous();
  };
  const auto part = [&](int64_t top, int64_t left) {
    return *source.Slice(0, top, 57).Slice(1, left, 73).Contiguous();
  };
  EXPECT_TRUE(TensorsEqual(crop(57, 73, "down"), part(1, 3)));
  EXPECT_TRUE(TensorsEqual(crop(57, 73, "even"), part(2, 4)));
  for (const auto& [height, width] : {std::pair{58, 72}, {75, 95}, {60, 80}}) {
    EXPECT_TRUE(TensorsEqual(crop(height, width, "down"), crop(height, width, "even"))) << height << " x " << width;
  }
}

TEST(CenterCrop, PadsAnOddPixelAtTheBeginOnRequest) {
  const Tensor source = Golden("source");  // 60 x 80
  const auto crop = [&](int64_t height, int64_t width, const char* rounding) {
    const fixture::Given given = {{"size", Ints({height, width})}, {"rounding", ir::StringValue(rounding)}};
    return *RunKernel("CenterCrop", given, source)->Contiguous();
  };
  const auto padded = [&](int64_t left, int64_t top, int64_t right, int64_t bottom) {
    return *RunKernel("Pad", {{"padding", Ints({left, top, right, bottom})}}, source)->Contiguous();
  };
  EXPECT_TRUE(TensorsEqual(crop(65, 83, "floor"), padded(2, 3, 1, 2)));
  EXPECT_TRUE(TensorsEqual(crop(65, 83, "down"), padded(1, 2, 2, 3)));
  EXPECT_TRUE(TensorsEqual(crop(57, 73, "floor"), crop(57, 73, "down")));
  // Cut on one axis and padded on the other.
  EXPECT_TRUE(TensorsEqual(crop(65, 73, "floor"), *padded(0, 3, 0, 2).Slice(1, 3, 73).Contiguous()));
  EXPECT_TRUE(TensorsEqual(crop(64, 84, "floor"), crop(64, 84, "even")));
}

TEST(CenterCrop, IsAViewUnlessThatKeepsMuchAlive) {
  const Tensor source = Golden("source");
  const Tensor large = *RunKernel("CenterCrop", {{"size", Ints({50, 70})}}, source);
  EXPECT_EQ(large.buffer().get(), source.buffer().get());
  const Tensor small = *RunKernel("CenterCrop", {{"size", Ints({5, 7})}}, source);
  EXPECT_NE(small.buffer().get(), source.buffer().get());
}

TEST(CenterCrop, MovesMasksOfAnyType) {
  Tensor mask = *Tensor::Allocate(DType::kInt64, {4, 4});
  for (int64_t i = 0; i < 16; ++i) mask.mutable_data<int64_t>()[i] = i;
  const Tensor crop = *RunKernel("CenterCrop", {{"size", Ints({2, 2})}}, mask)->Contiguous();
  EXPECT_EQ(std::vector<int64_t>(crop.data<int64_t>(), crop.data<int64_t>() + 4), (std::vector<int64_t>{5, 6, 9, 10}));
}

TEST(CenterCrop, InfersItsSize) {
  const ir::ColumnType decoded = ir::ColumnType::Of(DType::kUInt8, {-1, -1, 3});
  EXPECT_EQ(ir::TypeName(*InferType("CenterCrop", {{"size", ir::IntValue(7)}}, {decoded})), "uint8 (7, 7, 3)");
  EXPECT_FALSE(InferType("CenterCrop", {{"size", ir::IntValue(7)}}, {ir::ColumnType::Of(DType::kUInt8, {3})}).ok());
}

TEST(CenterSquare, BeginsAtTheHalfRoundedDown) {
  const Tensor source = Golden("source");  // 60 x 80
  const auto part = [&](int64_t height, int64_t width) { return source.Slice(0, 0, height).Slice(1, 0, width); };
  const auto square = [](const Tensor& input) { return *RunKernel("CenterSquare", {}, input)->Contiguous(); };
  EXPECT_TRUE(TensorsEqual(square(source), *source.Slice(1, 10, 60).Contiguous()));
  EXPECT_TRUE(TensorsEqual(square(part(60, 37)), *part(60, 37).Slice(0, 11, 37).Contiguous()));
  EXPECT_TRUE(TensorsEqual(square(part(60, 57)), *part(60, 57).Slice(0, 1, 57).Contiguous()));
  EXPECT_TRUE(TensorsEqual(square(part(33, 33)), *part(33, 33).Contiguous()));
}

TEST(CenterSquare, InfersItsSize) {
  const auto type_of = [](std::initializer_list<int64_t> shape) {
    return ir::TypeName(*InferType("CenterSquare", {}, {ir::ColumnType::Of(DType::kUInt8, Shape(shape))}));
  };
  EXPECT_EQ(type_of({5, 7, 3}), "uint8 (5, 5, 3)");
  EXPECT_EQ(type_of({-1, 7, 3}), "uint8 (None, None, 3)");
}

// The golden crops were drawn by a second implementation of Philox.
TEST(RandomCrop, EqualsTorchvisionWithTheRowsDraws) {
  const Tensor source = Golden("source");
  const std::vector<fixture::Given> cases = {
      {{"size", Ints({32, 40})}},
      {{"size", Ints({60, 80})}, {"padding", ir::IntValue(4)}},
      {{"size", Ints({50, 70})}, {"padding", Ints({1, 2, 3, 4})}},
      {{"size", Ints({70, 90})}, {"pad_if_needed", ir::BoolValue(true)}},
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    const RowRandom random(7, 3, {.epoch = 1, .key = i});
    const absl::StatusOr<Tensor> crop = RunKernel("RandomCrop", cases[i], {fixture::WithGaps(source)}, random);
    ASSERT_TRUE(crop.ok()) << crop.status();
    EXPECT_TRUE(TensorsEqual(*crop, Golden(Cat("random_crop.", i)))) << i;
  }
}

// Nine positions, and the next row's, which is independent.
TEST(RandomCrop, ReachesEveryPlaceEquallyOften) {
  Tensor places = *Tensor::Allocate(DType::kInt32, {5, 6});
  for (int32_t i = 0; i < 30; ++i) places.mutable_data<int32_t>()[i] = i % 6 < 3 && i < 18 ? i / 6 * 3 + i % 6 : 1000;
  for (const fixture::RowAxis& axis : fixture::kRowAxes) {
    const auto place = [&](uint64_t number) {
      const Tensor crop = *RunKernel("RandomCrop", {{"size", Ints({3, 4})}}, {places}, axis.stream(number));
      return static_cast<size_t>(crop.value<int32_t>());
    };
    std::vector<int64_t> alone(9), pairs(81);
    size_t before = place(0);
    for (uint64_t number = 1; number <= 6000; ++number) {
      const size_t now = place(number);
      ASSERT_LT(now, 9u);
      ++alone[now];
      ++pairs[before * 9 + now];
      before = now;
    }
    EXPECT_LT(std::abs(ChiSquareDeviation(alone)), kMostDeviation) << axis.name;
    EXPECT_LT(std::abs(ChiSquareDeviation(pairs)), kMostDeviation) << axis.name;
  }
}

TEST(RandomCrop, RefusesAnImageThatIsTooSmall) {
  const absl::StatusOr<Tensor> crop = RunKernel("RandomCrop", {{"size", Ints({61, 10})}}, Golden("source"));
  EXPECT_EQ(KindOf(crop.status()), ErrorKind::kGraph);
  EXPECT_THAT(MessageOf(crop), HasSubstr("the crop (61, 10) is larger than the image (60, 80); use pad_if_needed"));
}

TEST(RandomCrop, FillsWhatItAdds) {
  const fixture::Given given = {
      {"size", Ints({100, 100})}, {"pad_if_needed", ir::BoolValue(true)}, {"fill", Floats({9, 8, 7})}};
  const Tensor crop = *RunKernel("RandomCrop", given, Golden("pad.source"));
  int filled = 0;
  for (int64_t i = 0; i < 100 * 100; ++i) {
    filled += crop.raw()[i * 3] == 9 && crop.raw()[i * 3 + 1] == 8 && crop.raw()[i * 3 + 2] == 7;
  }
  EXPECT_GE(filled, 100 * 100 - 7 * 9);
}

TEST(Pad, EqualsNumPy) {
  const Tensor source = Golden("pad.source");
  const auto pad = [&](std::string_view mode, std::initializer_list<int64_t> padding) {
    const fixture::Given given = {{"padding", Ints(padding)}, {"mode", ir::StringValue(mode)}};
    return *RunKernel("Pad", given, fixture::WithGaps(source));
  };
  for (const char* mode : {"edge", "reflect", "symmetric"}) {
    EXPECT_TRUE(TensorsEqual(pad(mode, {1, 2, 3, 4}), Golden(Cat("pad.", mode)))) << mode;
    EXPECT_TRUE(TensorsEqual(pad(mode, {22, 20, 23, 21}), Golden(Cat("pad.", mode, ".wide")))) << mode;
  }
  const fixture::Given constant = {{"padding", Ints({1, 2, 3, 4})}, {"fill", Floats({10, 20, 30})}};
  EXPECT_TRUE(TensorsEqual(*RunKernel("Pad", constant, source), Golden("pad.constant")));
}

TEST(Pad, ReadsPaddingAsTorchvision) {
  const Tensor source = Golden("pad.source");
  EXPECT_EQ(RunKernel("Pad", {{"padding", ir::IntValue(2)}}, source)->TypeName(), "uint8 (11, 13, 3)");
  EXPECT_EQ(RunKernel("Pad", {{"padding", Ints({1, 5})}}, source)->TypeName(), "uint8 (17, 11, 3)");
  EXPECT_EQ(RunKernel("Pad", {{"padding", Ints({0})}}, source)->TypeName(), "uint8 (7, 9, 3)");
  EXPECT_FALSE(RunKernel("Pad", {{"padding", Ints({1, 2, 3})}}, source).ok());
  EXPECT_FALSE(RunKernel("Pad", {{"padding", Ints({-1})}}, source).ok());
}

TEST(Pad, RefusesAFillThatDoesNotFit) {
  const Tensor source = Golden("pad.source");
  const auto message = [&](std::initializer_list<double> fill) {
    return MessageOf(RunKernel("Pad", {{"padding", Ints({1})}, {"fill", Floats(fill)}}, source));
  };
  EXPECT_THAT(message({256}), HasSubstr("fill = 256 does not fit dtype uint8"));
  EXPECT_THAT(message({0.5}), HasSubstr("does not fit"));
  EXPECT_THAT(message({1, 2}), HasSubstr("fill has 2 values, but the image has 3 channels"));
}

TEST(Pad, InfersSizesWhereTheyAreKnown) {
  const fixture::Given given = {{"padding", Ints({1, 2, 3, 4})}};
  EXPECT_EQ(ir::TypeName(*InferType("Pad", given, {ir::ColumnType::Of(DType::kUInt8, {-1, 9, 3})})),
            "uint8 (None, 13, 3)");
}

TEST(BorderIndex, FoldsAxesOfOneElement) {
  EXPECT_EQ(BorderIndex(-5, 1, Border::kReflect), 0);
  EXPECT_EQ(BorderIndex(7, 1, Border::kSymmetric), 0);
  EXPECT_EQ(BorderIndex(-1, 4, Border::kReflect), 1);
  EXPECT_EQ(BorderIndex(-1, 4, Border::kSymmetric), 0);
  EXPECT_EQ(BorderIndex(4, 4, Border::kReflect), 2);
  EXPECT_EQ(BorderIndex(4, 4, Border::kConstant), -1);
}

}  // namespace
}  // namespace headrace
