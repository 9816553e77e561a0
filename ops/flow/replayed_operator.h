// `ReplayedOperator` goes through the rows of an epoch in order, and remembers of them what no state holds: after a
// restart it reads the epoch from its start again, and leaves out the rows that were used before. Use it where what is
// remembered may be anything, and reading again costs less than keeping it with every row.
// Threads: as StreamOperator's.
#ifndef HEADRACE_OPS_FLOW_REPLAYED_OPERATOR_H_
#define HEADRACE_OPS_FLOW_REPLAYED_OPERATOR_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/operator/operator.h"

namespace headrace {

class ReplayedOperator : public StreamOperator {
 public:
  // Its counters: the rows used of the epoch, with its end as one more. A row that cannot be used ends the epoch with
  // an error under every policy, as what follows depends on it.
  static constexpr int kCounters = 1;

  absl::Status CheckCounters(absl::Span<const uint64_t> counters) const override;
  void Start(uint64_t epoch, absl::Span<const uint64_t> counters, const Checkpoint& inputs) override;
  void Receive(int input, Message message, Outbox& out) override;
  void Finish(uint64_t epoch) override;

 protected:
  // Begins an epoch.
  virtual void Forget() = 0;
  // Remembers the next row, and says whether it stays. `again`: it was used before a restart, and is left out.
  virtual absl::StatusOr<bool> Use(Block& block, int row, bool again) = 0;
  // Changes the block once it holds only the rows that stay.
  virtual void Change(Block& /*block*/) {}

 private:
  void UseRows(Block& block);
  void UseTombstone(Block& block);
  void Begin(uint64_t epoch, uint64_t replayed);

  uint64_t epoch_ = 0;
  uint64_t used_ = 0;
  uint64_t replayed_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_FLOW_REPLAYED_OPERATOR_H_
