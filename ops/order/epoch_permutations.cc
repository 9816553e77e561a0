#include "ops/order/epoch_permutations.h"

#include <thread>
#include <utility>

#include "core/philox.h"
#include "ops/order/keyed_permutation.h"

namespace headrace {

void EpochPermutations::Slot::Replace(std::shared_ptr<const UniformPermutation> permutation) {
  const std::lock_guard<std::mutex> lock(replacing_);
  if (held_ == permutation) return;
  // Readers that register from now on find nothing; earlier readers finish within a few hundred rows.
  here_.store(nullptr, std::memory_order_seq_cst);
  while (readers_.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
  const UniformPermutation* const now = permutation.get();
  Hold(std::move(permutation));
  here_.store(now, std::memory_order_seq_cst);
}

void EpochPermutations::Slot::Hold(std::shared_ptr<const UniformPermutation> permutation) {
  if (account_ != nullptr) account_->Charge(-static_cast<int64_t>(held_->bytes()));
  held_ = std::move(permutation);
  const TaskMemory* const task = TaskMemory::Current();
  account_ = held_ != nullptr && task != nullptr ? task->account() : nullptr;
  if (account_ != nullptr) account_->Charge(static_cast<int64_t>(held_->bytes()));
}

EpochPermutations::EpochPermutations(uint64_t size, uint64_t seed, uint64_t salt)
    : size_(size), stream_(RowRandom::StreamOf(seed, salt)) {}

// Calls `read` with the epoch's permutation, of either kind.
template <typename Read>
void EpochPermutations::WithPermutation(uint64_t epoch, Read read) const {
  const uint64_t key = RowRandom::KeyOf(stream_, epoch);
  if (size_ > UniformPermutation::kMostRows) {
    read(KeyedPermutation(size_, key));
    return;
  }
  Slot& slot = slots_[epoch % slots_.size()];
  if (slot.TryRead(key, read)) return;
  const std::shared_ptr<const UniformPermutation> permutation = UniformPermutation::Shared(size_, key);
  slot.Replace(permutation);
  read(*permutation);
}

void EpochPermutations::Find(uint64_t epoch, absl::Span<uint64_t> positions) const {
  WithPermutation(epoch, [&](const auto& permutation) {
    for (uint64_t& position : positions) position = permutation.At(position);
  });
}

}  // namespace headrace
