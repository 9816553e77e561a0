// Lets go of Python objects from threads that do not hold the GIL: they are put on a list, which is emptied whenever
// somebody who holds the GIL comes by. So a worker never waits for the GIL to free memory, and nothing touches an
// interpreter that is going away.
// Thread contract: ReleaseLater and ~HeldObject from any thread; ReleaseNow, get and Take with the GIL held.
#ifndef HEADRACE_PYTHON_DEFERRED_RELEASE_H_
#define HEADRACE_PYTHON_DEFERRED_RELEASE_H_

#include <pybind11/pybind11.h>

#include <utility>

namespace headrace::python {

// Takes over one reference.
void ReleaseLater(PyObject* object);
void ReleaseNow();

// One reference that may be dropped on any thread.
class __attribute__((visibility("hidden"))) HeldObject {
 public:
  HeldObject() = default;
  explicit HeldObject(pybind11::object object) : object_(object.release().ptr()) {}
  HeldObject(HeldObject&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  HeldObject& operator=(HeldObject&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~HeldObject() {
    if (object_ != nullptr) ReleaseLater(object_);
  }
  pybind11::handle get() const { return object_; }
  pybind11::object Take() { return pybind11::reinterpret_steal<pybind11::object>(std::exchange(object_, nullptr)); }

 private:
  PyObject* object_ = nullptr;
};

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_DEFERRED_RELEASE_H_
