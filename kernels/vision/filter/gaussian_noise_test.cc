// Tests GaussianNoise against torchvision's formula, and its normal numbers: their distribution, and that those of
// rows, epochs, channels and neighbours do not depend on each other.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/testing/chi_square.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/graph.pb.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"
#include "kernels/vision/pixels/normal_numbers.h"

namespace headrace {
namespace {

using fixture::Given;
using fixture::Golden;
using fixture::InferType;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

ir::proto::Value Float(double number) {
  ir::proto::Value value;
  value.set_real(number);
  return value;
}

Given Noise(double mean, double sigma, bool clip = true) {
  return {{"mean", Float(mean)}, {"sigma", Float(sigma)}, {"clip", ir::BoolValue(clip)}};
}

Tensor Part() { return Golden("source").Slice(0, 10, 30).Slice(1, 20, 41); }

template <typename T>
Tensor Multiplied(const Tensor& bytes, DType dtype, double by) {
  const Tensor dense = *bytes.Contiguous();
  Tensor result = *Tensor::Allocate(dtype, bytes.shape());
  for (int64_t i = 0; i < dense.elements(); ++i) {
    result.mutable_data<T>()[i] = static_cast<T>(static_cast<float>(dense.raw()[i] * by));
  }
  return result;
}

template <typename T>
Tensor FilledGaussianNoise(DType dtype, const Shape& shape, T value) {
  Tensor result = *Tensor::Allocate(dtype, shape);
  for (int64_t i = 0; i < result.elements(); ++i) result.mutable_data<T>()[i] = value;
  return result;
}

RowRandom RandomOf(uint64_t epoch, uint64_t row) { return {5, 6, {.epoch = epoch, .key = row}}; }

// --- Normal numbers ---

TEST(NormalNumbers, AreThoseOfBoxAndMuller) {
  const Tensor golden = Golden("noise.normal");
  std::vector<float> numbers(static_cast<size_t>(golden.elements()));
  RowRandom random(0, 0, {.key = 3});
  FillNormal(random, absl::MakeSpan(numbers));
  for (size_t i = 0; i < numbers.size(); ++i) ASSERT_NEAR(numbers[i], golden.data<float>()[i], 1e-6) << i;
}

// The same at once and in parts of even length.
TEST(NormalNumbers, DoNotDependOnHowManyAreDrawn) {
  std::vector<float> whole(100);
  RowRandom of_whole = RandomOf(0, 0);
  FillNormal(of_whole, absl::MakeSpan(whole));
  std::vector<float> parts(100);
  RowRandom of_parts = RandomOf(0, 0);
  FillNormal(of_parts, absl::MakeSpan(parts).subspan(0, 2));
  FillNormal(of_parts, absl::MakeSpan(parts).subspan(2, 64));
  FillNormal(of_parts, absl::MakeSpan(parts).subspan(66, 33));
  parts[99] = whole[99];
  EXPECT_EQ(whole, parts);
}

double Below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

constexpr double kBorders[] = {-4, -3, -2.5, -2, -1.5, -1, -0.5, -0.1, 0, 0.1, 0.5, 1, 1.5, 2, 2.5, 3, 4};

size_t BinOf(float number) {
  size_t bin = 0;
  while (bin < std::size(kBorders) && number >= kBorders[bin]) ++bin;
  return bin;
}

double ChanceOf(size_t bin) {
  const double low = bin == 0 ? 0 : Below(kBorders[bin - 1]);
  const double high = bin == std::size(kBorders) ? 1 : Below(kBorders[bin]);
  return high - low;
}

void ExpectNormal(const std::vector<float>& numbers, const std::string& of) {
  std::vector<int64_t> counts(std::size(kBorders) + 1);
  std::vector<double> expected;
  for (const float number : numbers) ++counts[BinOf(number)];
  for (size_t bin = 0; bin < counts.size(); ++bin) {
    expected.push_back(ChanceOf(bin) * static_cast<double>(numbers.size()));
  }
  EXPECT_LT(std::abs(ChiSquareDeviation(counts, expected)), kMostDeviation) << of;
}

// How often both are above 0, one is, the other is, none is.
void ExpectIndependent(const std::vector<float>& numbers, const std::vector<float>& others, const std::string& of) {
  ASSERT_EQ(numbers.size(), others.size());
  std::array<int64_t, 16> counts = {};
  const auto quarter = [](float number) {
    return number < -0.67448975 ? 0 : number < 0 ? 1 : number < 0.67448975 ? 2 : 3;
  };
  for (size_t i = 0; i < numbers.size(); ++i)
    ++counts[static_cast<size_t>(4 * quarter(numbers[i]) + quarter(others[i]))];
  EXPECT_LT(std::abs(ChiSquareDeviation(counts)), kMostDeviation) << of;
}

std::vector<float> NumbersOf(uint64_t epoch, uint64_t row, size_t count) {
  std::vector<float> numbers(count);
  RowRandom random = RandomOf(epoch, row);
  FillNormal(random, absl::MakeSpan(numbers));
  return numbers;
}

TEST(NormalNumbers, AreNormal) {
  if (!kCountsChances) GTEST_SKIP();
  ExpectNormal(NumbersOf(0, 0, 400000), "one row");
  // The first and the second number of many rows, as of images of a pixel.
  std::array<std::vector<float>, 3> firsts;
  for (uint64_t row = 0; row < 100000; ++row) {
    const std::vector<float> numbers = NumbersOf(0, row, 3);
    for (size_t i = 0; i < firsts.size(); ++i) firsts[i].push_back(numbers[i]);
  }
  for (size_t i = 0; i < firsts.size(); ++i) ExpectNormal(firsts[i], "number " + std::to_string(i));
  ExpectIndependent(firsts[0], firsts[1], "the numbers of a pair");
  ExpectIndependent(firsts[1], firsts[2], "neighbours of two pairs");
}

TEST(NormalNumbers, AreIndependentOfEachOther) {
  if (!kCountsChances) GTEST_SKIP();
  const std::vector<float> numbers = NumbersOf(0, 0, 60001);
  ExpectIndependent({numbers.begin(), numbers.end() - 1}, {numbers.begin() + 1, numbers.end()}, "neighbours");
  ExpectIndependent(NumbersOf(0, 0, 60000), NumbersOf(0, 1, 60000), "rows");
  ExpectIndependent(NumbersOf(0, 0, 60000), NumbersOf(1, 0, 60000), "epochs");
}

// --- The kernel ---

TEST(GaussianNoise, IsTorchvisions) {
  const Tensor bytes = Part();
  EXPECT_LE(fixture::LargestDifference(*RunKernel("GaussianNoise", Noise(0.02, 0.1), bytes), Golden("noise.uint8")), 1);
  EXPECT_LE(fixture::MeanDifference(*RunKernel("GaussianNoise", Noise(0.02, 0.1), bytes), Golden("noise.uint8")), 1e-3);
  const Tensor words = Multiplied<uint16_t>(bytes, DType::kUInt16, 257);
  EXPECT_LE(fixture::LargestDifference(*RunKernel("GaussianNoise", Noise(0.02, 0.1), words), Golden("noise.uint16")),
            1);
  EXPECT_LE(fixture::MeanDifference(*RunKernel("GaussianNoise", Noise(0.02, 0.1), words), Golden("noise.uint16")),
            0.05);
  const Tensor whole = Multiplied<float>(bytes, DType::kFloat32, 1);
  const Tensor floats = *RunKernel("GaussianNoise", Noise(2, 25, false), whole);
  EXPECT_LE(fixture::LargestDifference(floats, Golden("noise.float32.whole")), 1e-3);
  Tensor unit = *Tensor::Allocate(DType::kFloat32, whole.shape());
  for (int64_t i = 0; i < unit.elements(); ++i) unit.mutable_data<float>()[i] = whole.data<float>()[i] / 255.0f;
  EXPECT_LE(fixture::LargestDifference(*RunKernel("GaussianNoise", Noise(0.02, 0.1), unit), Golden("noise.float32")),
            1e-6);
}

TEST(GaussianNoise, ReadsViewsAndEitherLayout) {
  const Tensor bytes = Part();
  const Tensor plain = *RunKernel("GaussianNoise", {}, *bytes.Contiguous());
  EXPECT_TRUE(TensorsEqual(*RunKernel("GaussianNoise", {}, bytes), plain));
  EXPECT_TRUE(TensorsEqual(*RunKernel("GaussianNoise", {}, fixture::WithGaps(*bytes.Contiguous())), plain));
  // Numbers go to values in the order of memory, whatever the axes are.
  const Tensor planes = bytes.Contiguous()->Reshape({3, 30, 41});
  EXPECT_TRUE(TensorsEqual(*RunKernel("GaussianNoise", {}, planes), plain.Reshape({3, 30, 41})));
}

// Half of the noise is beyond, which is not an error.
TEST(GaussianNoise, CutsOffAtBlackAndWhite) {
  const auto shares = [](const Tensor& image, auto edge) {
    using T = decltype(edge);
    int64_t at_edge = 0;
    const Tensor noisy = *RunKernel("GaussianNoise", Noise(0, 0.1), image);
    for (int64_t i = 0; i < noisy.elements(); ++i) at_edge += noisy.data<T>()[i] == edge ? 1 : 0;
    return static_cast<double>(at_edge) / static_cast<double>(noisy.elements());
  };
  const Shape shape = {100, 100, 3};
  EXPECT_NEAR(shares(FilledGaussianNoise<float>(DType::kFloat32, shape, 0), 0.0f), 0.5, 0.02);
  EXPECT_NEAR(shares(FilledGaussianNoise<float>(DType::kFloat32, shape, 1), 1.0f), 0.5, 0.02);
  EXPECT_NEAR(shares(FilledGaussianNoise<uint8_t>(DType::kUInt8, shape, 0), uint8_t{0}), 0.5 + 0.5 * 1 / 25.5 * 0.8,
              0.02);
  EXPECT_NEAR(shares(FilledGaussianNoise<uint8_t>(DType::kUInt8, shape, 255), uint8_t{255}), 0.5 + 0.5 * 1 / 25.5 * 0.8,
              0.02);
  EXPECT_NEAR(shares(FilledGaussianNoise<uint16_t>(DType::kUInt16, shape, 65535), uint16_t{65535}), 0.5, 0.02);
}

// Values a little beyond, as of bicubic resizing, and far beyond.
TEST(GaussianNoise, TakesFloatsOfOtherRangesIfItIsToldSo) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  for (const float value : {1.0001f, 200.0f, -0.5f, std::numeric_limits<float>::infinity(), kNone}) {
    const Tensor image = FilledGaussianNoise<float>(DType::kFloat32, {2, 2}, value);
    EXPECT_EQ(KindOf(RunKernel("GaussianNoise", Noise(0, 0.1), image).status()), ErrorKind::kData);
    const Tensor noisy = *RunKernel("GaussianNoise", Noise(0, 0, false), image);
    EXPECT_TRUE(std::isnan(value) ? std::isnan(noisy.data<float>()[3]) : noisy.data<float>()[3] == value);
  }
}

TEST(GaussianNoise, TakesAnyMeanAndDeviation) {
  for (const double mean : {-1e6, 1e6}) {
    const Tensor words =
        *RunKernel("GaussianNoise", Noise(mean, 1e6), FilledGaussianNoise<uint16_t>(DType::kUInt16, {50, 50}, 7));
    for (int64_t i = 0; i < words.elements(); ++i) {
      const uint16_t value = words.data<uint16_t>()[i];
      ASSERT_TRUE(value == 0 || value == 65535) << value;
    }
  }
  const Tensor still = Part();
  EXPECT_TRUE(TensorsEqual(*RunKernel("GaussianNoise", Noise(0, 0), still), *still.Contiguous()));
  EXPECT_FALSE(RunKernel("GaussianNoise", Noise(0, -0.1), still).ok());
}

// The noise of each type, in units of its deviation, is the same and normal; of whole numbers, its fraction is cut off.
TEST(GaussianNoise, IsNormalInEveryType) {
  if (!kCountsChances) GTEST_SKIP();
  const Shape shape = {200, 200, 3};
  const Tensor floats = *RunKernel("GaussianNoise", Noise(0, 0.05),
                                   {FilledGaussianNoise<float>(DType::kFloat32, shape, 0.5f)}, RandomOf(0, 1));
  const Tensor words = *RunKernel("GaussianNoise", Noise(0, 0.05),
                                  {FilledGaussianNoise<uint16_t>(DType::kUInt16, shape, 32768)}, RandomOf(0, 1));
  const Tensor bytes = *RunKernel("GaussianNoise", Noise(0, 0.05),
                                  {FilledGaussianNoise<uint8_t>(DType::kUInt8, shape, 128)}, RandomOf(0, 1));
  std::vector<float> noise;
  std::array<std::vector<float>, 3> channels;
  for (int64_t i = 0; i < floats.elements(); ++i) {
    const double drawn = (floats.data<float>()[i] - 0.5) / 0.05;
    noise.push_back(static_cast<float>(drawn));
    channels[static_cast<size_t>(i % 3)].push_back(noise.back());
    ASSERT_NEAR(words.data<uint16_t>()[i], 32768 + std::trunc(drawn * 0.05 * 65535), 1);
    ASSERT_NEAR(bytes.raw()[i], 128 + std::trunc(drawn * 0.05 * 255), 1);
  }
  ExpectNormal(noise, "floats");
  for (size_t c = 0; c < 3; ++c) {
    ExpectNormal(channels[c], "channel " + std::to_string(c));
    ExpectIndependent(channels[c], channels[(c + 1) % 3], "channels");
  }
  const Tensor other_row = *RunKernel("GaussianNoise", Noise(0, 0.05),
                                      {FilledGaussianNoise<float>(DType::kFloat32, shape, 0.5f)}, RandomOf(0, 2));
  std::vector<float> others;
  for (int64_t i = 0; i < other_row.elements(); ++i) {
    others.push_back(static_cast<float>((other_row.data<float>()[i] - 0.5) / 0.05));
  }
  ExpectIndependent(noise, others, "rows");
}

TEST(GaussianNoise, OfImagesOfOnePixelIsNormalOverRowsAndEpochs) {
  if (!kCountsChances) GTEST_SKIP();
  const Tensor pixel = FilledGaussianNoise<float>(DType::kFloat32, {1, 1, 1}, 0.5f);
  std::array<std::vector<float>, 2> of_epoch;
  for (uint64_t epoch = 0; epoch < 2; ++epoch) {
    for (uint64_t row = 0; row < 4000; ++row) {
      const Tensor noisy = *RunKernel("GaussianNoise", Noise(0, 0.05), {pixel}, RandomOf(epoch, row));
      of_epoch[epoch].push_back((noisy.data<float>()[0] - 0.5f) / 0.05f);
    }
    ExpectNormal(of_epoch[epoch], "epoch " + std::to_string(epoch));
  }
  ExpectIndependent(of_epoch[0], of_epoch[1], "epochs");
}

TEST(GaussianNoise, NamesWhatItCannotTake) {
  EXPECT_THAT(MessageOf(RunKernel("GaussianNoise", {}, *Tensor::Allocate(DType::kInt32, {4, 4}))),
              HasSubstr("uint8, uint16 or float32; got int32 (4, 4)"));
  EXPECT_THAT(MessageOf(RunKernel("GaussianNoise", Noise(0, 0.1, false), Part())),
              HasSubstr("clip=False is for float32"));
  EXPECT_THAT(MessageOf(InferType("GaussianNoise", Noise(0, 0.1, false), {ir::ColumnType::Of(DType::kUInt8, {4, 4})})),
              HasSubstr("got uint8 (4, 4)"));
  EXPECT_FALSE(InferType("GaussianNoise", {}, {ir::ColumnType::Of(DType::kInt64, {4, 4})}).ok());
  EXPECT_EQ(KindOf(RunKernel("GaussianNoise", {}, *Tensor::CopyBytes(DType::kBytes, "jpeg")).status()),
            ErrorKind::kGraph);
}

}  // namespace
}  // namespace headrace
