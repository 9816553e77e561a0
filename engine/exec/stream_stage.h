// `StreamStage` applies stream operators: one task at a time, one message after the other.
// Threads: as Stage's.
#ifndef HEADRACE_ENGINE_EXEC_STREAM_STAGE_H_
#define HEADRACE_ENGINE_EXEC_STREAM_STAGE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/exec/stage.h"

namespace headrace {

class StreamStage : public Stage {
 public:
  StreamStage(const PlannedStage& plan, RunControl* control, Parts parts);

 protected:
  BlockedReason BlockedLocked() override;
  BlockedReason ClaimLocked(Task& task, int most) override;
  int ClaimableLocked(int most) override;
  int64_t ExpectedBytesLocked() const override;
  // A task takes slots for its output while it runs.
  int most_claimed() const override { return std::numeric_limits<int>::max(); }
  void RunTask(Task& task) override;
  void DropOperators() override;

 private:
  class ElementOutbox;
  void Feed(size_t element, int input, Message message);
  void FeedOutput(size_t element, ElementOutbox& out);
  int WantedInput() const;
  BlockedReason InputBlocked(int input);
  bool Receive(int wanted, int most);
  bool Step(Task& task, int most);
  void Flush(Task& task);
  int ReadyCount() const { return static_cast<int>(ready_.size() - ready_pushed_); }
  int ReceivedCount() const { return static_cast<int>(received_.size() - received_used_); }
  int OwingElement() const;
  void FinishBelow(size_t element, int input, uint64_t epoch);
  void TakeFinish();
  size_t held_bytes() const;
  void CheckHeld();

  std::vector<Message> received_;  // popped in one run, to be handled one by one
  size_t received_used_ = 0;
  std::vector<Message> ready_;  // given out by the last element, not yet pushed
  size_t ready_pushed_ = 0;
  std::vector<uint64_t> wants_from_;  // for each element and input: the first epoch it wants, in the input's count
  std::vector<uint64_t> fed_epochs_;  // for each element: that of the message it was given last
  uint64_t finish_seen_ = 0;          // the value of wanted_from_ that was handled last
  bool over_budget_ = false;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_STREAM_STAGE_H_
