#include "ops/order/drawn_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "core/error.h"
#include "core/testing/chi_square.h"
#include "ops/order/uniform_permutation.h"
#include "ops/testing/permutation_chance.h"

namespace headrace {
namespace {

std::vector<uint64_t> RowsOfDrawnPart(uint64_t rows, uint64_t seed, const DrawnPositions& borders) {
  const auto part = DrawPart(rows, seed, borders);
  std::vector<uint64_t> positions((*part)->size());
  std::vector<uint64_t> occurrences(positions.size());
  for (size_t i = 0; i < positions.size(); ++i) positions[i] = i;
  (*part)->Find(0, absl::MakeSpan(positions), absl::MakeSpan(occurrences));
  EXPECT_EQ(std::set<uint64_t>(occurrences.begin(), occurrences.end()).size(), positions.empty() ? 0u : 1u);
  return positions;
}

TEST(DrawnPart, KeepsTheOrderAndSharesNoRow) {
  // Both kinds of permutation.
  for (const uint64_t rows : {uint64_t{40}, UniformPermutation::kMostRows + 40}) {
    std::set<uint64_t> seen;
    for (const DrawnPositions& borders : {DrawnPositions{0, 7}, DrawnPositions{7, 30}, DrawnPositions{30, rows}}) {
      const std::vector<uint64_t> part = RowsOfDrawnPart(rows, 5, borders);
      EXPECT_EQ(part.size(), borders.end - borders.begin);
      EXPECT_TRUE(std::is_sorted(part.begin(), part.end()));
      seen.insert(part.begin(), part.end());
    }
    EXPECT_EQ(seen.size(), rows);
  }
}

TEST(DrawnPart, OfTheRestIsAllOthers) {
  std::vector<uint64_t> both = RowsOfDrawnPart(100, 1, {10, 40});
  const std::vector<uint64_t> rest = RowsOfDrawnPart(100, 1, {10, 40, true});
  both.insert(both.end(), rest.begin(), rest.end());
  std::sort(both.begin(), both.end());
  for (uint64_t row = 0; row < 100; ++row) ASSERT_EQ(both[row], row);
}

TEST(DrawnPart, DependsOnTheSeed) {
  EXPECT_EQ(RowsOfDrawnPart(100, 1, {0, 30}), RowsOfDrawnPart(100, 1, {0, 30}));
  EXPECT_NE(RowsOfDrawnPart(100, 1, {0, 30}), RowsOfDrawnPart(100, 2, {0, 30}));
}

// Which two of six rows are drawn: each of 15 pairs.
TEST(DrawnPart, DrawsEverySetEquallyOften) {
  if (!kCountsChances) GTEST_SKIP();
  std::vector<int64_t> counts(64);
  for (uint64_t seed = 0; seed < 12'000; ++seed) {
    size_t set = 0;
    for (const uint64_t row : RowsOfDrawnPart(6, seed, {2, 4})) set |= size_t{1} << row;
    ++counts[set];
  }
  std::erase(counts, 0);
  EXPECT_EQ(counts.size(), 15u);
  EXPECT_LT(std::abs(ChiSquareDeviation(counts)), kMostDeviation);
}

TEST(DrawnPart, OfTooManyRowsIsRefused) {
  const auto part = DrawPart(uint64_t{1} << 40, 0, {0, 1});
  EXPECT_EQ(KindOf(part.status()), ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace headrace
