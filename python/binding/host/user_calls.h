// `UserCalls` calls the user's Python for the engine: every failure of a call is an error value, and the calls that
// have not returned are known by name.
// Threads: Call from any thread, with or without the GIL; Running with it.
#ifndef HEADRACE_PYTHON_BINDING_HOST_USER_CALLS_H_
#define HEADRACE_PYTHON_BINDING_HOST_USER_CALLS_H_

#include <pybind11/pybind11.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "engine/operator/host.h"
#include "python/binding/values/deferred_release.h"
#include "python/binding/values/status_error.h"

namespace headrace::python {

// Holds the GIL on this thread, so that calls in between neither take nor release it. Null: the thread has no memory
// for it, as the calls will say.
std::unique_ptr<HostLock> HoldGil();

// The calls of one pipeline.
class __attribute__((visibility("hidden"))) UserCalls {
 public:
  // Runs `body` under the GIL. Its exception is kept in `raised`, as a kFunction error, or kResource for a MemoryError;
  // C++ exceptions are kResource or kInternal. A child process forked in `body` on an engine thread ends here, as after
  // a program's main thread, because no other thread of the engine exists in it.
  absl::Status Call(const std::string& name, RaisedExceptions& raised, absl::FunctionRef<absl::Status()> body);
  // The settings of far stores that functions of the user find in their context, as the loop's thread had them; null:
  // none. Before the first call.
  void set_storage(pybind11::object table) { storage_ = HeldObject(std::move(table)); }
  // Calls that have not returned: "augment (for 1.2 s)".
  std::vector<std::string> Running() const;

 private:
  using Clock = std::chrono::steady_clock;
  // On the stack of the calling thread; linked under the GIL.
  class Entry;

  absl::Status Caught(const std::string& name, RaisedExceptions& raised, absl::FunctionRef<absl::Status()> body);

  Entry* latest_ = nullptr;
  HeldObject storage_;
};

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_HOST_USER_CALLS_H_
