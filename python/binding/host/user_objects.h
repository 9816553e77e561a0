// `UserObjects` holds the Python objects of the user that belong to one pipeline: functions, their iterators and
// results, and the exceptions they raised. One container makes them visible to Python's garbage collector, which can
// free a pipeline held by an object that the pipeline itself holds, as with `map(self.augment)` if `self` keeps the
// iterator. It does not hold arrays: NumPy's arrays take no part in garbage collection, and rows in the user's hands
// share them.
// Threads: with the GIL held; may be destroyed on any thread.
#ifndef HEADRACE_PYTHON_BINDING_HOST_USER_OBJECTS_H_
#define HEADRACE_PYTHON_BINDING_HOST_USER_OBJECTS_H_

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "python/binding/host/user_calls.h"
#include "python/binding/values/deferred_release.h"
#include "python/binding/values/status_error.h"

namespace headrace::python {

// Work that the end of a pipeline cuts short rather than waits for.
class EndsEarly {
 public:
  virtual ~EndsEarly() = default;
  // From any thread, without the GIL, any number of times.
  virtual void EndNow() = 0;
};

// The error of a call whose objects were released: "the iterator that calls augment is closed".
absl::Status ObjectsReleased(std::string_view name);

class __attribute__((visibility("hidden"))) UserObjects {
 public:
  void AddEarly(std::weak_ptr<EndsEarly> work) { early_.push_back(std::move(work)); }
  // From any thread, without the GIL: all work has been added before.
  void EndEarly() const {
    for (const auto& work : early_) {
      if (const auto held = work.lock()) held->EndNow();
    }
  }
  // Returns its index. A null object reserves an index.
  size_t Add(pybind11::object object);
  // A new reference, because the object may be released while it is used; null: it was released.
  pybind11::object At(size_t index) const;
  void Set(size_t index, pybind11::object object);
  RaisedExceptions& raised() { return raised_; }
  // As UserCalls'. Also from any thread, without the GIL.
  absl::Status Call(const std::string& name, absl::FunctionRef<absl::Status()> body) {
    return calls_.Call(name, raised_, body);
  }
  const UserCalls& calls() const { return calls_; }
  // As UserCalls'.
  void set_storage(pybind11::object table) { calls_.set_storage(std::move(table)); }

  // As tp_traverse.
  int Traverse(visitproc visit, void* arg) const;
  // Releases all of them, permanently: objects added later are released at once.
  void Clear();

 private:
  std::vector<HeldObject> objects_;
  std::vector<std::weak_ptr<EndsEarly>> early_;
  RaisedExceptions raised_;
  UserCalls calls_;
  bool cleared_ = false;
};

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_HOST_USER_OBJECTS_H_
