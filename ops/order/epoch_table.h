// `EpochTable` holds the rows of one epoch of an order, and how often each came before: 8 bytes a position at most,
// charged to the pipeline of the task that made it.
// Threads: made and destroyed by one thread, read by any.
#ifndef HEADRACE_OPS_ORDER_EPOCH_TABLE_H_
#define HEADRACE_OPS_ORDER_EPOCH_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "core/buffer.h"
#include "ops/order/drawn_order.h"

namespace headrace {

class EpochTable {
 public:
  // `rows` are below `input_rows`.
  EpochTable(std::vector<uint32_t> rows, uint64_t input_rows)
      : rows_(std::move(rows)), occurrences_(CountOccurrences(rows_, input_rows)) {
    const TaskMemory* const task = TaskMemory::Current();
    if (task != nullptr) account_ = task->account();
    if (account_ != nullptr) account_->Charge(bytes());
  }
  ~EpochTable() {
    if (account_ != nullptr) account_->Charge(-bytes());
  }
  EpochTable(const EpochTable&) = delete;

  // As RowOrder::Find.
  void Find(absl::Span<uint64_t> positions, absl::Span<uint64_t> occurrences) const {
    for (size_t i = 0; i < positions.size(); ++i) {
      const uint64_t position = positions[i];
      positions[i] = rows_[position];
      if (!occurrences_.empty()) occurrences[i] = occurrences_[position];
    }
  }

 private:
  int64_t bytes() const {
    return static_cast<int64_t>((rows_.capacity() + occurrences_.capacity()) * sizeof(uint32_t));
  }

  const std::vector<uint32_t> rows_;
  const std::vector<uint32_t> occurrences_;  // empty: no row recurs
  MemoryAccount* account_ = nullptr;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_ORDER_EPOCH_TABLE_H_
