// Tests AutoAugment, RandAugment, TrivialAugmentWide and AugMix: pixels against Pillow, frequencies against their
// tables.
#include "kernels/vision/augmentation.h"

#include <algorithm>
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

void ExpectGolden(const std::string& kernel, const Given& given, const std::string& golden) {
  const Tensor expected = Golden(golden);
  for (int64_t row = 0; row < expected.dim(0); ++row) {
    const Tensor found = *RunKernel(kernel, given, {Part()}, RowRandom(0, 0, {.key = static_cast<uint64_t>(row)}));
    EXPECT_EQ(fixture::LargestDifference(found, expected.Index(row)), 0) << golden << " " << row;
  }
}

TEST(Augmentation, EqualsPillow) {
  for (const char* policy : {"imagenet", "cifar10", "svhn"}) {
    ExpectGolden("AutoAugment", Policy(policy), std::string("augment.") + policy);
  }
  ExpectGolden("RandAugment", {}, "augment.rand");
  ExpectGolden("TrivialAugmentWide", {}, "augment.trivial");
}

TEST(Augmentation, MixesAsTorchvisionDoesWithThePixelsOfPillow) {
  ExpectGolden("AugMix", {{"severity", ir::IntValue(10)}}, "augment.mix");
  ExpectGolden(
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

// What a kernel draws for many rows of pictures of 331 by 331 pixels.
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

// By what ImageNet's policy gives for some of its pairs, and by how often nothing of a pair is applied.
TEST(Augmentation, AppliesPairsByTheirProbabilities) {
  if (!kCountsChances) GTEST_SKIP();
  constexpr int64_t kRows = 50000;
  int64_t autocontrast_after_solarize = 0;  // twice in the table: 0.6 each
  int64_t inverted_then_equalized = 0;      // twice: 0.6 and 1
  int64_t nothing = 0;
  for (const AugmentedList& list : Drawn("AutoAugment", Policy("imagenet"), kRows)) {
    nothing += list.empty() ? 1 : 0;
    if (list.size() < 2) continue;
    const bool stretched = list[1].what == Augmentation::kAutoContrast && list[0].what == Augmentation::kSolarize;
    autocontrast_after_solarize += stretched ? 1 : 0;
    inverted_then_equalized += list[0].what == Augmentation::kInvert && list[1].what == Augmentation::kEqualize ? 1 : 0;
  }
  const auto expect_share = [](int64_t found, double share) {
    const int64_t counts[] = {found, kRows - found};
    const double expected[] = {kRows * share, kRows * (1 - share)};
    EXPECT_LT(std::abs(ChiSquareDeviation(counts, expected)), kMostDeviation) << found / double{kRows} << " " << share;
  };
  expect_share(autocontrast_after_solarize, 2 * 0.36 / 25);
  expect_share(inverted_then_equalized, 2 * 0.6 / 25);
  // The chance that neither of a pair is applied, summed over the pairs.
  expect_share(nothing, 3.76 / 25);
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
