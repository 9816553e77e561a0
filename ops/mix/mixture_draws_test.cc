#include "ops/mix/mixture_draws.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "core/philox.h"
#include "core/testing/chi_square.h"

namespace headrace {
namespace {

using ::testing::Each;

constexpr int kDraws = 60000;

MixtureDraws Begun(std::vector<double> weights, uint64_t epoch = 0, uint64_t seed = 7) {
  MixtureDraws draws(std::move(weights));
  draws.Begin(RowRandom::KeyOf(RowRandom::StreamOf(seed, 99), epoch));
  return draws;
}

std::vector<int64_t> Counts(MixtureDraws draws, int inputs, int draws_made = kDraws) {
  std::vector<int64_t> counts(static_cast<size_t>(inputs));
  for (int draw = 0; draw < draws_made; ++draw) ++counts[draws.At(static_cast<uint64_t>(draw), 0)];
  return counts;
}

std::vector<double> Expected(const std::vector<double>& weights, int draws = kDraws) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  std::vector<double> expected;
  for (const double weight : weights) expected.push_back(weight / sum * draws);
  return expected;
}

TEST(MixtureDraws, FollowTheWeights) {
  if (!kCountsChances) GTEST_SKIP();
  const std::vector<std::vector<double>> mixtures = {
      {1, 1}, {3, 1, 0.5}, {0.7, 0.2, 0.1}, std::vector<double>(40, 2.5)};
  for (const std::vector<double>& weights : mixtures) {
    for (const uint64_t seed : {0, 1, 2}) {
      const std::vector<int64_t> counts = Counts(Begun(weights, 3, seed), static_cast<int>(weights.size()));
      EXPECT_LT(std::abs(ChiSquareDeviation(counts, Expected(weights))), kMostDeviation);
    }
  }
}

// Over many epochs of few draws, as of small data sets.
TEST(MixtureDraws, FollowTheWeightsInEachOfFewDraws) {
  if (!kCountsChances) GTEST_SKIP();
  for (uint64_t draw = 0; draw < 3; ++draw) {
    std::vector<int64_t> counts(3);
    for (uint64_t epoch = 0; epoch < 20000; ++epoch) ++counts[Begun({5, 3, 2}, epoch).At(draw, 0)];
    EXPECT_LT(std::abs(ChiSquareDeviation(counts, Expected({5, 3, 2}, 20000))), kMostDeviation);
  }
}

// How far the pairs of two sequences of draws of two inputs, equally likely, are from independent.
template <typename First, typename Second>
double Dependence(First first, Second second) {
  std::vector<int64_t> pairs(4);
  for (uint64_t draw = 0; draw < kDraws; ++draw) ++pairs[2 * first(draw) + second(draw)];
  return std::abs(ChiSquareDeviation(pairs));
}

TEST(MixtureDraws, AreIndependentAcrossPositionsEpochsAndSeeds) {
  if (!kCountsChances) GTEST_SKIP();
  MixtureDraws draws = Begun({1, 1});
  MixtureDraws other = Begun({1, 1});
  MixtureDraws next_epoch = Begun({1, 1}, 1);
  MixtureDraws other_seed = Begun({1, 1}, 0, 8);
  const auto at = [](MixtureDraws& of) { return [&of](uint64_t draw) { return of.At(draw, 0); }; };
  for (const uint64_t lag : {1, 2, 256}) {
    EXPECT_LT(Dependence(at(draws), [&](uint64_t draw) { return other.At(draw + lag, 0); }), kMostDeviation) << lag;
  }
  EXPECT_LT(Dependence(at(draws), at(next_epoch)), kMostDeviation);
  EXPECT_LT(Dependence(at(draws), at(other_seed)), kMostDeviation);
}

TEST(MixtureDraws, FollowFromTheirNumberInWhateverOrder) {
  MixtureDraws forwards = Begun({1, 2, 3});
  MixtureDraws backwards = Begun({1, 2, 3});
  std::map<uint64_t, size_t> found;
  for (uint64_t draw = 0; draw < 1000; ++draw) found[draw] = forwards.At(draw, 0);
  for (uint64_t draw = 1000; draw-- > 0;) ASSERT_EQ(backwards.At(draw, 0), found[draw]);
  forwards.Begin(RowRandom::KeyOf(RowRandom::StreamOf(7, 99), 1));
  MixtureDraws anew = Begun({1, 2, 3}, 1);
  for (uint64_t draw = 0; draw < 300; ++draw) ASSERT_EQ(forwards.At(draw, 0), anew.At(draw, 0));
}

TEST(MixtureDraws, KeepTheProportionsOfThoseThatAreLeft) {
  if (!kCountsChances) GTEST_SKIP();
  MixtureDraws draws = Begun({3, 4, 1, 2});
  draws.LeaveOut(1);
  draws.LeaveOut(1);
  EXPECT_EQ(draws.inputs_left(), 3u);
  EXPECT_LT(std::abs(ChiSquareDeviation(Counts(draws, 4), {{30000, 1e-9, 10000, 20000}})), kMostDeviation);
  draws.LeaveOut(3);
  EXPECT_EQ(Counts(draws, 4)[1] + Counts(draws, 4)[3], 0);
  draws.LeaveOut(0);
  EXPECT_EQ(Counts(draws, 4, 500)[2], 500);
  draws.LeaveOut(2);
  EXPECT_EQ(draws.inputs_left(), 0u);
  draws.Begin(5);
  EXPECT_EQ(draws.inputs_left(), 4u);
}

// A draw that found its input empty is made again among the others.
TEST(MixtureDraws, HaveFurtherAttempts) {
  if (!kCountsChances) GTEST_SKIP();
  MixtureDraws draws = Begun({4, 1, 3});
  std::vector<uint64_t> of_first;
  for (uint64_t draw = 0; draw < kDraws; ++draw) {
    if (draws.At(draw, 0) == 0) of_first.push_back(draw);
  }
  draws.LeaveOut(0);
  std::vector<int64_t> counts(3);
  for (const uint64_t draw : of_first) ++counts[draws.At(draw, 1)];
  EXPECT_EQ(counts[0], 0);
  EXPECT_LT(std::abs(ChiSquareDeviation({{counts[1], counts[2]}}, {{0.25 * static_cast<double>(of_first.size()),
                                                                    0.75 * static_cast<double>(of_first.size())}})),
            kMostDeviation);
}

TEST(MixtureDraws, TakeWeightsOfAnySize) {
  for (const double scale : {1e-300, 1.0, 1e300}) {
    MixtureDraws draws = Begun({3 * scale, scale, 2 * scale});
    MixtureDraws plain = Begun({3, 1, 2});
    for (uint64_t draw = 0; draw < 2000; ++draw) ASSERT_EQ(draws.At(draw, 0), plain.At(draw, 0)) << scale;
  }
  MixtureDraws apart = Begun({1e300, 1e-300, 2e-300});
  EXPECT_EQ(Counts(apart, 3, 1000)[0], 1000);
  apart.LeaveOut(0);
  EXPECT_GT(Counts(apart, 3, 1000)[1], 200);
  EXPECT_GT(Counts(apart, 3, 1000)[2], 500);
}

}  // namespace
}  // namespace headrace
