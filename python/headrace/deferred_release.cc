#include "python/headrace/deferred_release.h"

#include <atomic>
#include <mutex>
#include <vector>

namespace headrace::python {
namespace {

struct Released {
  std::atomic<bool> any{false};
  std::mutex mutex;
  std::vector<PyObject*> objects;
};

// Never destroyed: buffers may come back after the interpreter is gone.
Released& TheReleased() {
  static auto* const released = new Released;
  return *released;
}

}  // namespace

void ReleaseLater(PyObject* object) {
  Released& released = TheReleased();
  std::lock_guard<std::mutex> lock(released.mutex);
  released.objects.push_back(object);
  released.any.store(true, std::memory_order_release);
}

void ReleaseNow() {
  Released& released = TheReleased();
  if (!released.any.load(std::memory_order_acquire)) return;
  std::vector<PyObject*> objects;
  {
    std::lock_guard<std::mutex> lock(released.mutex);
    objects.swap(released.objects);
    released.any.store(false, std::memory_order_relaxed);
  }
  // Outside the lock: a destructor may be the user's own Python, and may come back here.
  for (PyObject* object : objects) Py_DECREF(object);
}

}  // namespace headrace::python
