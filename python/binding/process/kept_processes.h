// `KeptProcesses` keeps the worker processes of runs that have ended for later runs of this program, which spares these
// what a process imports. They end with the program (worker_loop.h), or once more than twice as many as there are cores
// wait. Threads: any thread.
#ifndef HEADRACE_PYTHON_BINDING_PROCESS_KEPT_PROCESSES_H_
#define HEADRACE_PYTHON_BINDING_PROCESS_KEPT_PROCESSES_H_

#include <unistd.h>

#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "python/binding/process/worker_process.h"

namespace headrace::python {

class KeptProcesses {
 public:
  static KeptProcesses& OfProgram();

  // One that was kept under this name and lives; null: there is none.
  std::unique_ptr<WorkerProcess> Take(const std::string& name);
  // `process`: waits for the next exchange, or is about to.
  void Keep(std::string name, std::unique_ptr<WorkerProcess> process);
  void EndAll();

 private:
  struct Kept {
    std::string name;
    std::unique_ptr<WorkerProcess> process;
  };

  // In a fork: the processes belong to the parent.
  bool Forked() const { return getpid() != owner_; }

  const pid_t owner_ = getpid();
  std::mutex mutex_;
  std::list<Kept> kept_;  // the one kept last first
};

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_PROCESS_KEPT_PROCESSES_H_
