// Tests the kernels that map each value by a table, sharpness and blur, against Pillow and torchvision's formulas; and
// that a chain of maps is one table with the bits of its parts.
#include "kernels/vision/color/table_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/testing/chi_square.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/graph.pb.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"
#include "kernels/vision/pixels/value_tables.h"

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

// What the golden script's changes are made of.
Tensor Part() { return Golden("source").Slice(0, 10, 30).Slice(1, 20, 40).Contiguous().value(); }

struct Change {
  std::string kernel;
  Given given;
};

ir::proto::Value Real(double value) { return ir::FloatValue(value); }

// In the order of the golden script's.
std::vector<Change> Changes() {
  return {{"Invert", {}},
          {"Posterize", {{"bits", ir::IntValue(1)}}},
          {"Posterize", {{"bits", ir::IntValue(5)}}},
          {"Posterize", {{"bits", ir::IntValue(8)}}},
          {"Solarize", {{"threshold", Real(0)}}},
          {"Solarize", {{"threshold", Real(100)}}},
          {"Solarize", {{"threshold", Real(256)}}},
          {"Equalize", {}},
          {"AutoContrast", {}},
          {"AutoContrast", {{"cutoff", Real(7.3)}, {"ignore", Ints({0, 255})}}},
          {"AdjustGamma", {{"gamma", Real(2.2)}}},
          {"AdjustGamma", {{"gamma", Real(0.4)}, {"gain", Real(1.5)}}},
          {"AdjustSharpness", {{"factor", Real(0)}}},
          {"AdjustSharpness", {{"factor", Real(1.7)}}},
          {"AdjustSharpness", {{"factor", Real(5)}}}};
}

void ExpectGoldenTableSteps(const Tensor& image, const std::string& golden) {
  const Tensor expected = Golden(golden);
  const std::vector<Change> changes = Changes();
  ASSERT_EQ(expected.dim(0), static_cast<int64_t>(changes.size()));
  for (size_t i = 0; i < changes.size(); ++i) {
    const Tensor found = *RunKernel(changes[i].kernel, changes[i].given, image);
    EXPECT_EQ(fixture::LargestDifference(found, expected.Index(static_cast<int64_t>(i))), 0)
        << golden << " " << i << " " << changes[i].kernel;
  }
}

TEST(Tables, EqualPillow) {
  ExpectGoldenTableSteps(Part(), "tables.source");
  ExpectGoldenTableSteps(Golden("pale"), "tables.pale");
  ExpectGoldenTableSteps(RunKernel("Grayscale", {}, Part())->Reshape({30, 40}), "tables.grey");
}

// Each of the random forms gives what its plain one gives, in p of the rows, or leaves the image.
TEST(Tables, AreAppliedToSomeRows) {
  const std::vector<std::pair<Change, std::string>> forms = {
      {{"RandomInvert", {}}, "Invert"},
      {{"RandomPosterize", {{"bits", ir::IntValue(3)}}}, "Posterize"},
      {{"RandomSolarize", {{"threshold", Real(100)}}}, "Solarize"},
      {{"RandomEqualize", {}}, "Equalize"},
      {{"RandomAutocontrast", {}}, "AutoContrast"},
      {{"RandomAdjustSharpness", {{"factor", Real(2)}}}, "AdjustSharpness"}};
  const Tensor image = Golden("pale").Slice(0, 10, 12).Contiguous().value();
  for (auto [form, plain] : forms) {
    const Tensor changed = *RunKernel(plain, form.given, image);
    ASSERT_FALSE(TensorsEqual(changed, image)) << plain;
    form.given.emplace_back("p", Real(0.25));
    int64_t applied = 0;
    constexpr int64_t kRows = 4000;
    for (int64_t row = 0; row < kRows; ++row) {
      const Tensor found = *RunKernel(form.kernel, form.given, {image}, RowRandom(1, 2, {.key = uint64_t(row)}));
      const bool is_changed = TensorsEqual(found, changed);
      ASSERT_TRUE(is_changed || TensorsEqual(found, image)) << form.kernel;
      applied += is_changed ? 1 : 0;
    }
    const double share[] = {kRows * 0.25, kRows * 0.75};
    const int64_t counts[] = {applied, kRows - applied};
    EXPECT_LT(std::abs(ChiSquareDeviation(counts, share)), kMostDeviation) << form.kernel;
  }
}

TEST(Tables, GrayscaleKeepsTheChannels) {
  const Given always = {{"p", Real(1)}};
  const Tensor grey = *RunKernel("RandomGrayscale", always, Golden("source"));
  EXPECT_TRUE(TensorsEqual(grey, *RunKernel("Grayscale", {{"output_channels", ir::IntValue(3)}}, Golden("source"))));
  const Tensor one = *RunKernel("Grayscale", {}, Golden("source"));
  EXPECT_TRUE(TensorsEqual(*RunKernel("RandomGrayscale", always, one), one));
}

// A table of a chain holds what the steps give one after the other, each channel its own.
TEST(Tables, JoinStepsAsTheyFollow) {
  PixelFacts facts;
  facts.factor = 90;
  facts.pixels = 4;
  facts.counts.assign(kHistogramCounts, 0);
  for (const int value : {10, 40, 256 + 100, 256 + 101, 512 + 7}) facts.counts[static_cast<size_t>(value)] = 2;
  const AutoContrastStep stretch;
  const std::vector<const PixelStep*> steps = {&stretch, &SolarizeStep(), &InvertStep()};
  ValueTables tables(3);
  for (const PixelStep* step : steps) tables.Then(*step, facts);
  std::vector<uint8_t> row(256 * 3);
  for (size_t i = 0; i < row.size(); ++i) row[i] = static_cast<uint8_t>(i / 3);
  std::vector<uint8_t> plain = row;
  for (const PixelStep* step : steps) {
    std::vector<uint8_t> after(row.size());
    step->Run({plain.data(), DType::kUInt8, 256, 3, -1}, facts, after.data());
    plain = after;
  }
  std::vector<uint8_t> joined(row.size());
  tables.Run({row.data(), DType::kUInt8, 256, 3, -1}, {}, joined.data());
  EXPECT_EQ(joined, plain);
  for (int64_t c = 0; c < 3; ++c) {
    std::vector<uint8_t> plane(256);
    std::vector<uint8_t> found(256);
    for (size_t i = 0; i < 256; ++i) plane[i] = static_cast<uint8_t>(i);
    tables.Run({plane.data(), DType::kUInt8, 256, 1, c}, {}, found.data());
    for (size_t i = 0; i < 256; ++i) ASSERT_EQ(found[i], plain[3 * i + static_cast<size_t>(c)]) << i;
  }
}

TEST(Tables, PermuteChannelsUniformly) {
  if (!kCountsChances) GTEST_SKIP();
  const Tensor pixel = Golden("source").Slice(0, 5, 1).Slice(1, 9, 1).Contiguous().value();
  std::vector<int64_t> counts(6);
  std::vector<std::vector<uint8_t>> orders;
  for (uint64_t row = 0; row < 6000; ++row) {
    const Tensor found = *RunKernel("RandomChannelPermutation", {}, {pixel}, RowRandom(1, 2, {.key = row}));
    const std::vector<uint8_t> order(found.raw(), found.raw() + 3);
    const auto known = std::find(orders.begin(), orders.end(), order);
    const auto at = static_cast<size_t>(known - orders.begin());
    if (known == orders.end()) orders.push_back(order);
    ASSERT_LT(at, counts.size());
    ++counts[at];
  }
  EXPECT_LT(std::abs(ChiSquareDeviation(counts)), kMostDeviation);
}

// Where nothing else is applied, the steps that are show in the pixels.
TEST(Tables, DistortWithTheirProbability) {
  const Tensor image = Golden("source").Slice(0, 5, 2).Contiguous().value();
  const Given none = {{"p", Real(0)}};
  EXPECT_TRUE(TensorsEqual(*RunKernel("RandomPhotometricDistort", none, image), image));
  const auto kernel = *fixture::MakeKernel("RandomPhotometricDistort", {{"p", Real(0.5)}});
  const auto* const distort = dynamic_cast<const PixelKernel*>(kernel.get());
  constexpr int64_t kRows = 8000;
  std::vector<int64_t> applied(6);  // by the number of steps
  for (int64_t row = 0; row < kRows; ++row) {
    RowRandom random(1, 2, {.key = static_cast<uint64_t>(row)});
    PixelSteps steps({60, 80});
    distort->AddTo(steps, random);
    ++applied[steps.calls().size()];
  }
  const double expected[] = {kRows / 32.0,      kRows * 5 / 32.0, kRows * 10 / 32.0,
                             kRows * 10 / 32.0, kRows * 5 / 32.0, kRows / 32.0};
  EXPECT_LT(std::abs(ChiSquareDeviation(applied, expected)), kMostDeviation);
}

// An image of one colour is shifted by the same in each pixel, on average by nothing, mostly along the first
// component.
TEST(Tables, LightingShiftsChannels) {
  Tensor image = *Tensor::Allocate(DType::kUInt8, {2, 2, 3});
  std::fill_n(image.mutable_raw(), 12, uint8_t{128});
  double sums[3] = {};
  double squares[3] = {};
  constexpr int kRows = 4000;
  for (uint64_t row = 0; row < kRows; ++row) {
    const Tensor found = *RunKernel("RandomLighting", {{"alpha", Real(0.2)}}, {image}, RowRandom(1, 2, {.key = row}));
    for (int i = 3; i < 12; ++i) ASSERT_EQ(found.raw()[i], found.raw()[i % 3]);
    for (int c = 0; c < 3; ++c) {
      const double shift = found.raw()[c] - 128.0;
      sums[c] += shift;
      squares[c] += shift * shift;
    }
  }
  const double expected[] = {6.342, 6.445, 6.508};  // 0.2 · the root of the sum of (eigenvector · eigenvalue)²
  for (int c = 0; c < 3; ++c) {
    EXPECT_LT(std::abs(sums[c] / kRows), 0.5) << c;
    EXPECT_NEAR(std::sqrt(squares[c] / kRows), expected[c], 0.4) << c;
  }
}

TEST(Blur, IsWithinALevelOfTorchvision) {
  const Given given = {{"kernel_size", Ints({5, 9})}, {"sigma", Floats({1.3})}};
  const Tensor expected = Golden("blur");
  const Tensor found = *RunKernel("GaussianBlur", given, Part());
  ASSERT_EQ(found.TypeName(), "uint8 (30, 40, 3)");
  for (int64_t i = 0; i < found.elements(); ++i) {
    ASSERT_LT(std::abs(found.raw()[i] - expected.data<float>()[i]), 0.501) << i;
  }
  const Tensor floats = *RunKernel("TypeCast", {{"dtype", ir::StringValue("float32")}}, Part());
  EXPECT_LT(fixture::LargestDifference(*RunKernel("GaussianBlur", given, floats), expected), 1e-3);
}

TEST(Blur, RefusesKernelsThatCannotBe) {
  const auto refused = [](std::initializer_list<int64_t> size) {
    return MessageOf(RunKernel("GaussianBlur", {{"kernel_size", Ints(size)}}, Golden("source")));
  };
  EXPECT_THAT(refused({4, 3}), HasSubstr("even"));
  EXPECT_THAT(refused({121, 3}), HasSubstr("too large for the image uint8 (60, 80, 3)"));
  EXPECT_EQ(refused({119, 3}), "");
}

TEST(ToFloat, DividesByTheGreatestValue) {
  const Tensor image = Golden("source");
  const Tensor bytes = *RunKernel("ToFloat", {}, image);
  for (int64_t i = 0; i < bytes.elements(); ++i) {
    ASSERT_EQ(bytes.data<float>()[i], static_cast<float>(image.raw()[i]) / 255.0f);
  }
  Tensor words = *Tensor::Allocate(DType::kUInt16, {2});
  words.mutable_data<uint16_t>()[0] = 65535;
  words.mutable_data<uint16_t>()[1] = 13107;
  const Tensor floats = *RunKernel("ToFloat", {}, words);
  EXPECT_EQ(floats.data<float>()[0], 1.0f);
  EXPECT_EQ(floats.data<float>()[1], 13107 / 65535.0f);
  EXPECT_THAT(MessageOf(RunKernel("ToFloat", {}, Golden("source.float32"))), HasSubstr("uint16"));
  EXPECT_THAT(MessageOf(InferType("ToFloat", {}, {ir::ColumnType::Of(DType::kInt32, {3})})), HasSubstr("int32 (3,)"));
}

// Also in the rows that stay as they are.
TEST(Tables, RefuseWhatIsNoImageOfColoursWhateverIsDrawn) {
  const Given sharpness = {{"factor", ir::FloatValue(2)}};
  const std::vector<std::pair<const char*, Given>> kernels = {
      {"RandomInvert", {}},    {"RandomEqualize", {}},
      {"RandomGrayscale", {}}, {"RandomPhotometricDistort", {}},
      {"ColorJitter", {}},     {"RandomAdjustSharpness", sharpness}};
  for (const auto& [kernel, given] : kernels) {
    for (uint64_t row = 0; row < 20; ++row) {
      const RowRandom random(0, 0, {.key = row});
      EXPECT_FALSE(RunKernel(kernel, given, {*Tensor::Allocate(DType::kUInt16, {4, 4, 3})}, random).ok());
      EXPECT_THAT(MessageOf(RunKernel(kernel, given, {*Tensor::Allocate(DType::kUInt8, {4, 4, 2})}, random)),
                  HasSubstr("1 channel or 3"));
    }
  }
}

TEST(Tables, RefuseNumbersThatOverflow) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double number : {kInfinity, 1e308}) {
    const auto refused = [number](const char* kernel, const char* name, Given given) {
      given.emplace_back(name, ir::FloatValue(number));
      return MessageOf(RunKernel(kernel, given, Golden("source")));
    };
    EXPECT_THAT(refused("AdjustGamma", "gain", {{"gamma", ir::FloatValue(1)}}), HasSubstr("gain is"));
    EXPECT_THAT(refused("RandomLighting", "alpha", {}), HasSubstr("alpha is"));
    EXPECT_THAT(refused("AdjustBrightness", "factor", {}), HasSubstr("factor is"));
    EXPECT_THAT(refused("GaussianBlur", "sigma", {{"kernel_size", Ints({3, 3})}}), HasSubstr("sigma is"));
  }
}

TEST(Tables, RefuseWhatIsNoImageOfColours) {
  for (const Change& change : Changes()) {
    EXPECT_FALSE(RunKernel(change.kernel, change.given, *Tensor::Allocate(DType::kUInt16, {4, 4, 3})).ok());
    EXPECT_THAT(MessageOf(InferType(change.kernel, change.given, {ir::ColumnType::Of(DType::kUInt8, {-1, -1, 4})})),
                HasSubstr("1 channel or 3"));
  }
}

}  // namespace
}  // namespace headrace
