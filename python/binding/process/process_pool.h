// `ProcessPool` holds the worker processes of the functions of one map, or of one user object. All are started when one
// is first needed, or taken from those that earlier runs have left (kept_processes.h), and left to later runs at the
// end. A process is sent one call, or many light ones in one exchange. A call whose process dies is made again by
// another one; one that dies without a call is replaced. Threads: any thread, with or without the GIL.
#ifndef HEADRACE_PYTHON_BINDING_PROCESS_PROCESS_POOL_H_
#define HEADRACE_PYTHON_BINDING_PROCESS_PROCESS_POOL_H_

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "python/binding/host/user_objects.h"
#include "python/binding/process/wire.h"
#include "python/binding/process/worker_process.h"

namespace headrace::python {

// Calls that processes make one after the other. Used by the thread that has them made.
class ProcessCalls {
 public:
  virtual ~ProcessCalls() = default;
  virtual size_t count() const = 0;
  // Puts a call down. Several times, if processes die.
  virtual void Write(size_t call, WireWriter& writer) = 0;
  // Takes what a call gave, once for each call and in order. Errors: those of the call; kResource if three processes
  // died of it, or no process starts; kClosed after EndNow. `reader`: stands at what the process gave, also with an
  // error of the call; null: it gave nothing.
  virtual void Take(size_t call, absl::Status error, WireReader* reader) = 0;
  // The calls before `end` have been taken; the next ones may take long.
  virtual void Taken(size_t end) = 0;
};

class __attribute__((visibility("hidden"))) ProcessPool : public EndsEarly {
 public:
  // `name`: by which errors name what the processes call. `pool`: a headrace._workers.process_options.Pool, whose code
  // is packed now, which raises what is wrong with it; without `packs` no process can be started.
  ProcessPool(std::string name, const pybind11::object& pool, bool packs, std::shared_ptr<UserObjects> objects);
  ~ProcessPool() override;

  int size() const { return static_cast<int>(processes_.size()); }
  // Has processes make the calls, as many in one exchange as are made within about two milliseconds.
  void Make(ProcessCalls& calls);
  // Ends all calls, and the processes whose calls do not end within a short time.
  void EndNow() override;

 private:
  // A worker slot; its number tells the processes apart.
  struct Slot {
    std::unique_ptr<WorkerProcess> process;  // null: not started, or dead
    bool ready = false;                      // for calls; else it may still load the code
    bool taken = false;
    bool killed = false;
    bool kept = false;  // of an earlier run
  };
  // How an exchange ended: with an answer, by the death of the process, by that of one that had not begun with it, by
  // the end of this pool while the process loads the code, or by an error here, after which the process is of no
  // further use.
  enum class Ended { kAnswered, kDied, kGone, kUnwanted, kBroken };
  // How far the calls have come, and what became of the next one.
  struct Progress {
    ProcessCalls& calls;
    size_t next = 0;  // to make
    size_t most;      // in the next exchange
    int deaths = 0;   // of the next call
    std::string told = {};

    void Give(absl::Status error, WireReader* reader);
  };

  // Closes the pool, and leaves the processes that make no call.
  void LeaveUntaken();
  absl::StatusOr<size_t> TakeSlot();
  void GiveBack(size_t slot);
  // Starts a process there if there is none, and waits until it is ready; three times, if it dies.
  absl::Status StartIn(size_t slot, Ended& ended);
  absl::Status SpawnIn(size_t slot);
  // Starts those of the other slots, at the first call, without waiting for them: they load the code side by side.
  void SpawnOthers();
  // The name under which the process of a slot is kept.
  std::string KeptName(size_t slot) const;
  // Leaves a process that makes no call to later runs, or waits until it is gone: without the lock, for which others
  // would wait as long.
  void Leave(size_t slot, std::unique_ptr<WorkerProcess> process);
  // One of a new process that is ready. Sets `ended` if it died before, or is not wanted any more.
  absl::Status HearStart(WorkerProcess& process, Ended& ended);
  // Makes the next calls there.
  absl::Status ExchangeIn(size_t slot, Progress& progress, Ended& ended);
  // Puts down the next calls, at least one, and returns how many.
  static absl::StatusOr<size_t> WriteCalls(WorkerProcess& process, const Progress& progress, size_t& bytes);
  // Waits for the answer, and takes all results, or those that are there if the process died, which sets `ended`.
  absl::Status HearResults(WorkerProcess& process, size_t sent, Progress& progress, Ended& ended);
  // Waits for the answer, but no longer than `wait_ms` if that is not -1. Sets `ended` if the process died.
  absl::Status Hear(WorkerProcess& process, int wait_ms, WorkerProcess::Heard& heard, Answered& answer);
  // Takes the results of the calls before `end`; the next one stands at byte `at` of `bytes`.
  absl::Status TakeResults(WorkerProcess& process, size_t bytes, size_t end, size_t& at, Progress& progress);
  // Counts a death of the next call.
  void NoteDeath(const std::string& how, Progress& progress);
  // The error that a process gave, with the exception that it met.
  absl::Status ErrorOf(WireReader& reader);
  // Removes the exited process and returns its exit status.
  std::string Reap(size_t slot);
  void Warn(const std::string& death);
  // kClosed if nobody waits for the result of a call.
  absl::Status StillWanted();

  const std::string name_;
  const std::shared_ptr<UserObjects> objects_;
  const pid_t owner_ = getpid();
  WorkerProcess::Command command_;
  int code_ = -1;     // what the processes read at their start
  std::string kind_;  // processes of one kind may run each other's code
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Slot> processes_;
  bool spawned_ = false;
  bool closed_ = false;
};

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_PROCESS_PROCESS_POOL_H_
