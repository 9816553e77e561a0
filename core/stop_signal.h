// Lets long work on one row end early when nobody wants its result any more: a pipeline that is closed while a large
// picture is decoded. The engine sets one around each task; a kernel asks between pieces of its work.
// Thread contract: made, asked and destroyed by one thread; the flag may be set by any.
#ifndef HEADRACE_CORE_STOP_SIGNAL_H_
#define HEADRACE_CORE_STOP_SIGNAL_H_

#include <atomic>

#include "absl/status/status.h"

namespace headrace {

class StopSignal {
 public:
  // `stop` outlives the signal.
  explicit StopSignal(const std::atomic<bool>* stop);
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;

  // Whether the work that this thread does should end; false outside of a task.
  static bool Raised();
  // What work that ended for it returns, of kind kClosed. Nobody sees it: the pipeline is closed.
  static absl::Status Error();

 private:
  const std::atomic<bool>* const outer_;
};

}  // namespace headrace

#endif  // HEADRACE_CORE_STOP_SIGNAL_H_
