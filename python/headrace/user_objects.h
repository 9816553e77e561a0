// The user's Python objects that one pipeline holds: functions, what they gave and go through, and what they raised.
// They stand in one place so that Python's garbage collector sees them: it frees a pipeline that is held by an object
// that the pipeline itself holds, as with `map(self.augment)` where `self` keeps the iterator.
// Arrays are not among them: NumPy's take no part in garbage collection, and rows in the user's hands share them.
// Thread contract: with the GIL held; may be destroyed on any thread.
#ifndef HEADRACE_PYTHON_HEADRACE_USER_OBJECTS_H_
#define HEADRACE_PYTHON_HEADRACE_USER_OBJECTS_H_

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "python/headrace/deferred_release.h"
#include "python/headrace/status_error.h"
#include "python/headrace/user_calls.h"

namespace headrace::python {

class __attribute__((visibility("hidden"))) UserObjects {
 public:
  // Returns where it stands from now on. A null object keeps the place.
  size_t Add(pybind11::object object);
  // A reference of the caller's own, as the object may be let go of while it is used; null: there is none any more.
  pybind11::object At(size_t place) const;
  void Set(size_t place, pybind11::object object);
  RaisedExceptions& raised() { return raised_; }
  // As UserCalls'. This one from any thread, without the GIL, too.
  absl::Status Call(const std::string& name, absl::FunctionRef<absl::Status()> body) {
    return calls_.Call(name, raised_, body);
  }
  const UserCalls& calls() const { return calls_; }

  // As tp_traverse.
  int Traverse(visitproc visit, void* arg) const;
  // Lets go of all of them, for good: what is added later is let go of at once.
  void Clear();

 private:
  std::vector<HeldObject> objects_;
  RaisedExceptions raised_;
  UserCalls calls_;
  bool cleared_ = false;
};

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_HEADRACE_USER_OBJECTS_H_
