#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"
#include "opencv2/imgproc.hpp"

namespace headrace {
namespace {

using fixture::Given;
using fixture::Golden;
using fixture::InferType;
using fixture::Ints;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

fixture::Given SizeResize(int64_t height, int64_t width, std::string_view interpolation = "bilinear",
                          bool antialias = true) {
  return {{"size", Ints({height, width})},
          {"interpolation", ir::StringValue(interpolation)},
          {"antialias", ir::BoolValue(antialias)}};
}

Tensor Words(const Tensor& bytes, int scale, int offset) {
  Tensor words = *Tensor::Allocate(DType::kUInt16, bytes.shape());
  for (int64_t i = 0; i < bytes.elements(); ++i) {
    words.mutable_data<uint16_t>()[i] = static_cast<uint16_t>(bytes.raw()[i] * scale + offset);
  }
  return words;
}
// White stays white.
Tensor Words(const Tensor& bytes) { return Words(bytes, 257, 0); }

class ResizeInterpolation : public ::testing::TestWithParam<const char*> {};

TEST_P(ResizeInterpolation, EqualsPillowBitForBit) {
  const Tensor source = Golden("source");
  for (const auto& [height, width] : {std::pair{23, 31}, {97, 111}, {60, 45}, {90, 80}, {40, 100}}) {
    const Tensor golden = Golden(Cat("resize.", GetParam(), ".", height, "x", width, ".pillow"));
    ASSERT_FALSE(fixture::AllZero(golden));
    for (const Tensor& input : {source, fixture::WithGaps(source)}) {
      const absl::StatusOr<Tensor> resized = RunKernel("Resize", SizeResize(height, width, GetParam()), input);
      ASSERT_TRUE(resized.ok()) << resized.status();
      EXPECT_EQ(fixture::LargestDifference(*resized, golden), 0) << height << " x " << width;
    }
  }
}

TEST_P(ResizeInterpolation, EqualsPillowOnFloatsBitForBit) {
  const Tensor golden = Golden(Cat("resize.", GetParam(), ".float32.pillow"));
  const Tensor resized = *RunKernel("Resize", SizeResize(23, 31, GetParam()), Golden("source.float32"));
  EXPECT_EQ(fixture::LargestDifference(resized, golden), 0);
}

TEST_P(ResizeInterpolation, EqualsPillowOnMasks) {
  const Tensor golden = Golden(Cat("resize.", GetParam(), ".grey.pillow"));
  const Tensor source = Golden("source");
  Tensor green = *Tensor::Allocate(DType::kUInt8, {source.dim(0), source.dim(1)});
  for (int64_t i = 0; i < green.elements(); ++i) green.mutable_raw()[i] = source.raw()[i * 3 + 1];
  EXPECT_EQ(fixture::LargestDifference(*RunKernel("Resize", SizeResize(41, 100, GetParam()), green), golden), 0);
}

TEST_P(ResizeInterpolation, IsWithinOneLevelOfOpenCv) {
  const Tensor source = Golden("source");
  for (const auto& [height, width] : {std::pair{23, 31}, {97, 111}, {60, 45}, {90, 80}, {40, 100}}) {
    const Tensor golden = Golden(Cat("resize.", GetParam(), ".", height, "x", width, ".opencv"));
    for (const Tensor& input : {source, fixture::WithGaps(source)}) {
      const Tensor resized = *RunKernel("Resize", SizeResize(height, width, GetParam(), false), input);
      EXPECT_LE(fixture::LargestDifference(resized, golden), 1) << height << " x " << width;
      EXPECT_LE(fixture::MeanDifference(resized, golden), 0.1) << height << " x " << width;
    }
  }
  const Tensor floats = *RunKernel("Resize", SizeResize(23, 31, GetParam(), false), Golden("source.float32"));
  EXPECT_LE(fixture::LargestDifference(floats, Golden(Cat("resize.", GetParam(), ".float32.opencv"))), 1e-3);
}

TEST_P(ResizeInterpolation, EqualsCvResizeBitForBit) {
  const std::map<std::string, int> interpolations = {{"nearest", cv::INTER_NEAREST},
                                                     {"bilinear", cv::INTER_LINEAR},
                                                     {"bicubic", cv::INTER_CUBIC},
                                                     {"area", cv::INTER_AREA},
                                                     {"lanczos", cv::INTER_LANCZOS4}};
  const Tensor source = Golden("source");
  for (const Tensor& input : {source, Words(source, 173, 9999), Golden("source.float32"), fixture::WithGaps(source)}) {
    const int depth = input.dtype() == DType::kFloat32 ? CV_32F : input.dtype() == DType::kUInt16 ? CV_16U : CV_8U;
    const int rows = static_cast<int>(input.dim(0));
    const int columns = static_cast<int>(input.dim(1));
    const cv::Mat given(rows, columns, CV_MAKETYPE(depth, 3), const_cast<uint8_t*>(input.raw()),
                        static_cast<size_t>(input.stride(0)));
    for (const auto& [height, width] : {std::pair{23, 31}, {97, 111}, {rows / 2, columns / 2}, {rows, columns}}) {
      cv::Mat expected;
      cv::resize(given, expected, {width, height}, 0, 0, interpolations.at(GetParam()));
      const Tensor resized = *RunKernel("Resize", SizeResize(height, width, GetParam(), false), input)->Contiguous();
      ASSERT_EQ(resized.bytes(), expected.total() * expected.elemSize());
      EXPECT_EQ(std::memcmp(resized.raw(), expected.data, resized.bytes()), 0)
          << input.TypeName() << " to " << height << " x " << width;
    }
  }
}

TEST_P(ResizeInterpolation, IsWithinOneLevelOfOpenCvOnWords) {
  const Tensor words = Words(Golden("source"));
  const Tensor golden = Golden(Cat("resize.", GetParam(), ".uint16.opencv"));
  for (const Tensor& input : {words, fixture::WithGaps(words)}) {
    const Tensor resized = *RunKernel("Resize", SizeResize(23, 31, GetParam(), false), input);
    EXPECT_LE(fixture::LargestDifference(resized, golden), 1);
  }
}

TEST_P(ResizeInterpolation, EqualsPillowOnWordsBitForBit) {
  const Tensor words = Words(Golden("source"), 173, 9999);
  const Tensor golden = Golden(Cat("resize.", GetParam(), ".uint16.pillow"));
  for (const Tensor& input : {words, fixture::WithGaps(words)}) {
    EXPECT_TRUE(TensorsEqual(*RunKernel("Resize", SizeResize(23, 31, GetParam()), input), golden));
  }
}

// As floats they are not rounded between the passes.
TEST_P(ResizeInterpolation, TakesWordsAsFloats) {
  const Given floats = {{"dtype", ir::StringValue("float32")}};
  const Tensor words = Words(Golden("source"), 173, 9999);
  for (const auto& [height, width] : {std::pair{97, 111}, {60, 45}, {40, 80}, {20, 100}}) {
    const Given size = SizeResize(height, width, GetParam());
    const Tensor resized = *RunKernel("TypeCast", floats, *RunKernel("Resize", size, words));
    const Tensor exact = *RunKernel("Resize", size, *RunKernel("TypeCast", floats, words));
    EXPECT_LE(fixture::LargestDifference(resized, exact), 1.5) << height << " x " << width;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ResizeInterpolation,
                         ::testing::Values("nearest", "bilinear", "bicubic", "area", "lanczos"));

// Beside an edge a windowed sinc goes below black and above white; the results must not wrap around.
TEST(Resize, LanczosRingsWithinTheRange) {
  Tensor edge = *Tensor::Allocate(DType::kUInt8, {16, 16, 1});
  for (int64_t i = 0; i < edge.elements(); ++i) edge.mutable_raw()[i] = i % 16 < 8 ? 0 : 255;
  for (const bool antialias : {true, false}) {
    const Tensor resized = *RunKernel("Resize", SizeResize(40, 40, "lanczos", antialias), edge);
    for (int64_t x = 0; x < 40; ++x) {
      EXPECT_TRUE(x < 17 ? resized.raw()[x] < 60 : x > 22 ? resized.raw()[x] > 195 : true) << x;
    }
    const Tensor words = *RunKernel("Resize", SizeResize(40, 40, "lanczos", antialias), Words(edge));
    for (int64_t x = 0; x < 40; ++x) {
      const int word = words.data<uint16_t>()[x];
      EXPECT_TRUE(x < 17 ? word < 16000 : x > 22 ? word > 50000 : true) << x << ": " << word;
    }
  }
}

TEST(Resize, ChoosesTheInterpolationByTheSizes) {
  struct Case {
    int64_t height, width;
    const char* chosen;
  };
  // Of 60 × 80 pixels: both shrink, both grow, one of each, and one that stays.
  for (const Case& each : {Case{23, 31, "area"}, {97, 111, "bicubic"}, {40, 100, "bilinear"}, {60, 45, "bilinear"}}) {
    for (const bool antialias : {true, false}) {
      const Tensor got = *RunKernel("Resize", SizeResize(each.height, each.width, "auto", antialias), Golden("source"));
      const Tensor expected =
          *RunKernel("Resize", SizeResize(each.height, each.width, each.chosen, antialias), Golden("source"));
      EXPECT_TRUE(TensorsEqual(got, expected)) << each.height << " x " << each.width;
    }
  }
}

// Two and five channels take the general loops; each channel alone is the specification.
TEST(Resize, TreatsChannelsAlike) {
  const Tensor source = Golden("source");
  for (const int channels : {2, 5}) {
    Tensor many = *Tensor::Allocate(DType::kUInt8, {60, 80, channels});
    for (int64_t i = 0; i < 60 * 80; ++i) {
      for (int c = 0; c < channels; ++c) many.mutable_raw()[i * channels + c] = source.raw()[i * 3 + c % 3];
    }
    const Tensor golden = Golden("resize.bicubic.23x31.pillow");
    const Tensor resized = *RunKernel("Resize", SizeResize(23, 31, "bicubic"), many);
    for (int64_t i = 0; i < 23 * 31; ++i) {
      for (int c = 0; c < channels; ++c) ASSERT_EQ(resized.raw()[i * channels + c], golden.raw()[i * 3 + c % 3]);
    }
  }
}

TEST(Resize, MakesTheShorterSideALength) {
  const Tensor source = Golden("source");
  const Tensor lying = *RunKernel("Resize", {{"size", Ints({32})}}, source);
  EXPECT_EQ(fixture::LargestDifference(lying, Golden("resize.shorter")), 0) << lying.TypeName();
  Tensor upright = *Tensor::Allocate(DType::kUInt8, {80, 60, 3});
  for (int64_t y = 0; y < 80; ++y) {
    for (int64_t x = 0; x < 60; ++x) {
      for (int c = 0; c < 3; ++c) upright.mutable_raw()[(y * 60 + x) * 3 + c] = source.raw()[(x * 80 + y) * 3 + c];
    }
  }
  const Tensor resized = *RunKernel("Resize", {{"size", Ints({32})}}, upright);
  EXPECT_EQ(fixture::LargestDifference(resized, Golden("resize.shorter_upright")), 0) << resized.TypeName();
}

// torchvision's Resize(None, max_size=longer).
TEST(Resize, MakesTheLongerSideALength) {
  const auto sized = [](int64_t height, int64_t width, int64_t longer) {
    const Tensor resized = *RunKernel("Resize", {{"size", ir::NoneValue()}, {"max_size", ir::IntValue(longer)}},
                                      *Tensor::Allocate(DType::kUInt8, {height, width, 3}));
    return std::pair(resized.dim(0), resized.dim(1));
  };
  EXPECT_EQ(sized(60, 80, 32), std::pair(int64_t{24}, int64_t{32}));
  EXPECT_EQ(sized(80, 60, 33), std::pair(int64_t{33}, int64_t{24})) << "24.75";
  EXPECT_EQ(sized(50, 50, 7), std::pair(int64_t{7}, int64_t{7}));
  EXPECT_EQ(sized(1, 90, 7), std::pair(int64_t{1}, int64_t{7})) << "0.08";
  EXPECT_THAT(MessageOf(RunKernel("Resize", {{"size", ir::NoneValue()}}, Golden("source"))),
              HasSubstr("size and max_size are None; give one of them"));
}

TEST(Resize, CopiesNothingWhenTheSizeStays) {
  const Tensor source = Golden("source");
  EXPECT_EQ(RunKernel("Resize", SizeResize(60, 80), source)->raw(), source.raw());
}

TEST(Resize, NamesWhatItCannotTake) {
  const absl::StatusOr<Tensor> doubles =
      RunKernel("Resize", SizeResize(2, 2), *Tensor::Allocate(DType::kFloat64, {4, 4, 3}));
  EXPECT_EQ(KindOf(doubles.status()), ErrorKind::kGraph);
  EXPECT_THAT(MessageOf(doubles), HasSubstr("got float64 (4, 4, 3)"));
  const absl::StatusOr<Tensor> bytes = RunKernel("Resize", SizeResize(2, 2), *Tensor::CopyBytes(DType::kBytes, "jpeg"));
  EXPECT_THAT(MessageOf(bytes), HasSubstr("put Decode() before it"));
  const absl::StatusOr<Tensor> empty =
      RunKernel("Resize", SizeResize(2, 2), *Tensor::Allocate(DType::kUInt8, {0, 4, 3}));
  EXPECT_THAT(MessageOf(empty), HasSubstr("without pixels"));
  const absl::StatusOr<Tensor> wide =
      RunKernel("Resize", SizeResize(2, 2, "bilinear", false), *Tensor::Allocate(DType::kUInt8, {4, 4, 5}));
  EXPECT_THAT(MessageOf(wide), HasSubstr("at most 4 channels"));
  EXPECT_FALSE(RunKernel("Resize", {{"size", Ints({-1, 5})}}, Golden("source")).ok());
  EXPECT_FALSE(RunKernel("Resize", {{"size", Ints({1, 2, 3})}}, Golden("source")).ok());
}

TEST(Resize, InfersSizes) {
  const ir::ColumnType decoded = ir::ColumnType::Of(DType::kUInt8, {-1, -1, 3});
  EXPECT_EQ(ir::TypeName(*InferType("Resize", SizeResize(5, 6), {decoded})), "uint8 (5, 6, 3)");
  EXPECT_EQ(ir::TypeName(*InferType("Resize", {{"size", Ints({5})}}, {decoded})), "uint8 (None, None, 3)");
  const ir::ColumnType known = ir::ColumnType::Of(DType::kFloat32, {60, 80, 3});
  EXPECT_EQ(ir::TypeName(*InferType("Resize", {{"size", Ints({32})}}, {known})), "float32 (32, 42, 3)");
  const Given longer = {{"size", ir::NoneValue()}, {"max_size", ir::IntValue(40)}};
  EXPECT_EQ(ir::TypeName(*InferType("Resize", longer, {known})), "float32 (30, 40, 3)");
  EXPECT_EQ(ir::TypeName(*InferType("Resize", longer, {decoded})), "uint8 (None, None, 3)");
  EXPECT_FALSE(InferType("Resize", SizeResize(5, 6), {ir::ColumnType::Of(DType::kInt32, {60, 80, 3})}).ok());
}

}  // namespace
}  // namespace headrace
