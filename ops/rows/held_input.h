// `HeldInput` is an input of a stream operator that takes rows of several inputs at its own pace: it holds the current
// message, and the position of the next row in it. It keeps what a checkpoint needs: the checkpoint of the input before
// the message, and the rows used since, which come again after a restart and are left out.
// Threads: on the thread that runs the operator.
#ifndef HEADRACE_OPS_ROWS_HELD_INPUT_H_
#define HEADRACE_OPS_ROWS_HELD_INPUT_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "engine/operator/block.h"

namespace headrace {

class HeldInput {
 public:
  void Start(uint64_t used) { used_ = skip_ = used; }

  // Only while it is empty.
  void Hold(Message message) {
    width_ = message->checkpoint.size();
    bytes_ = message->footprint();
    // Before a row that was used before the restart, they were counted then.
    if (skip_ > 0) message->removed.reset();
    message->TakeRemovedOf(removed_);
    removed_.TakeRemovedOf(*message);
    const uint64_t skipped = std::min(skip_, static_cast<uint64_t>(message->rows()));
    skip_ -= skipped;
    row_ = static_cast<int>(skipped);
    held_ = std::move(message);
    LetGoIfUsedUp();
  }

  // Unless it is empty, the front is a row, an error or the end of the epoch.
  bool empty() const { return held_ == nullptr; }
  int rows() const { return held_->rows() - row_; }
  bool at_end() const { return held_ && rows() == 0 && held_->end == End::kEpoch; }
  bool at_error() const { return held_ && rows() == 0 && held_->end == End::kError; }
  Block& block() const { return *held_; }
  int row() const { return row_; }
  // Rows that were removed before the front (Block::removed).
  bool has_removed() const { return removed_.removed != nullptr; }
  // Puts them after those that `target` has.
  void GiveRemoved(Block& target) {
    removed_.TakeRemovedOf(target);
    target.TakeRemovedOf(removed_);
  }
  size_t bytes() const { return held_ == nullptr ? 0 : bytes_; }

  void UseRows(int rows) {
    row_ += rows;
    used_ += static_cast<uint64_t>(rows);
    LetGoIfUsedUp();
  }
  // For a message of which no row was used: returns its rows, as they came, without a terminator.
  Message TakeAllRows() {
    auto rest = std::make_unique<Block>();
    rest->epoch = held_->epoch;
    rest->checkpoint = held_->checkpoint;
    rest->continues = held_->continues;
    rest->end = std::exchange(held_->end, End::kNone);
    if (rest->end == End::kError) rest->error = std::exchange(held_->error, absl::OkStatus());
    Message rows = std::exchange(held_, std::move(rest));
    bytes_ = 0;
    used_ += static_cast<uint64_t>(rows->rows());
    LetGoIfUsedUp();
    return rows;
  }
  absl::Status TakeError() {
    absl::Status error = std::move(held_->error);
    held_->end = End::kNone;
    LetGoIfUsedUp();
    return error;
  }
  // Drops what is held of epochs up to `epoch`, except the end-of-epoch marker.
  void DropRows(uint64_t epoch) {
    if (held_ && held_->epoch > epoch) return;
    removed_.removed.reset();
    if (!held_) return;
    row_ = held_->rows();
    if (held_->end == End::kError) held_->end = End::kNone;
    LetGoIfUsedUp();
  }
  // True if the end-of-epoch marker of `epoch` was already held.
  bool StartNext(uint64_t epoch) {
    const bool marked = held_ && held_->end == End::kEpoch && held_->epoch >= epoch;
    held_.reset();
    removed_.removed.reset();
    moved_ = false;
    used_ = skip_ = 0;
    return marked;
  }

  // Appends the input's checkpoint; `start` is the one it started from.
  void AppendCheckpoint(Checkpoint::const_iterator start, Checkpoint& checkpoint) const {
    if (moved_) start = before_.begin();
    checkpoint.insert(checkpoint.end(), start, start + static_cast<std::ptrdiff_t>(*width_));
  }
  // Counters in its checkpoint; nullopt: not known before its first message.
  std::optional<size_t> width() const { return width_; }
  uint64_t used() const { return used_; }

 private:
  void LetGoIfUsedUp() {
    if (rows() > 0 || held_->end != End::kNone) return;
    // Removal notes before the front are replayed after a restart until emitted.
    if (!held_->continues && !has_removed()) {
      before_ = std::move(held_->checkpoint);
      moved_ = true;
      used_ = skip_;
    }
    held_.reset();
  }

  Message held_;
  Block removed_;      // without rows; holds what was removed before the front
  int row_ = 0;        // the next row of the current message
  size_t bytes_ = 0;   // of the current message as it came
  Checkpoint before_;  // the checkpoint before the current message, once one was used up
  bool moved_ = false;
  uint64_t used_ = 0;  // rows used since
  uint64_t skip_ = 0;  // rows used before a restart that will come again
  std::optional<size_t> width_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_ROWS_HELD_INPUT_H_
