#include "ops/order/alias_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/testing/chi_square.h"

namespace headrace {
namespace {

std::vector<int64_t> CountDraws(const std::vector<double>& weights, int draws) {
  const AliasTable table(weights);
  std::vector<int64_t> counts(weights.size());
  RowRandom random(5, 6);
  for (int i = 0; i < draws; ++i) ++counts[table.Draw(random)];
  return counts;
}

double Deviation(const std::vector<double>& weights, int draws) {
  const double largest = *std::max_element(weights.begin(), weights.end());
  double sum = 0;
  for (const double weight : weights) sum += weight / largest;
  std::vector<double> expected;
  std::vector<int64_t> counts;
  const std::vector<int64_t> all = CountDraws(weights, draws);
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) {
      EXPECT_EQ(all[i], 0) << i;
      continue;
    }
    counts.push_back(all[i]);
    expected.push_back(weights[i] / largest / sum * draws);
  }
  return ChiSquareDeviation(counts, expected);
}

TEST(AliasTable, DrawsByWeight) {
  if (!kCountsChances) GTEST_SKIP();
  for (const std::vector<double>& weights : std::vector<std::vector<double>>{
           {1, 1}, {1, 2, 3, 4}, {0, 5, 0, 0.1, 7}, {1e308, 1e308, 5e307}, {3e-300, 1e-300}, {0.1, 0.2, 0.3, 0.4}}) {
    EXPECT_LT(std::abs(Deviation(weights, 60'000)), kMostDeviation) << weights.size();
  }
  std::vector<double> many;
  for (int i = 0; i < 500; ++i) many.push_back(i % 7 == 0 ? 0 : 1 + i % 50);
  EXPECT_LT(std::abs(Deviation(many, 300'000)), kMostDeviation);
}

TEST(AliasTable, OfOneWeightDrawsIt) { EXPECT_EQ(CountDraws({0.25}, 100)[0], 100); }

// Sums of thirds are rounded, so a column of weight 0 may be the last one to be filled.
TEST(AliasTable, NeverDrawsAWeightOfZero) {
  for (size_t count = 2; count < 40; ++count) {
    std::vector<double> weights(count, 1.0 / 3);
    for (size_t i = 0; i < count; i += 3) weights[i] = 0;
    const std::vector<int64_t> counts = CountDraws(weights, 2000);
    for (size_t i = 0; i < count; i += 3) EXPECT_EQ(counts[i], 0) << i << " of " << count;
  }
}

}  // namespace
}  // namespace headrace
