#include "ops/testing/permutation_chance.h"

#include <algorithm>

#include "core/testing/chi_square.h"

namespace headrace {
namespace {

// Its rank among all permutations of its size (Lehmer's code).
uint64_t RankOf(const DrawnPermutation& permutation) {
  uint64_t rank = 0;
  for (size_t i = 0; i < permutation.size(); ++i) {
    const auto smaller = std::count_if(permutation.begin() + static_cast<std::ptrdiff_t>(i), permutation.end(),
                                       [&](uint64_t other) { return other < permutation[i]; });
    rank = rank * (permutation.size() - i) + static_cast<uint64_t>(smaller);
  }
  return rank;
}

bool Odd(const DrawnPermutation& permutation) {
  std::vector<bool> seen(permutation.size());
  bool odd = false;
  for (size_t start = 0; start < permutation.size(); ++start) {
    if (seen[start]) continue;
    // A cycle of an even number of indices is odd.
    for (size_t at = permutation[start]; at != start; at = permutation[at]) {
      seen[at] = true;
      odd = !odd;
    }
  }
  return odd;
}

}  // namespace

double AllPermutationsDeviation(uint64_t size, int draws, const DrawPermutation& permutation) {
  uint64_t all = 1;
  for (uint64_t i = 2; i <= size; ++i) all *= i;
  std::vector<int64_t> counts(all);
  for (int draw = 0; draw < draws; ++draw) ++counts[RankOf(permutation(static_cast<uint64_t>(draw)))];
  return ChiSquareDeviation(counts);
}

double ParityDeviation(int draws, const DrawPermutation& permutation) {
  std::vector<int64_t> counts(2);
  for (int draw = 0; draw < draws; ++draw) ++counts[Odd(permutation(static_cast<uint64_t>(draw))) ? 1 : 0];
  return ChiSquareDeviation(counts);
}

double PositionsDeviation(uint64_t size, int draws, const DrawPermutation& permutation) {
  std::vector<int64_t> counts(size * size);
  for (int draw = 0; draw < draws; ++draw) {
    const DrawnPermutation drawn = permutation(static_cast<uint64_t>(draw));
    for (uint64_t position = 0; position < size; ++position) ++counts[position * size + drawn[position]];
  }
  // The counts of each position and of each index add up to the draws, so (size - 1)² of them are free.
  const double expected = static_cast<double>(draws) / static_cast<double>(size);
  double chi_square = 0;
  for (const int64_t count : counts) {
    const double off = static_cast<double>(count) - expected;
    chi_square += off * off / expected;
  }
  return ChiSquareDeviationOf(chi_square * static_cast<double>(size - 1) / static_cast<double>(size),
                              static_cast<double>((size - 1) * (size - 1)));
}

double PairsDeviation(uint64_t size, uint64_t first, uint64_t second, int draws, const DrawPermutation& permutation) {
  std::vector<int64_t> counts(size * (size - 1));
  for (int draw = 0; draw < draws; ++draw) {
    const DrawnPermutation drawn = permutation(static_cast<uint64_t>(draw));
    const uint64_t other = drawn[second] - (drawn[second] > drawn[first] ? 1 : 0);
    ++counts[drawn[first] * (size - 1) + other];
  }
  return ChiSquareDeviation(counts);
}

double FixedPointsDeviation(int draws, const DrawPermutation& permutation) {
  std::vector<int64_t> counts(4);
  for (int draw = 0; draw < draws; ++draw) {
    const DrawnPermutation drawn = permutation(static_cast<uint64_t>(draw));
    size_t fixed = 0;
    for (uint64_t position = 0; position < drawn.size(); ++position) fixed += drawn[position] == position ? 1 : 0;
    ++counts[std::min<size_t>(fixed, 3)];
  }
  // Poisson's distribution of mean 1; that of ten rows equals it to seven digits.
  constexpr double kNone = 0.36787944117144233;
  std::vector<double> expected = {kNone, kNone, kNone / 2, 1 - 2.5 * kNone};
  for (double& part : expected) part *= draws;
  return ChiSquareDeviation(counts, expected);
}

DrawnPermutation Between(const DrawnPermutation& first, const DrawnPermutation& second) {
  DrawnPermutation position_of(second.size());
  for (uint64_t position = 0; position < second.size(); ++position) position_of[second[position]] = position;
  DrawnPermutation between;
  for (const uint64_t index : first) between.push_back(position_of[index]);
  return between;
}

}  // namespace headrace
