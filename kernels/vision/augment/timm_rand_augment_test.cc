// TimmRandAugment: pixels against Pillow by timm's definitions, its texts, and how often it draws what.
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/testing/chi_square.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"
#include "kernels/vision/augment/augmentation.h"
#include "kernels/vision/augment/timm_settings.h"

namespace headrace {
namespace {

using fixture::Given;
using fixture::Golden;
using fixture::InferType;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

Given Config(const std::string& text) { return {{"config", ir::StringValue(text)}}; }

void ExpectTimmPixels(const std::string& text, const std::string& golden) {
  const Tensor image = Golden("source").Slice(0, 10, 30).Slice(1, 20, 40).Contiguous().value();
  Given given = Config(text);
  given.emplace_back("fill", fixture::Floats({124, 116, 104}));
  const Tensor expected = Golden(golden);
  for (int64_t row = 0; row < expected.dim(0); ++row) {
    const Tensor found =
        *RunKernel("TimmRandAugment", given, {image}, RowRandom(0, 0, {.key = static_cast<uint64_t>(row)}));
    EXPECT_EQ(fixture::LargestDifference(found, expected.Index(row)), 0) << golden << " " << row;
  }
}

TEST(TimmRandAugment, EqualsPillowByTimmsDefinitions) {
  ExpectTimmPixels("rand-m9-p0.8-mstd0.5-inc1", "augment.timm");
  ExpectTimmPixels("rand-n3-p0.8-m9", "augment.timm.plain");
}

std::vector<AugmentedList> DrawnByTimm(const std::string& text, uint64_t rows) {
  const std::unique_ptr<Kernel> made = *fixture::MakeKernel("TimmRandAugment", Config(text));
  std::vector<AugmentedList> lists;
  for (uint64_t row = 0; row < rows; ++row) {
    RowRandom random(3, 4, {.key = row});
    lists.push_back(dynamic_cast<const AugmentationKernel&>(*made).Draw(100, 200, random));
  }
  return lists;
}

void ExpectByChance(const std::vector<int64_t>& found, const std::vector<double>& expected) {
  EXPECT_LT(std::abs(ChiSquareDeviation(found, expected)), kMostDeviation);
}

TEST(TimmRandAugment, DrawsOperationsFiltersAndWhetherTheyApply) {
  if (!kCountsChances) GTEST_SKIP();
  std::map<Augmentation, int64_t> operations;
  std::vector<int64_t> lengths(3);
  std::vector<int64_t> filters(2);
  for (const AugmentedList& list : DrawnByTimm("rand-p0.25", 20000)) {
    ++lengths[list.size()];
    for (const Augmented& augmented : list) {
      ++operations[augmented.what];
      ++filters[augmented.filter == WarpFilter::kBicubic ? 1 : 0];
    }
  }
  std::vector<int64_t> counts;
  for (const auto& [what, count] : operations) counts.push_back(count);
  EXPECT_EQ(counts.size(), 15U);
  EXPECT_LT(std::abs(ChiSquareDeviation(counts)), kMostDeviation);
  EXPECT_LT(std::abs(ChiSquareDeviation(filters)), kMostDeviation);
  ExpectByChance(lengths, {20000 * 9 / 16.0, 20000 * 6 / 16.0, 20000 / 16.0});
}

TEST(TimmRandAugment, DrawsByWeightsWithoutRepetition) {
  if (!kCountsChances) GTEST_SKIP();
  std::map<Augmentation, int64_t> first;
  for (const AugmentedList& list : DrawnByTimm("rand-n2-p1-tweights", 40400)) {
    ASSERT_EQ(list.size(), 2U);
    EXPECT_NE(list[0].what, list[1].what);
    ++first[list[0].what];
  }
  std::vector<int64_t> found;
  std::vector<double> expected;
  for (const auto& [what, weight] : std::map<Augmentation, double>{{Augmentation::kRotate, 3},
                                                                   {Augmentation::kShearX, 2},
                                                                   {Augmentation::kShearY, 2},
                                                                   {Augmentation::kTranslateX, 1},
                                                                   {Augmentation::kTranslateY, 1},
                                                                   {Augmentation::kColor, .25},
                                                                   {Augmentation::kSharpness, .25},
                                                                   {Augmentation::kAutoContrast, .25},
                                                                   {Augmentation::kSolarize, .05},
                                                                   {Augmentation::kSolarizeAdd, .05},
                                                                   {Augmentation::kContrast, .05},
                                                                   {Augmentation::kBrightness, .05},
                                                                   {Augmentation::kEqualize, .05},
                                                                   {Augmentation::kPosterize, .05},
                                                                   {Augmentation::kInvert, .05}}) {
    found.push_back(first[what]);
    expected.push_back(40400 * weight / 10.1);
  }
  ExpectByChance(found, expected);
  for (const AugmentedList& list : DrawnByTimm("rand-n15-p1-tweights", 3)) EXPECT_EQ(list.size(), 15U);
}

// Thirds of the range 0 … 27 degrees, and those of the normal distribution around 15 degrees.
TEST(TimmRandAugment, DrawsMagnitudesByTheirDistribution) {
  if (!kCountsChances) GTEST_SKIP();
  const auto thirds = [](const std::string& text, double below, double above) {
    std::vector<int64_t> counts(3);
    for (const AugmentedList& list : DrawnByTimm(text, 30000)) {
      for (const Augmented& augmented : list) {
        if (augmented.what != Augmentation::kRotate) continue;
        const double degrees = std::abs(augmented.magnitude);
        ++counts[degrees < below ? 0 : degrees < above ? 1 : 2];
      }
    }
    return counts;
  };
  EXPECT_LT(std::abs(ChiSquareDeviation(thirds("rand-m9-p1-mstd101", 9, 18))), kMostDeviation);
  constexpr double kThird = 0.4307272992954576;  // of the standard normal distribution
  EXPECT_LT(std::abs(ChiSquareDeviation(thirds("rand-m5-p1-mstd1", 15 - 3 * kThird, 15 + 3 * kThird))), kMostDeviation);
}

double TimmMagnitude(const std::string& text, Augmentation what) {
  for (const AugmentedList& list : DrawnByTimm(text, 1000)) {
    for (const Augmented& augmented : list) {
      if (augmented.what == what) return std::abs(augmented.magnitude);
    }
  }
  return -1;
}

TEST(TimmRandAugment, HasTimmsMagnitudes) {
  const auto of = TimmMagnitude;
  EXPECT_DOUBLE_EQ(of("rand-m5-p1", Augmentation::kRotate), 15);
  EXPECT_DOUBLE_EQ(of("rand-m5-p1", Augmentation::kShearY), 0.15);
  EXPECT_DOUBLE_EQ(of("rand-m5-p1", Augmentation::kTranslateX), 45);
  EXPECT_DOUBLE_EQ(of("rand-m5-p1", Augmentation::kTranslateY), 22.5);
  EXPECT_EQ(of("rand-m5-p1", Augmentation::kPosterize), 2);
  EXPECT_EQ(of("rand-m6-p1-inc1", Augmentation::kPosterize), 2);
  EXPECT_EQ(of("rand-m25-p1-mmax30-inc1", Augmentation::kPosterize), 0);
  EXPECT_EQ(of("rand-m25-p1-mmax30", Augmentation::kPosterize), 8);
  EXPECT_EQ(of("rand-m3-p1", Augmentation::kSolarize), 76);
  EXPECT_EQ(of("rand-m3-p1-inc1", Augmentation::kSolarize), 180);
  EXPECT_EQ(of("rand-m3-p1", Augmentation::kSolarizeAdd), 33);
  // The magnitude ends at ten.
  EXPECT_DOUBLE_EQ(of("rand-m25-p1", Augmentation::kRotate), 30);
  EXPECT_DOUBLE_EQ(of("rand-m20-p1-mmax30", Augmentation::kRotate), 60);
}

TEST(TimmRandAugment, ReadsTimmsTexts) {
  const TimmSettings plain = *TimmSettings::Of("rand");
  EXPECT_EQ(plain.magnitude, 10);
  EXPECT_EQ(plain.operations, 2);
  EXPECT_EQ(plain.probability, 0.5);
  EXPECT_FALSE(plain.increasing || plain.weighted);
  const TimmSettings full = *TimmSettings::Of("rand-inc1-n3-m7-p0.75-mstd0.5-mmax20-tweights");
  EXPECT_EQ(full.magnitude, 7);
  EXPECT_EQ(full.operations, 3);
  EXPECT_EQ(full.probability, 0.75);
  EXPECT_EQ(full.deviation, 0.5);
  EXPECT_EQ(full.most, 20);
  EXPECT_TRUE(full.increasing && full.weighted);
}

TEST(TimmRandAugment, RefusesTextsThatItCannotFollow) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"", "begins with \"\""},
      {"augmix-m3", "begins with \"augmix\""},
      {"rand-m", "the part \"m\" of config ends in no whole number"},
      {"rand-m9.5", "the part \"m9.5\" of config ends in no whole number: \"9.5\""},
      {"rand-inc", "the part \"inc\""},
      {"rand-inc2", "must lie in 0 … 1"},
      {"rand-p2", "must lie in 0 … 1"},
      {"rand-m99999999999999999999", "ends in no whole number"},
      {"rand-w0", "unknown part, \"w0\""},
      {"rand--m9", "unknown part, \"\""},
      {"rand-m9-m8", "two parts that begin with \"m\""},
      {"rand-t3a", "the part \"t3a\""},
      {"rand-n16-tweights", "config asks for n16"}};
  for (const auto& [text, message] : wrong) {
    EXPECT_THAT(MessageOf(TimmSettings::Of(text)), HasSubstr(message)) << text;
    EXPECT_FALSE(InferType("TimmRandAugment", Config(text), {ir::ColumnType::Of(DType::kUInt8, {-1, -1, 3})}).ok());
  }
}

// Floats have the pixels of bytes, but for rounding, where each value is changed by itself.
TEST(TimmRandAugment, BrightensDarkFloatsAsBytes) {
  const std::vector<Augmented> list = {{Augmentation::kSolarizeAdd, 55}};
  Tensor bytes = *Tensor::Allocate(DType::kUInt8, {16, 16});
  Tensor floats = *Tensor::Allocate(DType::kFloat32, {16, 16});
  for (int i = 0; i < 256; ++i) {
    bytes.mutable_raw()[i] = static_cast<uint8_t>(i);
    floats.mutable_data<float>()[i] = static_cast<float>(i) / 255;
  }
  constexpr ir::Number kFill[] = {int64_t{0}};
  OutputAllocator output;
  const Tensor changed = *Augment(bytes, list, {.fill = kFill}, output);
  const Tensor of_floats = *Augment(floats, list, {.fill = kFill}, output);
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(changed.raw()[i], i < 128 ? i + 55 : i);
    EXPECT_NEAR(of_floats.data<float>()[i] * 255, changed.raw()[i], 1e-3);
  }
}

}  // namespace
}  // namespace headrace
