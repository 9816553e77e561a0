#include "engine/exec/stream_stage.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace headrace {

// Collects the output of one element for one message, and passes its requests on.
class StreamStage::ElementOutbox : public Outbox {
 public:
  ElementOutbox(StreamStage* stage, size_t element) : stage_(stage), element_(element) {}
  void Give(Message message) override { given_.push_back(std::move(message)); }
  void FinishEpoch(int input, uint64_t epoch) override { stage_->FinishBelow(element_, input, epoch); }
  absl::InlinedVector<Message, 2> Take() { return std::move(given_); }

 private:
  StreamStage* stage_;
  size_t element_;
  absl::InlinedVector<Message, 2> given_;
};

StreamStage::StreamStage(const PlannedStage& plan, RunControl* control, Parts parts)
    : Stage(plan, control, std::move(parts)),
      wants_from_(elements_.size() * std::max<size_t>(1, inputs_.size()), 0),
      fed_epochs_(elements_.size(), 0) {}

size_t StreamStage::held_bytes() const {
  size_t bytes = 0;
  for (const Element& element : elements_) {
    if (element.stream) bytes += element.stream->held_bytes();
  }
  return bytes;
}

int64_t StreamStage::ExpectedBytesLocked() const {
  int64_t bytes = 0;
  for (const Element& element : elements_) {
    const std::optional<int64_t> expected = element.stream ? element.stream->expected_bytes() : std::nullopt;
    if (!expected.has_value()) return task_bytes();
    bytes += *expected;
  }
  return std::min(bytes, task_bytes());
}

void StreamStage::DropOperators() {
  received_.clear();
  ready_.clear();
  Stage::DropOperators();
}

int StreamStage::OwingElement() const {
  for (size_t i = elements_.size(); i-- > 0;) {
    if (elements_[i].stream && elements_[i].stream->has_pending_output()) return static_cast<int>(i);
  }
  return -1;
}

// The input from which its first operator needs a message next.
int StreamStage::WantedInput() const { return elements_[0].stream ? elements_[0].stream->wants() : 0; }

BlockedReason StreamStage::BlockedLocked() {
  if (running_ > 0) return BlockedReason::kTurn;
  if (output_.FreeSlots() == 0) return BlockedReason::kOutput;
  if (ReadyCount() > 0 || ReceivedCount() > 0 || OwingElement() >= 0) return BlockedReason::kNone;
  return InputBlocked(WantedInput());
}

// Why no message of that input can be received.
BlockedReason StreamStage::InputBlocked(int input) {
  MessageConnector& queue = inputs_[input]->output();
  if (!plan_.gated) return queue.Ready() ? BlockedReason::kNone : BlockedReason::kInput;
  uint64_t epoch = 0;
  if (!queue.Peek([&epoch](const Message& message) { epoch = message->epoch; })) return BlockedReason::kInput;
  return Gated(epoch) ? BlockedReason::kTurn : BlockedReason::kNone;
}

BlockedReason StreamStage::ClaimLocked(Task& task, int most) {
  task.count = most;
  return BlockedReason::kNone;
}

int StreamStage::ClaimableLocked(int most) {
  if (ReadyCount() > 0 || OwingElement() >= 0) return most;
  return ReceivedCount() + inputs_[WantedInput()]->output().ReadyRun(most);
}

// Input `input` of `element` is not wanted up to `epoch` any more: passes this on to what is below.
void StreamStage::FinishBelow(size_t element, int input, uint64_t epoch) {
  uint64_t& from = wants_from_[element * inputs_.size() + static_cast<size_t>(input)];
  from = std::max(from, epoch + 1);
  if (element == 0) {
    inputs_[input]->FinishEpoch(epoch);
    return;
  }
  const Element& below = elements_[element - 1];
  if (!below.stream) {
    FinishBelow(element - 1, 0, epoch);
    return;
  }
  below.stream->Finish(epoch);
  const int inputs = element == 1 ? static_cast<int>(inputs_.size()) : 1;
  for (int i = 0; i < inputs; ++i) FinishBelow(element - 1, i, below.plan->properties.epochs.LastInput(epoch));
}

// Handles what downstream has finished since the last step.
void StreamStage::TakeFinish() {
  const uint64_t wanted_from = wanted_from_.load(std::memory_order_acquire);
  if (wanted_from == finish_seen_) return;
  finish_seen_ = wanted_from;
  const Element& last = elements_.back();
  uint64_t epoch = wanted_from - 1;
  if (last.stream) {
    last.stream->Finish(epoch);
    epoch = last.plan->properties.epochs.LastInput(epoch);
  }
  const int inputs = elements_.size() == 1 ? static_cast<int>(inputs_.size()) : 1;
  for (int i = 0; i < inputs; ++i) FinishBelow(elements_.size() - 1, i, epoch);
}

// Gives a message to an element, and its output to the elements above, one message at a time.
void StreamStage::Feed(size_t element, int input, Message message) {
  if (element == elements_.size()) {
    ready_.push_back(std::move(message));
    return;
  }
  if (message->epoch < wants_from_[element * inputs_.size() + static_cast<size_t>(input)]) {
    message->Drop();
  }
  const Element& target = elements_[element];
  fed_epochs_[element] = message->epoch;
  if (!target.stream) {
    Message rest = ApplyElement(target, *message);
    Feed(element + 1, 0, std::move(message));
    while (rest) {
      Message next = std::move(rest->rest);
      Feed(element, 0, std::move(rest));
      rest = std::move(next);
    }
    return;
  }
  // An error of an operator below that is not skipped there stays one.
  message->failed.reset();
  ElementOutbox out(this, element);
  target.stream->Receive(input, std::move(message), out);
  FeedOutput(element, out);
}

// Gives the output of an element to the one above.
void StreamStage::FeedOutput(size_t element, ElementOutbox& out) {
  for (Message& given : out.Take()) {
    if (given->end == End::kError) {
      AddOperator(given->error, *elements_[element].plan);
      // A row of its own that failed, as it says.
      if (SkipsFailed(*elements_[element].plan, *given)) given = given->TakeTombstone(/*more=*/false);
    }
    Feed(element + 1, 0, std::move(given));
  }
}

// Pushes ready messages as far as there are slots.
void StreamStage::Flush(Task& task) {
  while (ReadyCount() > 0) {
    int taken = 0;
    const std::optional<uint64_t> number = output_.TryTake(ReadyCount(), taken);
    if (!number.has_value()) return;
    task.first = *number;
    for (; taken > 0; --taken) {
      Message& message = ready_[ready_pushed_++];
      const auto bytes = static_cast<int64_t>(message->footprint());
      task.outputs.emplace_back(std::move(message), bytes);
    }
    Deliver(task);
  }
  ready_.clear();
  ready_pushed_ = 0;
}

// Pops up to `most` messages of the input under one lock; only one if there are several inputs, because another one may
// be wanted next; and none after an epoch's end where the user's code may not be allowed to run for the next epoch
// yet.
bool StreamStage::Receive(int wanted, int most) {
  if (ReceivedCount() > 0) return true;
  if (plan_.gated && InputBlocked(wanted) != BlockedReason::kNone) return false;
  received_.clear();
  received_used_ = 0;
  bool was_full = false;
  const auto last = [this](const Message& message) { return plan_.gated && message->end == End::kEpoch; };
  inputs_[wanted]->output().TryPopRun(inputs_.size() == 1 ? most : 1, received_, was_full, last);
  if (was_full) SignalInput(wanted);
  return !received_.empty();
}

bool StreamStage::Step(Task& task, int most) {
  TakeFinish();
  if (const int owing = OwingElement(); owing >= 0) {
    ElementOutbox out(this, static_cast<size_t>(owing));
    elements_[owing].stream->Continue(out);
    FeedOutput(static_cast<size_t>(owing), out);
    return true;
  }
  const int wanted = WantedInput();
  if (!Receive(wanted, most)) return false;
  Message message = std::move(received_[received_used_++]);
  task.rows += static_cast<uint64_t>(message->rows());
  Feed(0, wanted, std::move(message));
  CheckHeld();
  return true;
}

void StreamStage::CheckHeld() {
  if (control_->budget() == RunControl::kNoBudget || over_budget_) return;
  const int64_t held = static_cast<int64_t>(held_bytes());
  if (held > control_->budget() / 4) control_->MakeRoom(held);
  if (held <= control_->budget()) return;
  over_budget_ = true;
  const auto bytes = [](const Element& element) { return element.stream ? element.stream->held_bytes() : 0; };
  const auto most = std::max_element(elements_.begin(), elements_.end(),
                                     [&bytes](const Element& a, const Element& b) { return bytes(a) < bytes(b); });
  const bool batches = most->plan->properties.traits.joins_rows;
  absl::Status error = ResourceError(
      most->plan->name, " holds ", bytes(*most), " bytes, more than the memory budget of ", control_->budget(),
      " bytes: give iterate(memory=…) more, or make its ", batches ? "batches" : "window", " smaller");
  AddOperator(error, *most->plan);
  const size_t number = static_cast<size_t>(most - elements_.begin());
  Feed(number + 1, 0, MakeErrorMessage(fed_epochs_[number], {}, std::move(error)));
}

void StreamStage::RunTask(Task& task) {
  Flush(task);
  // No other task takes slots, so there are no fewer later.
  int slots = output_.FreeSlots();
  int steps = 0;
  while (steps < task.count && ReadyCount() < slots && !control_->closed() && Step(task, task.count - steps)) {
    ++steps;
    if (!plan_.gated || ReadyCount() == 0) continue;
    // A user function may wait until its results so far have reached the user.
    Flush(task);
    slots = output_.FreeSlots();
  }
  Flush(task);
  task.count = std::max(1, steps);
}

}  // namespace headrace
