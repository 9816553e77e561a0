#include "python/binding/values/deferred_release.h"

#include <atomic>

namespace headrace::python {
namespace {

// Buffers may be returned after the interpreter is gone.
std::atomic<void*> released{nullptr};

}  // namespace

void HeldObject::ReleaseLater(Node* node) {
  void* last = released.load(std::memory_order_relaxed);
  do {
    node->next = static_cast<Node*>(last);
  } while (!released.compare_exchange_weak(last, node, std::memory_order_release, std::memory_order_relaxed));
}

void ReleaseNow() {
  if (released.load(std::memory_order_relaxed) == nullptr) return;
  auto* node = static_cast<HeldObject::Node*>(released.exchange(nullptr, std::memory_order_acquire));
  // A destructor may run the user's Python, which may call this function again.
  while (node != nullptr) {
    HeldObject::Node* const next = node->next;
    Py_XDECREF(node->object);
    delete node;
    node = next;
  }
}

}  // namespace headrace::python
