// How the engine calls the user's Python: whatever becomes of a call is an error value, and who has not returned is
// known by name.
// Thread contract: Call from any thread, with the GIL or without; Running with it.
#ifndef HEADRACE_PYTHON_HEADRACE_USER_CALLS_H_
#define HEADRACE_PYTHON_HEADRACE_USER_CALLS_H_

#include <pybind11/pybind11.h>

#include <chrono>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "python/headrace/status_error.h"

namespace headrace::python {

// Of one pipeline.
class __attribute__((visibility("hidden"))) UserCalls {
 public:
  // Runs `body` under the GIL. What it raises is kept in `raised`, as a kFunction error, or kResource for a
  // MemoryError; C++'s own exceptions are kResource or kInternal. A child process that was forked in `body` on a thread
  // of the engine's ends here, as a program's main thread would: it is all that there is of the engine.
  absl::Status Call(const std::string& name, RaisedExceptions& raised, absl::FunctionRef<absl::Status()> body);
  // Calls that have not returned: "augment (for 1.2 s)".
  std::vector<std::string> Running() const;

 private:
  using Clock = std::chrono::steady_clock;
  // Stands on the stack of the thread that calls; linked under the GIL.
  class Entry;

  absl::Status Caught(const std::string& name, RaisedExceptions& raised, absl::FunctionRef<absl::Status()> body);

  Entry* latest_ = nullptr;
};

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_HEADRACE_USER_CALLS_H_
