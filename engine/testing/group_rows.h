// `GroupRows` is an operator for tests that sends rows on in messages of several.
#ifndef HEADRACE_ENGINE_TESTING_GROUP_ROWS_H_
#define HEADRACE_ENGINE_TESTING_GROUP_ROWS_H_

#include <utility>

#include "engine/operator/operator.h"

namespace headrace {

// Joins messages until one has at least `rows` rows, or a terminator.
class GroupRows : public StreamOperator {
 public:
  explicit GroupRows(int rows) : rows_(rows) {}

  void Start(uint64_t, absl::Span<const uint64_t>, const Checkpoint&) override {}
  void Receive(int, Message message, Outbox& out) override {
    // What is said of rows that failed is not joined.
    if (message->tombstone() || message->removed != nullptr || message->continues) {
      if (held_) out.Give(std::move(held_));
      out.Give(std::move(message));
      return;
    }
    const bool full = held_ && message->rows() > 0 && held_->epoch != message->epoch;
    if (full) out.Give(std::move(held_));
    if (held_) {
      Join(*message);
    } else {
      held_ = std::move(message);
    }
    if (held_->end != End::kNone || held_->rows() >= rows_) out.Give(std::move(held_));
  }
  void Finish(uint64_t epoch) override {
    if (held_ && held_->epoch <= epoch) held_->DropRows();
  }

 private:
  // Joins rows and the terminator into one message.
  void Join(Block& block) {
    if (held_->columns.empty()) held_->columns.resize(block.columns.size());
    for (int row = 0; row < block.rows(); ++row) {
      held_->ids.push_back(block.ids[row]);
      held_->provenances.Append(block.provenances, static_cast<size_t>(row));
      for (size_t i = 0; i < block.columns.size(); ++i) held_->columns[i].Append(block.columns[i].TakeRow(row));
    }
    held_->epoch = block.epoch;
    held_->checkpoint = block.checkpoint;
    held_->end = block.end;
    held_->error = block.error;
  }

  const int rows_;
  Message held_;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_TESTING_GROUP_ROWS_H_
