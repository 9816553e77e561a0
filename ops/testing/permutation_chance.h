// `AllPermutationsDeviation` and its neighbours measure how far many permutations deviate from uniform ones, in units
// of ChiSquareDeviation.
// Threads: pure functions, except for `draw`.
#ifndef HEADRACE_OPS_TESTING_PERMUTATION_CHANCE_H_
#define HEADRACE_OPS_TESTING_PERMUTATION_CHANCE_H_

#include <cstdint>
#include <functional>
#include <vector>

namespace headrace {

using DrawnPermutation = std::vector<uint64_t>;
// Returns permutation number `draw` of 0 … size-1.
using DrawPermutation = std::function<DrawnPermutation(uint64_t draw)>;

// Tests that every permutation is equally likely. size ≤ 8.
double AllPermutationsDeviation(uint64_t size, int draws, const DrawPermutation& permutation);
// Tests that even and odd permutations are equally likely.
double ParityDeviation(int draws, const DrawPermutation& permutation);
// Tests that every index is equally likely at each position.
double PositionsDeviation(uint64_t size, int draws, const DrawPermutation& permutation);
// Tests that every two indices are equally likely at the two given positions.
double PairsDeviation(uint64_t size, uint64_t first, uint64_t second, int draws, const DrawPermutation& permutation);
// Tests the number of fixed points: 0, 1, 2, 3 or more (de Montmort). size ≥ 10.
double FixedPointsDeviation(int draws, const DrawPermutation& permutation);

// The position in the second of the index at each position of the first: uniform if the two are independent.
DrawnPermutation Between(const DrawnPermutation& first, const DrawnPermutation& second);

}  // namespace headrace

#endif  // HEADRACE_OPS_TESTING_PERMUTATION_CHANCE_H_
