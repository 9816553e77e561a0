#include "ops/flow/replayed_operator.h"

#include <utility>

#include "absl/container/inlined_vector.h"
#include "ops/flow/end_with_error.h"
#include "ops/rows/block_rows.h"

namespace headrace {
namespace {

constexpr uint64_t kMostReplayed = uint64_t{1} << 62;

}  // namespace

absl::Status ReplayedOperator::CheckCounters(absl::Span<const uint64_t> counters) const {
  return counters[0] <= kMostReplayed ? absl::OkStatus() : CounterError("used ", counters[0], " rows");
}

void ReplayedOperator::Start(uint64_t epoch, absl::Span<const uint64_t> counters, const Checkpoint& /*inputs*/) {
  Begin(epoch, counters[0]);
}

void ReplayedOperator::Begin(uint64_t epoch, uint64_t replayed) {
  epoch_ = epoch;
  used_ = 0;
  replayed_ = replayed;
  Forget();
}

void ReplayedOperator::Finish(uint64_t epoch) {
  if (epoch_ <= epoch) Forget();
}

void ReplayedOperator::Receive(int /*input*/, Message message, Outbox& out) {
  if (message->epoch < epoch_) return;
  epoch_ = message->epoch;
  // Rows that were removed before one that was used were counted then.
  if (used_ < replayed_) message->removed.reset();
  if (message->tombstone()) {
    UseTombstone(*message);
  } else {
    UseRows(*message);
  }
  const bool ends = message->end == End::kEpoch;
  message->checkpoint.assign(message->checkpoint.size(), 0);
  message->checkpoint.push_back(used_ + (ends ? 1 : 0));
  const uint64_t ended = message->epoch;
  if (!message->idle()) out.Give(std::move(message));
  if (ends) Begin(ended + 1, 0);
}

void ReplayedOperator::UseTombstone(Block& block) {
  if (used_++ >= replayed_) return;
  block.error = absl::OkStatus();
  block.DropRows();
}

void ReplayedOperator::UseRows(Block& block) {
  absl::InlinedVector<int, 32> kept;
  for (int row = 0; row < block.rows(); ++row) {
    const bool again = used_ < replayed_;
    const absl::StatusOr<bool> stays = Use(block, row, again);
    if (!stays.ok()) {
      EndWithError(block, row, stays.status());
      break;
    }
    ++used_;
    if (*stays && !again) kept.push_back(row);
  }
  KeepRows(block, kept);
  Change(block);
}

}  // namespace headrace
