#include "core/testing/chi_square.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace headrace {
namespace {

// Quantiles of chi-square, from tables: 10 degrees of freedom exceed 18.307 in 5% of cases, 1.645 deviations, and
// 3.940 in 95%.
TEST(ChiSquare, KnowsTheQuantiles) {
  const std::vector<double> expected(11, 100);
  const auto counts = [](int64_t off) {
    return std::vector<int64_t>{100 + off, 100 - off, 100, 100, 100, 100, 100, 100, 100, 100, 100};
  };
  // 2 · off² / 100
  EXPECT_NEAR(ChiSquareDeviation(counts(30), expected), 1.58, 0.05);   // 18.0
  EXPECT_NEAR(ChiSquareDeviation(counts(14), expected), -1.65, 0.05);  // 3.92
  EXPECT_EQ(ChiSquareDeviation(counts(30)), ChiSquareDeviation(counts(30), expected));
}

TEST(ChiSquare, TellsFairDiceFromLoadedAndFromTooEvenOnes) {
  std::mt19937 random(1);
  std::vector<int64_t> fair(6), loaded(6);
  for (int i = 0; i < 60'000; ++i) {
    ++fair[random() % 6];
    ++loaded[random() % 61 % 6];
  }
  EXPECT_LT(std::abs(ChiSquareDeviation(fair)), 3);
  EXPECT_GT(ChiSquareDeviation(loaded), kMostDeviation);
  EXPECT_LT(ChiSquareDeviation(std::vector<int64_t>(30, 1000)), -kMostDeviation);
}

}  // namespace
}  // namespace headrace
