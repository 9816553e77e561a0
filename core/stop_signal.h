// `StopSignal` ends long work whose result is no longer needed, as when a pipeline is closed while a large image is
// decoded, or on Ctrl-C. The engine sets a signal around each task; whatever may take longer than a second checks it
// between pieces of its work.
// Threads: made, checked and destroyed by one thread; the flag may be set by any.
#ifndef HEADRACE_CORE_STOP_SIGNAL_H_
#define HEADRACE_CORE_STOP_SIGNAL_H_

#include <atomic>

#include "absl/status/status.h"

namespace headrace {

class StopSignal {
 public:
  // `stop` must outlive the signal.
  explicit StopSignal(const std::atomic<bool>* stop);
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;

  // Whether the work of this thread should end: the task's signal is set, or the thread's Interrupt was wanted.
  static bool Raised();
  // The result of work that ended early, of kind kClosed. It is never shown: the pipeline is closed, or the exception
  // that interrupted the work is raised.
  static absl::Status Error();

 private:
  const std::atomic<bool>* const outer_;
};

}  // namespace headrace

#endif  // HEADRACE_CORE_STOP_SIGNAL_H_
