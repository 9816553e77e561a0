#include "ops/order/epoch_permutations.h"

#include "core/philox.h"
#include "ops/order/keyed_permutation.h"

namespace headrace {

EpochPermutations::EpochPermutations(uint64_t size, uint64_t seed, uint64_t salt)
    : size_(size), stream_(RowRandom::StreamOf(seed, salt)) {}

void EpochPermutations::Find(uint64_t epoch, absl::Span<uint64_t> positions) const {
  const uint64_t key = RowRandom::KeyOf(stream_, epoch);
  const auto find = [positions](const auto& permutation) {
    for (uint64_t& position : positions) position = permutation.At(position);
  };
  if (size_ > UniformPermutation::kMostRows) {
    find(KeyedPermutation(size_, key));
  } else {
    stored_.With(epoch, [&] { return UniformPermutation::Shared(size_, key); }, find);
  }
}

}  // namespace headrace
