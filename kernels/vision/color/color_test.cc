// Tests AdjustBrightness, AdjustContrast, AdjustSaturation, AdjustHue and ColorJitter against Pillow.
#include <array>
#include <cmath>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "core/testing/chi_square.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"
#include "kernels/vision/color/color_steps.h"

namespace headrace {
namespace {

using fixture::Floats;
using fixture::Golden;
using fixture::InferType;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

constexpr double kFactors[] = {0.0, 0.3, 1.0, 1.7, 5.0};
constexpr double kTurns[] = {-0.5, -0.13, 0.0, 0.25, 0.5};

void ExpectGoldenColor(const std::string& kernel, const std::string& golden, const Tensor& image) {
  const Tensor expected = Golden(golden);
  ASSERT_FALSE(fixture::AllZero(expected));
  for (int64_t i = 0; i < 5; ++i) {
    const double factor = kernel == "AdjustHue" ? kTurns[i] : kFactors[i];
    const Tensor found = *RunKernel(kernel, {{"factor", ir::FloatValue(factor)}}, image);
    EXPECT_EQ(fixture::LargestDifference(found, expected.Index(i)), 0) << golden << " at " << factor;
  }
}

TEST(Color, EqualsPillow) {
  ExpectGoldenColor("AdjustBrightness", "color.brightness", Golden("source"));
  ExpectGoldenColor("AdjustContrast", "color.contrast", Golden("source"));
  ExpectGoldenColor("AdjustSaturation", "color.saturation", Golden("source"));
  ExpectGoldenColor("AdjustHue", "color.hue", Golden("source"));
}

TEST(Color, EqualsPillowOverAllColors) {
  ExpectGoldenColor("AdjustHue", "color.hue.all", Golden("color.all"));
  ExpectGoldenColor("AdjustSaturation", "color.saturation.all", Golden("color.all"));
}

TEST(Color, TakesGreyImages) {
  const Tensor grey = *RunKernel("Grayscale", {}, Golden("source"));
  const Tensor flat = grey.Reshape({60, 80});
  for (const char* name : {"Brightness", "Contrast", "Saturation", "Hue"}) {
    std::string golden = std::string("color.") + name + ".grey";
    golden[6] = static_cast<char>(golden[6] - 'A' + 'a');
    ExpectGoldenColor(std::string("Adjust") + name, golden, flat);
    EXPECT_EQ(RunKernel(std::string("Adjust") + name, {{"factor", ir::FloatValue(0.4)}}, grey)->TypeName(),
              "uint8 (60, 80, 1)");
  }
}

TEST(Color, JittersAsPillow) {
  const fixture::Given given = {{"brightness", Floats({0.4})},
                                {"contrast", Floats({0.4})},
                                {"saturation", Floats({0.6, 1.4})},
                                {"hue", Floats({0.1})}};
  const Tensor expected = Golden("color.jitter");
  for (uint64_t row = 0; row < 6; ++row) {
    const Tensor found = *RunKernel("ColorJitter", given, {Golden("source")}, RowRandom(0, 0, {.key = row}));
    EXPECT_EQ(fixture::LargestDifference(found, expected.Index(static_cast<int64_t>(row))), 0) << row;
  }
}

TEST(Color, JitterOfNothingChangesNothing) {
  EXPECT_TRUE(TensorsEqual(*RunKernel("ColorJitter", {}, Golden("source")), Golden("source")));
}

// Each of the 24 orders is equally likely, and each factor uniform.
TEST(Color, JitterDrawsOrdersAndFactorsUniformly) {
  if (!kCountsChances) GTEST_SKIP();
  const auto kernel = *fixture::MakeKernel("ColorJitter", {{"brightness", Floats({0.5})},
                                                           {"contrast", Floats({0.2, 0.4})},
                                                           {"saturation", Floats({3})},
                                                           {"hue", Floats({-0.2, 0.4})}});
  const auto* const jitter = dynamic_cast<const PixelKernel*>(kernel.get());
  const std::map<const PixelStep*, std::array<double, 2>> ranges = {{&BrightnessStep(), {0.5, 1.5}},
                                                                    {&ContrastStep(), {0.2, 0.4}},
                                                                    {&SaturationStep(), {0, 4}},
                                                                    {&HueStep(), {-0.2, 0.4}}};
  constexpr uint64_t kRows = 24000;
  constexpr int kBins = 20;
  std::map<std::vector<const PixelStep*>, int64_t> orders;
  std::map<const PixelStep*, std::array<int64_t, kBins>> bins;
  for (uint64_t row = 0; row < kRows; ++row) {
    RowRandom random(3, 5, {.epoch = 1, .key = row});
    PixelSteps steps({60, 80});
    jitter->AddTo(steps, random);
    ASSERT_EQ(steps.calls().size(), 4u);
    std::vector<const PixelStep*> order;
    for (const PixelSteps::Call& call : steps.calls()) {
      order.push_back(call.step);
      const auto [low, high] = ranges.at(call.step);
      ASSERT_TRUE(call.facts.factor >= low && call.facts.factor < high) << call.facts.factor;
      ++bins[call.step][static_cast<size_t>((call.facts.factor - low) / (high - low) * kBins)];
    }
    ++orders[order];
  }
  ASSERT_EQ(orders.size(), 24u);
  std::vector<int64_t> found;
  for (const auto& [order, count] : orders) found.push_back(count);
  EXPECT_LT(std::abs(ChiSquareDeviation(found)), kMostDeviation);
  for (const auto& [step, counts] : bins) EXPECT_LT(std::abs(ChiSquareDeviation(counts)), kMostDeviation);
}

TEST(Color, RefusesWhatIsNoImageOfColours) {
  const fixture::Given factor = {{"factor", ir::FloatValue(0.4)}};
  EXPECT_THAT(MessageOf(RunKernel("AdjustContrast", factor, *Tensor::Allocate(DType::kUInt16, {4, 4, 3}))),
              HasSubstr("uint8"));
  EXPECT_THAT(MessageOf(InferType("AdjustHue", factor, {ir::ColumnType::Of(DType::kFloat64, {-1, -1, 3})})),
              HasSubstr("float64 (None, None, 3)"));
  EXPECT_THAT(MessageOf(InferType("AdjustHue", factor, {ir::ColumnType::Of(DType::kUInt8, {-1, -1, 4})})),
              HasSubstr("1 channel or 3"));
  EXPECT_THAT(MessageOf(RunKernel("AdjustSaturation", factor, *Tensor::Allocate(DType::kUInt8, {4, 4, 2}))),
              HasSubstr("1 channel or 3"));
}

TEST(Color, RefusesFactorsThatCannotBe) {
  const auto refused = [](const char* name, std::initializer_list<double> values) {
    return MessageOf(RunKernel("ColorJitter", {{name, Floats(values)}}, Golden("source")));
  };
  EXPECT_THAT(refused("hue", {-0.1}), HasSubstr("hue = -0.1 is below 0"));
  EXPECT_THAT(refused("hue", {0.6}), HasSubstr("hue"));
  EXPECT_THAT(refused("contrast", {1.2, 0.8}), HasSubstr("contrast"));
  EXPECT_THAT(refused("brightness", {-1}), HasSubstr("brightness"));
  EXPECT_FALSE(RunKernel("AdjustBrightness", {{"factor", ir::FloatValue(-1)}}, Golden("source")).ok());
}

}  // namespace
}  // namespace headrace
