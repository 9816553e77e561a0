// `WorkerProcess` is one process that works for a pipeline, and then perhaps for others: started with exec, controlled
// over a socket and two pieces of shared memory, and terminated with SIGKILL, together with what it has started. It
// ends by itself as soon as this process is gone (worker_loop.h). Threads: one thread at a time, without the GIL; Kill
// from any.
#ifndef HEADRACE_PYTHON_BINDING_PROCESS_WORKER_PROCESS_H_
#define HEADRACE_PYTHON_BINDING_PROCESS_WORKER_PROCESS_H_

#include <signal.h>
#include <sys/types.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/buffer.h"
#include "python/binding/process/exchange.h"
#include "python/binding/process/shared_memory.h"

namespace headrace::python {

// A descriptor that is readable once the process has ended; -1: not supported.
int WatchProcess(pid_t process);

class WorkerProcess {
 public:
  // What is started: an absolute path and its arguments, in a folder.
  struct Command {
    std::string folder;
    std::vector<std::string> arguments;
  };
  // The process finds its end of the socket, the memory of calls, that of results, `code`, and the folder that is
  // current here as descriptors 3 to 7, and nothing on its standard input. kResource if none can be started.
  static absl::StatusOr<std::unique_ptr<WorkerProcess>> Start(const Command& command, int code);
  // Gives it other code to run, once it is done with what it was sent. False: it has ended.
  bool GiveCode(int code);
  // Takes note that it said whether it is ready, which it does once for each code. False: it has been given other code
  // since, and will say so again.
  bool HeardStart() { return --unheard_starts_ == 0; }
  // Whether it still loads the code of an earlier run.
  bool LoadsOlderCode() const { return unheard_starts_ > 1; }
  // Ends the process, and waits until it is gone.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;

  SharedMemory& calls() { return calls_; }
  SharedMemory& results() { return results_; }

  // Whether it has ended, as far as can be known without waiting.
  bool Ended() const;
  // Whether it may have child processes, which would outlive what it was started for.
  bool HasChildren() const;
  enum class Heard { kAnswer, kEnded, kNothing };
  // Tells it that an exchange of so many bytes stands in calls(). False: it has ended.
  bool Send(size_t bytes);
  // Waits for its next answer, and maps results(). kNothing: a signal may have come to this thread, or `wait_ms` are
  // over; -1: they never are.
  absl::StatusOr<Heard> Receive(int wait_ms, Answered& answer);
  // Charges what it shares to the account of the running task.
  void ChargeMemory();
  // Of the memory that both share, whoever has made it.
  int64_t SharedBytes() const { return calls_.HeldBytes() + results_.HeldBytes(); }
  // Takes what was charged back, as the run has ended.
  void LeaveTask();
  // Makes it end, now, with all processes of its group. Receive then says so.
  void Kill();
  // Waits for the end of a process that has ended or will soon, kills what is left of its group, and says how it ended:
  // "was killed by signal 9 (Killed)".
  std::string Reap();
  pid_t pid() const { return pid_; }

 private:
  WorkerProcess(int socket, int calls, int results) : socket_(socket), calls_(calls), results_(results) {}

  void KillGroup() const;
  // As waitid; false: it is no child of this process any more.
  bool Wait(int options, siginfo_t& state) const;

  const int socket_;
  SharedMemory calls_;
  SharedMemory results_;
  pid_t pid_ = -1;
  int watch_ = -1;
  std::mutex mutex_;
  int unheard_starts_ = 1;
  bool gone_ = false;  // reaped: its number may belong to another process
  MemoryAccount* account_ = nullptr;
  int64_t charged_ = 0;
};

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_PROCESS_WORKER_PROCESS_H_
