// `RaiseIfError` converts a Status to the Python exception of its kind, with its fields as attributes.
// Threads: with the GIL held; RaisedExceptions may be destroyed on any thread.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_STATUS_ERROR_H_
#define HEADRACE_PYTHON_BINDING_VALUES_STATUS_ERROR_H_

#include <pybind11/pybind11.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "core/error.h"
#include "python/binding/values/deferred_release.h"
#include "python/binding/values/python_text.h"

namespace headrace::python {

// The exceptions of user functions in one pipeline, until an error that carries the handle reaches the user.
// Tracebacks keep frames alive, and frames all objects of user functions and loops, so nothing is kept longer.
class __attribute__((visibility("hidden"))) RaisedExceptions {
 public:
  // Handles are numbers from `first` on, where they must differ from those of others.
  explicit RaisedExceptions(uint64_t first = 0) : next_(first) {}
  // Returns a FunctionError, or for a MemoryError a ResourceError, that names the exception and carries its handle.
  absl::Status Keep(pybind11::error_already_set& raised, std::string_view function);
  // Keeps an exception, and returns its handle.
  std::string Hold(pybind11::object exception);
  // Returns the exception and forgets it; None if it is not kept.
  pybind11::object Take(const std::string& handle);
  // From now on only the latest are kept. By default few: rows that fail are skipped, and their exceptions are not
  // asked for.
  void KeepLatest(size_t most = kLatest) {
    most_ = most;
    latest_ = true;
  }
  // As tp_traverse.
  int Traverse(visitproc visit, void* arg) const;
  void Clear();

 private:
  // Enough for every row in progress when a pipeline fails.
  static constexpr size_t kMost = 1000;
  static constexpr size_t kLatest = 32;
  size_t most_ = kMost;
  bool latest_ = false;
  std::map<std::string, HeldObject> exceptions_;
  uint64_t next_;
};

// Those of registered file systems, which belong to no pipeline: the latest few. Every error finds its cause there,
// too.
RaisedExceptions& ExceptionsOfFiles();

[[noreturn]] void Raise(const absl::Status& status, RaisedExceptions* raised = nullptr);

inline void RaiseIfError(const absl::Status& status, RaisedExceptions* raised = nullptr) {
  if (!status.ok()) Raise(status, raised);
}

template <typename T>
T ValueOrRaise(absl::StatusOr<T> value, RaisedExceptions* raised = nullptr) {
  if (!value.ok()) Raise(value.status(), raised);
  return *std::move(value);
}

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_STATUS_ERROR_H_
