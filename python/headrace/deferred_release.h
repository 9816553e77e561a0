// Lets go of Python objects from threads that do not hold the GIL: they are put on a list, which is emptied whenever
// somebody who holds the GIL comes by. So a worker never waits for the GIL to free memory, and nothing touches an
// interpreter that is going away.
// Thread contract: ~HeldObject from any thread, and also where there is no memory; it takes no lock, so that a child
// that was forked meanwhile finds none taken. The rest with the GIL held.
#ifndef HEADRACE_PYTHON_HEADRACE_DEFERRED_RELEASE_H_
#define HEADRACE_PYTHON_HEADRACE_DEFERRED_RELEASE_H_

#include <pybind11/pybind11.h>

#include <utility>

namespace headrace::python {

void ReleaseNow();

// One reference that may be dropped on any thread.
class __attribute__((visibility("hidden"))) HeldObject {
 public:
  HeldObject() = default;
  explicit HeldObject(pybind11::object object) : place_(object ? new Place : nullptr) {
    if (place_ != nullptr) place_->object = object.release().ptr();
  }
  HeldObject(HeldObject&& other) noexcept : place_(std::exchange(other.place_, nullptr)) {}
  HeldObject& operator=(HeldObject&& other) noexcept {
    std::swap(place_, other.place_);
    return *this;
  }
  ~HeldObject() {
    if (place_ != nullptr) ReleaseLater(place_);
  }
  pybind11::handle get() const { return place_ == nullptr ? nullptr : place_->object; }
  pybind11::object Take() {
    PyObject* const object = place_ == nullptr ? nullptr : std::exchange(place_->object, nullptr);
    return pybind11::reinterpret_steal<pybind11::object>(object);
  }

 private:
  friend void ReleaseNow();
  // On the list, too: to be put there takes no memory.
  struct Place {
    PyObject* object = nullptr;
    Place* next = nullptr;
  };
  static void ReleaseLater(Place* place);

  Place* place_ = nullptr;
};

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_HEADRACE_DEFERRED_RELEASE_H_
