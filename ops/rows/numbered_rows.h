// `NumberedRows` holds the rows that come to an operator which keeps some of them back: one at a time, numbered from
// the start of the epoch, or from where the input went on after a restart. It knows from where the input must go on so
// that a row comes again, and which rows came before the restart.
// Threads: one thread.
#ifndef HEADRACE_OPS_ROWS_NUMBERED_ROWS_H_
#define HEADRACE_OPS_ROWS_NUMBERED_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

#include "engine/operator/block.h"
#include "engine/operator/operator.h"

namespace headrace {

// Where the input of an operator goes on.
struct ReplayPoint {
  Checkpoint before;
  uint64_t first = 0;  // the number of the first row after it
};

class NumberedRows {
 public:
  // `replayed`: the rows that come again, with the end of the epoch as one more.
  void Start(uint64_t epoch, const Checkpoint& inputs, uint64_t replayed) {
    waiting_.clear();
    held_bytes_ = 0;
    row_ = 0;
    begun_ = ended_ = false;
    epoch_ = epoch;
    next_ = 0;
    replayed_ = replayed;
    point_.before = inputs;
    point_.first = 0;
  }

  void Push(Message message) {
    const size_t bytes = message->footprint();
    held_bytes_ += bytes;
    waiting_.push_back({std::move(message), bytes});
  }
  bool empty() const { return waiting_.empty(); }
  size_t held_bytes() const { return held_bytes_; }
  uint64_t epoch() const { return epoch_; }

  // The message being used; null: the next one has not come. What it notes as removed was not noted before.
  Block* Current() {
    while (!waiting_.empty() && !begun_ && front().epoch < epoch_) Pop();
    if (waiting_.empty()) return nullptr;
    Block& block = front();
    if (begun_) return &block;
    begun_ = true;
    epoch_ = block.epoch;
    if (block.rows() == 0) UseUp(block);
    if (replaying()) block.removed.reset();
    return &block;
  }
  // In the current message.
  int row() const { return row_; }
  bool HasRow() const { return row_ < front().rows(); }
  // The number of its next row.
  uint64_t next() const { return next_; }
  const ReplayPoint& point() const { return point_; }
  // Takes the row for used.
  void Pass() {
    ++row_;
    ++next_;
    if (!HasRow()) UseUp(front());
  }
  // Takes the message for used.
  void Pop() {
    held_bytes_ -= waiting_.front().bytes;
    waiting_.pop_front();
    row_ = 0;
    begun_ = false;
  }
  // Leaves of the epochs up to this one only their ends.
  void Finish(uint64_t epoch) {
    for (Waiting& each : waiting_) {
      if (each.message->epoch <= epoch) each.message->Drop();
    }
    row_ = 0;
    replayed_ = 0;
  }
  // Takes the current message, which ends the epoch, for used.
  void EndEpoch() {
    Pop();
    ++epoch_;
    next_ = replayed_ = 0;
    ended_ = false;
    point_.before.assign(point_.before.size(), 0);
    point_.first = 0;
  }

  // Whether what comes next was used before the restart.
  bool replaying() const { return next_ < replayed_; }
  // No more comes again.
  void EndReplay() { replayed_ = next_; }
  // Where it comes from a source by number: the rows of this rank before the next one.
  uint64_t position() const { return point_.before[0] + next_ - point_.first; }
  // Whether the mark of the epoch's end came.
  bool ended() const { return ended_; }
  // What comes again after a restart at this point.
  uint64_t Since(const ReplayPoint& point) const { return next_ - point.first + (ended_ ? 1 : 0); }

 private:
  struct Waiting {
    Message message;
    size_t bytes;
  };

  Block& front() { return *waiting_.front().message; }
  const Block& front() const { return *waiting_.front().message; }

  void UseUp(const Block& block) {
    ended_ = block.end == End::kEpoch;
    if (block.continues || block.end == End::kError) return;
    point_.before = block.checkpoint;
    point_.first = next_;
  }

  std::deque<Waiting> waiting_;
  size_t held_bytes_ = 0;
  int row_ = 0;  // of the first message that waits
  bool begun_ = false;
  bool ended_ = false;  // no row of the epoch is left
  uint64_t epoch_ = 0;
  uint64_t next_ = 0;
  uint64_t replayed_ = 0;
  ReplayPoint point_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_ROWS_NUMBERED_ROWS_H_
