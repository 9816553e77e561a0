#include "ops/source/row_order.h"

#include <algorithm>
#include <thread>

#include "core/error.h"
#include "core/philox.h"
#include "ir/value.h"
#include "ops/source/keyed_permutation.h"

namespace headrace {

void RowOrder::Slot::Replace(std::shared_ptr<const UniformPermutation> permutation) {
  const std::lock_guard<std::mutex> lock(replacing_);
  if (held_ == permutation) return;
  // Readers that register from now on find nothing; earlier readers finish within a few hundred rows.
  here_.store(nullptr, std::memory_order_seq_cst);
  while (readers_.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
  const UniformPermutation* const now = permutation.get();
  Hold(std::move(permutation));
  here_.store(now, std::memory_order_seq_cst);
}

void RowOrder::Slot::Hold(std::shared_ptr<const UniformPermutation> permutation) {
  if (account_ != nullptr) account_->Charge(-static_cast<int64_t>(held_->bytes()));
  held_ = std::move(permutation);
  const TaskMemory* const task = TaskMemory::Current();
  account_ = held_ != nullptr && task != nullptr ? task->account() : nullptr;
  if (account_ != nullptr) account_->Charge(static_cast<int64_t>(held_->bytes()));
}

RowOrder::RowOrder(uint64_t size, bool shuffle, uint64_t seed, uint64_t salt)
    : size_(size), shuffle_(shuffle), stream_(RowRandom::StreamOf(seed, salt)) {}

// Calls `read` with the epoch's permutation, of either kind.
template <typename Read>
void RowOrder::WithPermutation(uint64_t epoch, Read read) const {
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

uint64_t RowOrder::IndexAt(uint64_t epoch, uint64_t position) const {
  if (!shuffle_) return position;
  uint64_t index = 0;
  WithPermutation(epoch, [&](const auto& permutation) { index = permutation.At(position); });
  return index;
}

Positions RowOrder::IndicesAt(uint64_t epoch, absl::Span<const uint64_t> positions) const {
  Positions indices(positions.begin(), positions.end());
  if (!shuffle_) return indices;
  WithPermutation(epoch, [&](const auto& permutation) {
    for (uint64_t& index : indices) index = permutation.At(index);
  });
  return indices;
}

ir::Attribute RowOrder::Declare() {
  return {.name = "shuffle",
          .type = ir::AttributeType::kBool,
          .doc = "Shuffle the rows: each epoch has a new order, and all orders are equally likely.",
          .default_value = "False"};
}

absl::Status RowOrder::Upgrade(int /*from*/, std::vector<std::pair<std::string, ir::proto::Value>>& attributes) {
  const auto shuffles = [](const auto& attribute) {
    return attribute.first == "shuffle" && attribute.second.boolean();
  };
  if (std::none_of(attributes.begin(), attributes.end(), shuffles)) return absl::OkStatus();
  return GraphError("shuffle=True gives another order since version ", kVersion,
                    ", so what this graph gave cannot be given again: make it anew with the script that made it");
}

}  // namespace headrace
