// `ReleaseLater` releases Python objects from threads that do not hold the GIL: it appends them to a list, which the
// next thread with the GIL empties. So a worker never waits for the GIL to free memory, and nothing touches an
// interpreter that is shutting down.
// Threads: ~HeldObject from any thread, even without free memory; it takes no lock, so that a child forked meanwhile
// finds none taken. Everything else with the GIL held.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_DEFERRED_RELEASE_H_
#define HEADRACE_PYTHON_BINDING_VALUES_DEFERRED_RELEASE_H_

#include <pybind11/pybind11.h>

#include <utility>

namespace headrace::python {

void ReleaseNow();

// One reference that may be released on any thread.
class __attribute__((visibility("hidden"))) HeldObject {
 public:
  HeldObject() = default;
  explicit HeldObject(pybind11::object object) : node_(object ? new Node : nullptr) {
    if (node_ != nullptr) node_->object = object.release().ptr();
  }
  HeldObject(HeldObject&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  HeldObject& operator=(HeldObject&& other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~HeldObject() {
    if (node_ != nullptr) ReleaseLater(node_);
  }
  pybind11::handle get() const { return node_ == nullptr ? nullptr : node_->object; }
  pybind11::object Take() {
    PyObject* const object = node_ == nullptr ? nullptr : std::exchange(node_->object, nullptr);
    return pybind11::reinterpret_steal<pybind11::object>(object);
  }

 private:
  friend void ReleaseNow();
  // Also the list's node, so that appending needs no memory.
  struct Node {
    PyObject* object = nullptr;
    Node* next = nullptr;
  };
  static void ReleaseLater(Node* node);

  Node* node_ = nullptr;
};

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_DEFERRED_RELEASE_H_
