#include "python/headrace/deferred_release.h"

#include <atomic>

namespace headrace::python {
namespace {

// Buffers may come back after the interpreter is gone.
std::atomic<void*> released{nullptr};

}  // namespace

void HeldObject::ReleaseLater(Place* place) {
  void* last = released.load(std::memory_order_relaxed);
  do {
    place->next = static_cast<Place*>(last);
  } while (!released.compare_exchange_weak(last, place, std::memory_order_release, std::memory_order_relaxed));
}

void ReleaseNow() {
  if (released.load(std::memory_order_relaxed) == nullptr) return;
  auto* place = static_cast<HeldObject::Place*>(released.exchange(nullptr, std::memory_order_acquire));
  // A destructor may be the user's own Python, and may come back here.
  while (place != nullptr) {
    HeldObject::Place* const next = place->next;
    Py_XDECREF(place->object);
    delete place;
    place = next;
  }
}

}  // namespace headrace::python
