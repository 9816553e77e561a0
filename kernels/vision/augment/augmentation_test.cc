// Tests AutoAugment, RandAugment, TrivialAugmentWide and AugMix: pixels against Pillow, frequencies against their
// tables.
#include "kernels/vision/augment/augmentation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "core/testing/chi_square.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Given;
using fixture::Golden;
using fixture::InferType;
using fixture::MakeKernel;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

Tensor Part() { return Golden("source").Slice(0, 10, 30).Slice(1, 20, 40).Contiguous().value(); }

Given Policy(const char* name) { return {{"policy", ir::StringValue(name)}}; }

void ExpectGoldenAugmentation(const std::string& kernel, const Given& given, const std::string& golden) {
  const Tensor expected = Golden(golden);
  for (int64_t row = 0; row < expected.dim(0); ++row) {
    const Tensor found = *RunKernel(kernel, given, {Part()}, RowRandom(0, 0, {.key = static_cast<uint64_t>(row)}));
    EXPECT_EQ(fixture::LargestDifference(found, expected.Index(row)), 0) << golden << " " << row;
  }
}

TEST(Augmentation, EqualsPillow) {
  for (const char* policy : {"imagenet", "cifar10", "svhn"}) {
    ExpectGoldenAugmentation("AutoAugment", Policy(policy), std::string("augment.") + policy);
  }
  ExpectGoldenAugmentation("RandAugment", {}, "augment.rand");
  ExpectGoldenAugmentation("TrivialAugmentWide", {}, "augment.trivial");
}

TEST(Augmentation, MixesAsTorchvisionDoesWithThePixelsOfPillow) {
  ExpectGoldenAugmentation("AugMix", {{"severity", ir::IntValue(10)}}, "augment.mix");
  ExpectGoldenAugmentation(
      "AugMix",
      {{"mixture_width", ir::IntValue(2)}, {"chain_depth", ir::IntValue(5)}, {"all_ops", ir::BoolValue(false)}},
      "augment.mix.deep");
}

// Without any magnitude nothing changes black.
TEST(Augmentation, MixesToWhatItWasWhereNothingChanges) {
  Tensor plain = *Tensor::Allocate(DType::kUInt8, {20, 20, 3});
  std::fill_n(plain.mutable_raw(), plain.bytes(), uint8_t{0});
  for (uint64_t row = 0; row < 20; ++row) {
    const Tensor mixed = *RunKernel("AugMix", {{"severity", ir::IntValue(1)}}, {plain}, RowRandom(0, 0, {.key = row}));
    EXPECT_TRUE(TensorsEqual(mixed, plain));
  }
}

TEST(Augmentation, MixesViews) {
  const Tensor view = Golden("source").Slice(0, 10, 30).Slice(1, 20, 40);
  ASSERT_FALSE(view.contiguous());
  for (uint64_t row = 0; row < 10; ++row) {
    const RowRandom random(0, 0, {.key = row});
    EXPECT_TRUE(TensorsEqual(*RunKernel("AugMix", {}, {view}, random), *RunKernel("AugMix", {}, {Part()}, random)));
  }
}

TEST(Augmentation, HasTheMagnitudesOfMixtures) {
  const MagnitudeSpace space = MagnitudeSpace::Mixed(30, 60);
  EXPECT_DOUBLE_EQ(space.Of(Augmentation::kShearX, 9, true).magnitude, -0.3);
  EXPECT_EQ(space.Of(Augmentation::kTranslateX, 9, false).magnitude, 20);
  EXPECT_EQ(space.Of(Augmentation::kTranslateY, 5, true).magnitude, -5);
  EXPECT_EQ(space.Of(Augmentation::kRotate, 3, false).magnitude, 10);
  constexpr double kBits[] = {4, 4, 3, 3, 2, 2, 1, 1, 0, 0};
  for (int64_t bin = 0; bin < 10; ++bin) EXPECT_EQ(space.Of(Augmentation::kPosterize, bin, true).magnitude, kBits[bin]);
  EXPECT_EQ(space.Of(Augmentation::kSolarize, 3, false).magnitude, 170);
}

// What a kernel draws for many rows of images of 331 by 331 pixels.
std::vector<AugmentedList> Drawn(const std::string& kernel, const Given& given, uint64_t rows) {
  const std::unique_ptr<Kernel> made = *MakeKernel(kernel, given);
  std::vector<AugmentedList> lists;
  for (uint64_t row = 0; row < rows; ++row) {
    RowRandom random(3, 4, {.key = row});
    lists.push_back(dynamic_cast<const AugmentationKernel&>(*made).Draw(331, 331, random));
  }
  return lists;
}

using Counts = std::map<std::pair<Augmentation, double>, int64_t>;

void ExpectEquallyOften(const Counts& counts, size_t kinds) {
  std::vector<int64_t> found;
  for (const auto& [what, count] : counts) found.push_back(count);
  EXPECT_EQ(found.size(), kinds);
  EXPECT_LT(std::abs(ChiSquareDeviation(found)), kMostDeviation);
}

TEST(Augmentation, DrawsOperationsEquallyOften) {
  if (!kCountsChances) GTEST_SKIP();
  for (const char* kernel : {"RandAugment", "TrivialAugmentWide"}) {
    Counts counts;
    for (const AugmentedList& list : Drawn(kernel, {}, 14000)) {
      for (const Augmented& augmented : list) ++counts[{augmented.what, 0}];
    }
    ExpectEquallyOften(counts, 14);
  }
}

TEST(Augmentation, DrawsMagnitudesAndSignsEquallyOften) {
  if (!kCountsChances) GTEST_SKIP();
  Counts shears;
  Counts thresholds;
  Counts bits;
  for (const AugmentedList& list : Drawn("TrivialAugmentWide", {}, 60000)) {
    const Augmented& augmented = list[0];
    if (augmented.what == Augmentation::kShearX && augmented.magnitude != 0) {
      ++shears[{augmented.what, augmented.magnitude}];
    }
    if (augmented.what == Augmentation::kSolarize) ++thresholds[{augmented.what, augmented.magnitude}];
    if (augmented.what == Augmentation::kPosterize) ++bits[{augmented.what, augmented.magnitude}];
  }
  ExpectEquallyOften(shears, 60);
  ExpectEquallyOften(thresholds, 31);
  std::vector<int64_t> found;
  std::vector<double> expected;
  int64_t all = 0;
  for (const auto& [what, count] : bits) all += count;
  for (const auto& [what, count] : bits) {
    found.push_back(count);
    expected.push_back(static_cast<double>(all) * (what.second == 2 || what.second == 8 ? 3 : 5) / 31);
  }
  ASSERT_EQ(found.size(), 7u);
  EXPECT_LT(std::abs(ChiSquareDeviation(found, expected)), kMostDeviation);
}

// The magnitudes of the table, at 331 pixels.
TEST(Augmentation, HasTheMagnitudesOfTheTables) {
  const MagnitudeSpace usual = MagnitudeSpace::Usual(10, 331, 331);
  const MagnitudeSpace wide = MagnitudeSpace::Wide(31);
  const auto of = [](const MagnitudeSpace& space, Augmentation what, int64_t bin, bool negative = false) {
    return space.Of(what, bin, negative).magnitude;
  };
  EXPECT_DOUBLE_EQ(of(usual, Augmentation::kShearX, 9, true), -0.3);
  EXPECT_EQ(of(usual, Augmentation::kTranslateX, 4), 66);
  EXPECT_EQ(of(usual, Augmentation::kTranslateY, 9, true), -150);
  EXPECT_EQ(of(usual, Augmentation::kRotate, 9), 30);
  EXPECT_DOUBLE_EQ(of(usual, Augmentation::kColor, 5, true), -0.5);
  constexpr double kBits[] = {8, 8, 7, 7, 6, 6, 5, 5, 4, 4};
  constexpr double kThresholds[] = {255, 680 / 3.0, 595 / 3.0, 170, 425 / 3.0, 340 / 3.0, 85, 170 / 3.0, 85 / 3.0, 0};
  for (int64_t bin = 0; bin < 10; ++bin) {
    EXPECT_EQ(of(usual, Augmentation::kPosterize, bin, true), kBits[bin]);
    EXPECT_EQ(of(usual, Augmentation::kSolarize, bin, true), kThresholds[bin]);
  }
  // A threshold a little above a whole number would leave out the values that are equal to it.
  for (int64_t bin = 0; bin < 31; ++bin) {
    EXPECT_EQ(of(wide, Augmentation::kSolarize, bin), 255 - 8.5 * static_cast<double>(bin));
  }
  EXPECT_EQ(of(wide, Augmentation::kTranslateX, 30, true), -32);
  EXPECT_EQ(of(wide, Augmentation::kRotate, 30), 135);
  EXPECT_DOUBLE_EQ(of(wide, Augmentation::kShearY, 30), 0.99);
  EXPECT_EQ(of(wide, Augmentation::kPosterize, 30), 2);
}

// --- How often each list is drawn ---

// The chance of each list, or its count.
using Outcome = std::vector<std::pair<Augmentation, double>>;
using Chances = std::map<Outcome, double>;

// An operation of a policy: "So.6/5" is Solarize with probability 0.6 and bin 5.
struct Applied {
  explicit Applied(std::string_view text) {
    constexpr std::pair<std::string_view, Augmentation> kNames[] = {
        {"SX", Augmentation::kShearX},     {"SY", Augmentation::kShearY},   {"TX", Augmentation::kTranslateX},
        {"TY", Augmentation::kTranslateY}, {"Ro", Augmentation::kRotate},   {"Br", Augmentation::kBrightness},
        {"Co", Augmentation::kColor},      {"Ct", Augmentation::kContrast}, {"Sh", Augmentation::kSharpness},
        {"Po", Augmentation::kPosterize},  {"So", Augmentation::kSolarize}, {"AC", Augmentation::kAutoContrast},
        {"Eq", Augmentation::kEqualize},   {"Iv", Augmentation::kInvert}};
    for (const auto& [name, named] : kNames) {
      if (text.starts_with(name)) what = named;
    }
    const size_t slash = text.find('/');
    probability = std::stod(std::string(text.substr(2, slash == text.npos ? slash : slash - 2)));
    if (slash != text.npos) bin = text[slash + 1] - '0';
  }

  Augmentation what = Augmentation::kIdentity;
  double probability = 0;
  int64_t bin = 0;
};

// Adds what the operations after those of `begun` may make of it.
void AddOutcomes(absl::Span<const Applied> left, double chance, Outcome begun, Chances& chances) {
  if (left.empty()) {
    chances[begun] += chance;
    return;
  }
  const Applied& next = left[0];
  AddOutcomes(left.subspan(1), chance * (1 - next.probability), begun, chances);
  for (const bool negative : {false, true}) {
    Outcome longer = begun;
    const Augmented augmented = MagnitudeSpace::Usual(10, 331, 331).Of(next.what, next.bin, negative);
    longer.emplace_back(augmented.what, augmented.magnitude);
    AddOutcomes(left.subspan(1), chance * next.probability / 2, std::move(longer), chances);
  }
}

// Outcomes that are too rare for the test are counted together.
void ExpectDrawn(const std::vector<AugmentedList>& lists, const Chances& chances, const std::string& what) {
  const auto rows = static_cast<double>(lists.size());
  std::map<Outcome, int64_t> counts;
  for (const AugmentedList& list : lists) {
    Outcome outcome;
    for (const Augmented& augmented : list) outcome.emplace_back(augmented.what, augmented.magnitude);
    ++counts[outcome];
  }
  std::vector<int64_t> found = {0};
  std::vector<double> expected = {0};
  int64_t known = 0;
  for (const auto& [outcome, chance] : chances) {
    known += counts[outcome];
    if (chance * rows < 20) {
      found[0] += counts[outcome];
      expected[0] += chance * rows;
    } else {
      found.push_back(counts[outcome]);
      expected.push_back(chance * rows);
    }
  }
  EXPECT_EQ(known, static_cast<int64_t>(lists.size())) << what << ": others are drawn";
  if (expected[0] < 20) {
    found[1] += found[0];
    expected[1] += expected[0];
    found.erase(found.begin());
    expected.erase(expected.begin());
  }
  EXPECT_LT(std::abs(ChiSquareDeviation(found, expected)), kMostDeviation) << what;
}

// The policies as they are published.
constexpr std::pair<const char*, const char*> kPolicies[] = {
    {"imagenet",
     "Po.4/8 Ro.6/9, So.6/5 AC.6, Eq.8 Eq.6, Po.6/7 Po.6/6, Eq.4 So.2/4, Eq.4 Ro.8/8, So.6/3 Eq.6, Po.8/5 Eq1, "
     "Ro.2/3 So.6/8, Eq.6 Po.4/6, Ro.8/8 Co.4/0, Ro.4/9 Eq.6, Eq0 Eq.8, Iv.6 Eq1, Co.6/4 Ct1/8, Ro.8/8 Co1/2, "
     "Co.8/8 So.8/7, Sh.4/7 Iv.6, SX.6/5 Eq1, Co.4/0 Eq.6, Eq.4 So.2/4, So.6/5 AC.6, Iv.6 Eq1, Co.6/4 Ct1/8, "
     "Eq.8 Eq.6"},
    {"cifar10",
     "Iv.1 Ct.2/6, Ro.7/2 TX.3/9, Sh.8/1 Sh.9/3, SY.5/8 TY.7/9, AC.5 Eq.9, SY.2/7 Po.3/7, Co.4/3 Br.6/7, "
     "Sh.3/9 Br.7/9, Eq.6 Eq.5, Ct.6/7 Sh.6/5, Co.7/7 TX.5/8, Eq.3 AC.4, TY.4/3 Sh.2/6, Br.9/6 Co.2/8, So.5/2 Iv0, "
     "Eq.2 AC.6, Eq.2 Eq.6, Co.9/9 Eq.6, AC.8 So.2/8, Br.1/3 Co.7/0, So.4/5 AC.9, TY.9/9 TY.7/9, AC.9 So.8/3, "
     "Eq.8 Iv.1, TY.7/9 AC.9"},
    {"svhn",
     "SX.9/4 Iv.2, SY.9/8 Iv.7, Eq.6 So.6/6, Iv.9 Eq.6, Eq.6 Ro.9/3, SX.9/4 AC.8, SY.9/8 Iv.4, SY.9/5 So.2/6, "
     "Iv.9 AC.8, Eq.6 Ro.9/3, SX.9/4 So.3/3, SY.8/8 Iv.7, Eq.9 TY.6/6, Iv.9 Eq.6, Ct.3/3 Ro.8/4, Iv.8 TY0/2, "
     "SY.7/6 So.4/8, Iv.6 Ro.8/4, SY.3/7 TX.9/3, SX.1/6 Iv.6, So.7/2 TY.6/7, SY.8/4 Iv.8, SX.7/9 TY.8/3, "
     "SY.8/5 AC.7, SX.7/2 Iv.1"}};

TEST(Augmentation, AppliesPairsByTheirProbabilities) {
  if (!kCountsChances) GTEST_SKIP();
  for (const auto& [policy, text] : kPolicies) {
    Chances chances;
    const std::vector<std::string> pairs = absl::StrSplit(text, ", ");
    ASSERT_EQ(pairs.size(), 25U);
    for (const std::string& pair : pairs) {
      const std::vector<std::string> texts = absl::StrSplit(pair, ' ');
      const std::vector<Applied> operations(texts.begin(), texts.end());
      AddOutcomes(operations, 1.0 / 25, {}, chances);
    }
    ExpectDrawn(Drawn("AutoAugment", Policy(policy), 50000), chances, policy);
  }
}

// Each of two operations with either sign, whatever the other is.
TEST(Augmentation, DrawsOperationsAndSignsIndependently) {
  if (!kCountsChances) GTEST_SKIP();
  const MagnitudeSpace space = MagnitudeSpace::Usual(31, 331, 331);
  std::map<std::pair<Augmentation, double>, double> one;
  for (uint64_t i = 0; i < kUsualAugmentations; ++i) {
    for (const bool negative : {false, true}) {
      const Augmented augmented = space.Of(static_cast<Augmentation>(i), 9, negative);
      one[{augmented.what, augmented.magnitude}] += 0.5 / kUsualAugmentations;
    }
  }
  EXPECT_EQ(one.size(), 23U) << "nine operations have a sign";
  Chances chances;
  for (const auto& [first, chance] : one) {
    for (const auto& [second, other] : one) chances[{first, second}] = chance * other;
  }
  ExpectDrawn(Drawn("RandAugment", {{"magnitude", ir::IntValue(9)}}, 40000), chances, "RandAugment");
}

TEST(Augmentation, TakesGreyImagesAndRefusesOthers) {
  const Tensor grey = *RunKernel("Grayscale", {}, Part());
  for (const char* kernel : {"AutoAugment", "RandAugment", "TrivialAugmentWide", "AugMix"}) {
    for (uint64_t row = 0; row < 30; ++row) {
      const Tensor found = *RunKernel(kernel, {}, {grey}, RowRandom(0, 0, {.key = row}));
      EXPECT_EQ(found.TypeName(), "uint8 (30, 40, 1)");
    }
    EXPECT_FALSE(RunKernel(kernel, {}, *Tensor::Allocate(DType::kUInt16, {4, 4, 3})).ok());
    EXPECT_THAT(MessageOf(InferType(kernel, {}, {ir::ColumnType::Of(DType::kUInt8, {-1, -1, 4})})),
                HasSubstr("1 channel or 3"));
  }
  // Whatever is drawn.
  for (uint64_t row = 0; row < 30; ++row) {
    const Given fill = {{"fill", fixture::Floats({1, 2, 3})}};
    EXPECT_THAT(MessageOf(RunKernel("TrivialAugmentWide", fill, {grey}, RowRandom(0, 0, {.key = row}))),
                HasSubstr("fill has 3 values, but the image has 1 channels"));
  }
  EXPECT_FALSE(RunKernel("AugMix", {{"severity", ir::IntValue(11)}}, Part()).ok());
  EXPECT_FALSE(RunKernel("AugMix", {{"alpha", ir::FloatValue(0)}}, Part()).ok());
  EXPECT_THAT(MessageOf(RunKernel("RandAugment", {{"magnitude", ir::IntValue(31)}}, Part())),
              HasSubstr("magnitude must be less than num_magnitude_bins"));
}

}  // namespace
}  // namespace headrace
