// The worker processes of the functions of one map, or of one object of the user's. They are started when they are
// first needed. A call whose process dies is made again by another one; one that dies without a call is replaced.
// Thread contract: any thread, with or without the GIL.
#ifndef HEADRACE_PYTHON_HEADRACE_PROCESS_POOL_H_
#define HEADRACE_PYTHON_HEADRACE_PROCESS_POOL_H_

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "python/headrace/user_objects.h"
#include "python/headrace/wire.h"
#include "python/headrace/worker_process.h"

namespace headrace::python {

class __attribute__((visibility("hidden"))) ProcessPool : public EndsEarly {
 public:
  // `name`: by which errors name what the processes call. `pool`: a headrace.process_options.Pool, which packs
  // what they run now, and raises what is wrong with it; without `packs` no process can be started.
  ProcessPool(std::string name, const pybind11::object& pool, bool packs, std::shared_ptr<UserObjects> objects);
  ~ProcessPool() override;

  int size() const { return static_cast<int>(processes_.size()); }
  // Has a process make a call: `write` puts it down, `read` takes what it gave, before the process takes another call.
  // Each may be called several times, if processes die. Errors: those of the call; kResource if three processes died of
  // it, or no process starts; kClosed after EndNow.
  absl::Status Call(absl::FunctionRef<void(WireWriter&)> write, absl::FunctionRef<absl::Status(WireReader&)> read);
  // Ends all processes, and with them the calls that wait for them.
  void EndNow() override;

 private:
  // A worker slot; its number tells the processes apart.
  struct Slot {
    std::unique_ptr<WorkerProcess> process;  // null: not started, or dead
    bool taken = false;
  };
  // How a call ended in one process: with a result or an error of its own, by its death, by the death of a process that
  // had not begun with it, or by an error here, behind which the process is of no further use.
  enum class Ended { kAnswered, kDied, kGone, kBroken };

  absl::StatusOr<size_t> TakeSlot();
  void GiveBack(size_t slot);
  // Starts a process there, and waits until it is ready; three times, if it dies.
  absl::Status StartIn(size_t slot);
  absl::Status SpawnIn(size_t slot);
  // One of a new process that is ready. Sets `ended` if it died before.
  absl::Status HearStart(WorkerProcess& process, Ended& ended);
  absl::Status CallIn(size_t slot, absl::FunctionRef<void(WireWriter&)> write,
                      absl::FunctionRef<absl::Status(WireReader&)> read, Ended& ended);
  // Waits for the next result. Sets `ended` if the process died.
  absl::Status Hear(WorkerProcess& process, size_t& bytes, Ended& ended);
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
  std::vector<std::string> command_;
  int code_ = -1;  // what the processes read at their start
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Slot> processes_;
  bool closed_ = false;
};

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_HEADRACE_PROCESS_POOL_H_
