// What the choosers draw: as often as they say, each row and each chooser by itself.
#include "kernels/chooser.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/testing/chi_square.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/declaration.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Floats;
using fixture::Given;
using ::testing::HasSubstr;

constexpr uint64_t kRows = 24000;

Chooser::Drawn Draw(const Kernel& kernel, size_t branches, RowRandom random) {
  return dynamic_cast<const Chooser&>(kernel).Draw(branches, random);
}

std::map<Chooser::Drawn, int64_t> CountDrawn(const std::string& kernel, const Given& given, size_t branches,
                                             uint64_t seed = 5) {
  const std::unique_ptr<Kernel> made = *fixture::MakeKernel(kernel, given);
  std::map<Chooser::Drawn, int64_t> counts;
  for (uint64_t row = 0; row < kRows; ++row) ++counts[Draw(*made, branches, RowRandom(seed, 9, RowId{.key = row}))];
  return counts;
}

Given P(double p) { return {{"p", ir::FloatValue(p)}}; }

absl::StatusOr<ir::Branching> BranchingOf(const std::string& kernel, const Given& given, size_t branches) {
  return ir::Registry::Global().Find(kernel)->branching(*fixture::AttributesOf(kernel, given), branches);
}

std::string Refused(const std::string& kernel, const Given& given, size_t branches) {
  return fixture::MessageOf(BranchingOf(kernel, given, branches));
}

TEST(RandomApply, DrawsAsOftenAsItSays) {
  for (const double p : {0.0, 0.125, 0.5, 1.0}) {
    auto counts = CountDrawn("RandomApply", P(p), 1);
    const int64_t applied = counts[{0}];
    EXPECT_EQ(applied + counts[{}], static_cast<int64_t>(kRows));
    if (p == 0 || p == 1) {
      EXPECT_EQ(applied, p == 0 ? 0 : static_cast<int64_t>(kRows));
      continue;
    }
    const std::array<int64_t, 2> found = {applied, counts[{}]};
    const std::array<double, 2> expected = {p * kRows, (1 - p) * kRows};
    EXPECT_LT(ChiSquareDeviation(found, expected), kMostDeviation) << p;
  }
}

TEST(RandomApply, SaysWhatItMayDraw) {
  EXPECT_EQ(BranchingOf("RandomApply", P(1), 1)->certain(), 0);
  EXPECT_EQ(BranchingOf("RandomApply", P(0.5), 1)->certain(), -1);
  EXPECT_EQ(BranchingOf("RandomApply", P(0), 1)->certain(), -1);
  EXPECT_FALSE(BranchingOf("RandomApply", P(0), 1)->drawn[0]);
  EXPECT_THAT(Refused("RandomApply", {}, 2), HasSubstr("one list of kernels, not 2"));
}

TEST(RandomChoice, DrawsBranchesByTheirWeights) {
  const std::vector<std::vector<double>> weights = {
      {1, 1, 1}, {0.2, 0.3, 0.5}, {3, 0, 1}, {0, 7, 0}, {1e300, 1e300, 0}};
  for (const std::vector<double>& each : weights) {
    const Given given = {{"p", Floats({each[0], each[1], each[2]})}};
    auto counts = CountDrawn("RandomChoice", given, each.size());
    std::vector<int64_t> found;
    std::vector<double> expected;
    for (size_t i = 0; i < each.size(); ++i) {
      const double share = each[i] / (each[0] + each[1] + each[2]);
      EXPECT_EQ((*BranchingOf("RandomChoice", given, 3)).drawn[i], share > 0);
      if (share == 0) {
        EXPECT_EQ(counts[{i}], 0);
        continue;
      }
      found.push_back(counts[{i}]);
      expected.push_back(share * kRows);
    }
    EXPECT_EQ(std::accumulate(found.begin(), found.end(), int64_t{0}), static_cast<int64_t>(kRows));
    if (found.size() > 1) {
      EXPECT_LT(ChiSquareDeviation(found, expected), kMostDeviation) << each[0];
    }
  }
}

TEST(RandomChoice, DrawsEqualOnesWithoutWeights) {
  std::vector<int64_t> found;
  for (const auto& [drawn, count] : CountDrawn("RandomChoice", {}, 7)) found.push_back(count);
  ASSERT_EQ(found.size(), 7u);
  EXPECT_LT(ChiSquareDeviation(found), kMostDeviation);
}

TEST(RandomChoice, RefusesWeightsThatDoNotFit) {
  EXPECT_THAT(Refused("RandomChoice", {{"p", Floats({1, 2})}}, 3), HasSubstr("p has 2 weights for 3 branches"));
  EXPECT_THAT(Refused("RandomChoice", {{"p", Floats({0, 0})}}, 2), HasSubstr("p needs a weight above 0"));
  EXPECT_THAT(Refused("RandomChoice", {{"p", Floats({1e308, 1e308})}}, 2), HasSubstr("finite sum"));
  EXPECT_FALSE(fixture::AttributesOf("RandomChoice", {{"p", Floats({1, -1})}}).ok());
}

TEST(RandomOrder, DrawsAllOrdersEquallyOften) {
  for (const size_t branches : {size_t{1}, size_t{2}, size_t{4}}) {
    std::vector<int64_t> found;
    for (const auto& [drawn, count] : CountDrawn("RandomOrder", {}, branches)) {
      Chooser::Drawn sorted = drawn;
      std::sort(sorted.begin(), sorted.end());
      for (size_t i = 0; i < branches; ++i) EXPECT_EQ(sorted[i], i);
      found.push_back(count);
    }
    ASSERT_EQ(found.size(), branches == 4 ? 24u : branches);
    if (branches > 1) {
      EXPECT_LT(ChiSquareDeviation(found), kMostDeviation);
    }
  }
}

TEST(UniformAugment, DrawsEveryChoiceEquallyOften) {
  // Of 4 kernels: each pair is drawn with chance 1/6, and each of the pair runs with chance 1/2.
  std::vector<int64_t> found;
  std::vector<double> expected;
  for (const auto& [drawn, count] : CountDrawn("UniformAugment", {}, 4)) {
    found.push_back(count);
    expected.push_back(kRows * (drawn.empty() ? 1 / 4.0 : drawn.size() == 1 ? 1 / 8.0 : 1 / 24.0));
    EXPECT_TRUE(std::is_sorted(drawn.begin(), drawn.end()));
  }
  ASSERT_EQ(found.size(), 1u + 4 + 6);
  EXPECT_LT(ChiSquareDeviation(found, expected), kMostDeviation);
  EXPECT_THAT(Refused("UniformAugment", {{"num_ops", ir::IntValue(3)}}, 2), HasSubstr("num_ops is 3"));
}

TEST(RandomSelectSubpolicy, DrawsSubpoliciesAndTheirKernels) {
  const Given given = {{"lengths", fixture::Ints({2, 1})}, {"chances", Floats({0.25, 1, 0.5})}};
  auto counts = CountDrawn("RandomSelectSubpolicy", given, 3);
  const std::vector<int64_t> found = {counts[{0, 1}], counts[{1}], counts[{2}], counts[{}]};
  const std::vector<double> expected = {kRows / 8.0, kRows * 3 / 8.0, kRows / 4.0, kRows / 4.0};
  EXPECT_LT(ChiSquareDeviation(found, expected), kMostDeviation);
  EXPECT_EQ(counts.size(), 4u);
  EXPECT_THAT(Refused("RandomSelectSubpolicy", given, 4), HasSubstr("not those of 4 kernels"));
}

// Pairs of what is drawn for a row and for its neighbour, in another epoch, with another seed, by another chooser.
TEST(Choosers, DrawIndependently) {
  const std::unique_ptr<Kernel> kernel = *fixture::MakeKernel("RandomChoice", {});
  const auto drawn = [&](uint64_t seed, uint64_t salt, uint64_t epoch, uint64_t row) {
    return Draw(*kernel, 3, RowRandom(seed, salt, RowId{.epoch = epoch, .key = row}))[0];
  };
  using Pair = size_t (*)(uint64_t row, const decltype(drawn)& drawn);
  const Pair others[] = {[](uint64_t row, const auto& d) { return d(1, 2, 0, row + 1); },
                         [](uint64_t row, const auto& d) { return d(1, 2, 1, row); },
                         [](uint64_t row, const auto& d) { return d(2, 2, 0, row); },
                         [](uint64_t row, const auto& d) { return d(1, 3, 0, row); }};
  for (const Pair other : others) {
    std::vector<int64_t> counts(9);
    for (uint64_t row = 0; row < 9000; ++row) ++counts[drawn(1, 2, 0, row) * 3 + other(row, drawn)];
    EXPECT_LT(ChiSquareDeviation(counts), kMostDeviation);
  }
}

TEST(Choosers, HaveNoPixels) {
  const std::unique_ptr<Kernel> kernel = *fixture::MakeKernel("Compose", {});
  OutputAllocator output;
  KernelContext context(RowRandom(0, 0), output);
  EXPECT_EQ(KindOf(kernel->Apply({}, context).status()), ErrorKind::kInternal);
  EXPECT_EQ(BranchingOf("Compose", {}, 1)->certain(), 0);
}

}  // namespace
}  // namespace headrace
