// `Session` is a run as a front end drives it, in whatever language: one thread at a time takes rows, a fetched row
// waits until it was given, and closing has a patience. Make one of RunOptionsOf's options and a graph.
// Threads: those that take rows enter and leave in turns (Turn); Stop, Close, SetWorkers, ResetWorkers and everything
// const from any thread.
#ifndef HEADRACE_ENGINE_FRONT_SESSION_H_
#define HEADRACE_ENGINE_FRONT_SESSION_H_

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/device/device_iteration.h"
#include "engine/exec/profiler.h"
#include "ir/list_columns.h"
#include "ir/messages.h"

namespace headrace {

class Session {
 public:
  using Outcome = Pipeline::Outcome;
  using Closed = Pipeline::Closed;

  // Errors: as DeviceIteration::Start; kUnsupported: the batches of the graph hold lists, which the device of the
  // options does not take.
  static absl::StatusOr<std::unique_ptr<Session>> Start(const ir::proto::Graph& graph, IterateOptions options);
  // Of a session that was made before a fork, and destroyed in the child, the threads are not joined: they are in the
  // parent, as is its memory.
  ~Session();
  Session(const Session&) = delete;

  // Makes this thread the one that takes rows, during its life.
  class Turn {
   public:
    explicit Turn(Session& session) : session_(session), status_(session.Enter()) {}
    ~Turn() {
      if (status_.ok()) session_.Leave();
    }
    Turn(const Turn&) = delete;
    // kUnsupported: a thread is in a turn, this one or another.
    const absl::Status& status() const { return status_; }

   private:
    Session& session_;
    const absl::Status status_;
  };

  // Fetches the next row unless one waits or the epoch is at its end, which it is until the next is asked for. Waits as
  // Pipeline::Fetch does. Within a Turn.
  absl::StatusOr<Outcome> Fetch(std::chrono::nanoseconds limit);
  // The row that waits. Whoever takes tensors out of it keeps them for as long as it waits.
  DeviceRow& row() { return row_; }
  // Within a Turn: the row that waits was given to the user, and counts as delivered.
  bool Given();
  // The rest of a fetch was cut off, as by an interrupt: the run ends, and what it would give may not be whole.
  void Fail();
  void Ask(uint64_t epoch);
  // As Iteration's; from any thread.
  absl::StatusOr<uint64_t> AddRange(BatchRange range) { return iteration_->AddRange(range); }
  uint64_t batches() const { return iteration_->batches(); }
  RunIdentity identity() const { return iteration_->identity(); }

  absl::Status SetWorkers(const std::string& op, int workers) { return iteration_->SetWorkers(op, workers); }
  void ResetWorkers() { iteration_->ResetWorkers(); }

  // Tells it to end, without waiting.
  void Stop() { iteration_->Stop(); }
  // As Pipeline's; within the patience it also waits for the thread in a turn to leave.
  Closed Close(std::chrono::nanoseconds patience);
  // The result of the last Close; kFromWithin before.
  Closed closed() const { return closed_; }

  // Made by the process from which this one was forked. Its locks may be held forever.
  bool inherited() const;
  // kUnsupported: it is.
  absl::Status CheckProcess() const;
  // The start of the current turn in nanoseconds, on CLOCK_MONOTONIC; 0: none.
  uint64_t waiting_since_ns() const { return waiting_since_ns_.load(std::memory_order_relaxed); }
  // The run gave an error, and would give it again.
  bool failed() const { return failed_; }
  // Whether tensors are on a device whose memory the host cannot read.
  bool on_device() const { return iteration_->device() != nullptr; }
  uint64_t epoch() const { return iteration_->epoch(); }
  uint64_t delivered() const { return iteration_->delivered(); }
  // Of the run: the options', or the state's where these leave them out.
  uint64_t seed() const { return iteration_->seed(); }
  const std::string& even() const { return iteration_->even(); }
  // All rows of the epoch were given.
  bool at_end() const { return at_end_; }
  // Rows given since the start of the epoch.
  uint64_t given() const { return given_; }
  ir::Schema schema() const { return iteration_->schema(); }
  const std::vector<ir::DeliveredColumn>& columns() const { return columns_; }
  absl::StatusOr<std::string> State() const { return iteration_->State(); }
  bool Outdated() const { return iteration_->Outdated(); }
  std::vector<std::string> DescribeStall() const { return iteration_->DescribeStall(); }
  Report report() const { return iteration_->report(); }
  std::string Explain() const;
  // The trace (Chrome's format) and the page, of a closed session. `joined`: what it gave are batches of rows.
  std::pair<std::string, std::string> Profile(bool joined) const;

 private:
  Session();

  absl::Status Enter();
  void Leave();
  void WaitUntilLeft(std::chrono::steady_clock::time_point until) const;
  uint64_t RowsIn(const std::vector<Tensor>& columns) const;

  const pid_t process_;
  std::unique_ptr<DeviceIteration> iteration_;
  std::vector<ir::DeliveredColumn> columns_;
  int splits_ = -1;  // a column of splits; -1: there is none
  DeviceRow row_;
  bool row_waits_ = false;
  bool at_end_ = false;
  std::atomic<uint64_t> given_{0};
  // The number of rows in the row that waits, if it is a batch; and the sum over those given in all epochs.
  uint64_t joined_ = 0;
  uint64_t all_joined_ = 0;
  std::atomic<Closed> closed_{Closed::kFromWithin};
  std::atomic<std::thread::id> user_{};
  std::atomic<uint64_t> waiting_since_ns_{0};
  std::atomic<bool> failed_{false};
};

// What the run of the graph would be, as text; with `passes`, the graph before and after each pass.
absl::StatusOr<std::string> ExplainRequest(const ir::proto::Graph& graph, IterateOptions options, bool passes);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_FRONT_SESSION_H_
