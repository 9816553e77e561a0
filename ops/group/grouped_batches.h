// `GroupedBatches` joins rows to several batches at once: each row goes to the batch of its group, which is given when
// it is full, and what is left when the epoch ends comes in the order of the groups. No row is ever in a state. Where
// the input can read rows by number, it lists those that are held (listed_rows.h), and these come again alone. Else it
// has the point from which the rows that were held come again, and what was given of the rows after it:
//   - where the number of groups is known, the rows of each group that were given; the point is before the oldest row
//     held;
//   - else the batches that were given; the point is the start of the epoch. So it is if too many rows are held to list
//     them with each batch.
// Threads: as StreamOperator's.
#ifndef HEADRACE_OPS_GROUP_GROUPED_BATCHES_H_
#define HEADRACE_OPS_GROUP_GROUPED_BATCHES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/operator/operator.h"
#include "ops/batch/batch_rows.h"
#include "ops/group/rising_numbers.h"
#include "ops/rows/numbered_rows.h"

namespace headrace {

// Chooses the batch of each row.
class RowGroups {
 public:
  virtual ~RowGroups() = default;
  // The number of the row's group. `number`: of the row; later rows have higher ones.
  virtual absl::StatusOr<uint64_t> GroupOf(const Block& block, int row, uint64_t number) = 0;
  // The rows of a full batch.
  virtual int SizeOf(uint64_t group) const = 0;
  virtual std::unique_ptr<BatchRows> BatchOf(uint64_t group) const = 0;
  // No row of the group is held any more.
  virtual void Emptied(uint64_t /*group*/) {}
};

class GroupedBatches : public StreamOperator {
 public:
  // `known`: groups are numbered up to it; 0: not known. `lists`: as OperatorProperties::lists_rows.
  GroupedBatches(std::unique_ptr<RowGroups> groups, size_t known, bool lists)
      : groups_(std::move(groups)),
        known_(known),
        lists_(lists),
        counts_(known > 0 && !lists),
        skip_(known, 0),
        taken_(known, 0),
        taken_before_(known, 0) {}

  static void SetCounters(size_t known, OperatorProperties& properties) {
    properties.checkpoint_counters = known == 0 ? 2 : static_cast<int>(known) + 1;
    // The batches given, where groups are not known, and the number of rows listed.
    properties.counters_if_listing = known == 0 ? 2 : 1;
  }
  static Cardinality CardinalityOf(const Cardinality& rows) {
    const bool none = rows.known() && rows.rows == 0;
    return none || rows.kind == Cardinality::Kind::kEndless ? rows : Cardinality::Unknown();
  }

  absl::Status CheckCounters(absl::Span<const uint64_t> counters) const override;
  void Start(uint64_t epoch, absl::Span<const uint64_t> counters, const Checkpoint& inputs) override;
  void Receive(int input, Message message, Outbox& out) override;
  // A batch is given before the next one is begun: what makes it may wait until it was received.
  bool has_pending_output() const override { return !rows_.empty(); }
  void Continue(Outbox& out) override;
  void Finish(uint64_t epoch) override;
  size_t held_bytes() const override { return held_bytes_ + rows_.held_bytes(); }

 private:
  struct Held {
    std::unique_ptr<BatchRows> rows;
    ReplayPoint from;                    // before its first row
    std::vector<uint64_t> taken;         // of each group, before that point
    std::vector<uint64_t> numbers = {};  // of its rows, where they are listed
  };
  using HeldGroups = std::map<uint64_t, Held>;

  // Takes one step; false: gave a batch, or needs a message.
  bool Step(Outbox& out);
  bool UseRow(Block& block, Outbox& out);
  // Of the next row, among those of this rank where rows are listed.
  uint64_t NumberOfRow() const;
  void UseTombstone(Block& block, Outbox& out);
  // Whether nothing was given.
  bool EndMessage(Block& block, Outbox& out);
  HeldGroups::iterator Add(uint64_t group, Block& block, int row);
  bool GiveBatch(HeldGroups::iterator held, Outbox& out);
  void Forget(HeldGroups::iterator held);
  // Ends the use of a row; its message may be used up with it.
  void Pass();
  // Where the input may go on at the next row, counts what came before.
  void NotePoint();
  void PassOnRemoved(Block& block, Outbox& out) const;
  void GiveError(absl::Status error, Outbox& out);
  Checkpoint CheckpointNow() const;
  Checkpoint CheckpointListing() const;
  void EndEpoch(uint64_t epoch, Outbox& out);
  void Clear();

  const std::unique_ptr<RowGroups> groups_;
  const size_t known_;
  const bool lists_;
  const bool counts_;  // the rows of each group
  NumberedRows rows_;
  HeldGroups held_;
  std::vector<uint64_t> skip_;          // of each group, rows that come again and were given
  std::vector<uint64_t> taken_;         // of each group, rows that came
  std::vector<uint64_t> taken_before_;  // the same at the point from which the input goes on
  std::vector<uint64_t> awaited_;       // numbers of the rows that come first, as they were held before the restart
  RisingNumbers listed_;                // numbers of the rows held, and of those awaited, rising
  uint64_t number_ = 0;                 // of the next batch, where groups are not known
  uint64_t given_ = 0;                  // batches given before a restart
  size_t held_bytes_ = 0;
  bool failed_ = false;
  bool had_rows_ = false;  // that did not fail, in this epoch
  absl::Status last_failed_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_GROUP_GROUPED_BATCHES_H_
