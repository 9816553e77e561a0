// How far many permutations lie from what chance would give, in the deviations of ChiSquareDeviation.
// Pure functions, but for what `draw` does.
#ifndef HEADRACE_OPS_TESTING_PERMUTATION_CHANCE_H_
#define HEADRACE_OPS_TESTING_PERMUTATION_CHANCE_H_

#include <cstdint>
#include <functional>
#include <vector>

namespace headrace {

using DrawnPermutation = std::vector<uint64_t>;
// The permutation number `draw`, of 0 … size-1.
using DrawPermutation = std::function<DrawnPermutation(uint64_t draw)>;

// Every permutation is equally likely. size ≤ 8.
double AllPermutationsDeviation(uint64_t size, int draws, const DrawPermutation& permutation);
// Even and odd ones are.
double ParityDeviation(int draws, const DrawPermutation& permutation);
// Every index is at each position.
double PositionsDeviation(uint64_t size, int draws, const DrawPermutation& permutation);
// Every two indices are at two positions, the ones chosen.
double PairsDeviation(uint64_t size, uint64_t first, uint64_t second, int draws, const DrawPermutation& permutation);
// The number of indices that stand at their own position: 0, 1, 2, 3 or more (de Montmort). size ≥ 10.
double FixedPointsDeviation(int draws, const DrawPermutation& permutation);

// Where the index at each position of the first stands in the second: uniform where they have nothing to do with each
// other.
DrawnPermutation Between(const DrawnPermutation& first, const DrawnPermutation& second);

}  // namespace headrace

#endif  // HEADRACE_OPS_TESTING_PERMUTATION_CHANCE_H_
