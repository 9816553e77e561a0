#include "engine/operator/block_memory.h"

#include <array>
#include <cstddef>
#include <mutex>
#include <new>

#include "core/brief_lock.h"

namespace headrace {
namespace {

constexpr size_t kExchanged = 32;              // at once, between a thread and the others
constexpr size_t kBlockMemoryMostKept = 1024;  // by all threads together, besides their own

// A stack that needs no memory of its own, for it is filled where blocks are destroyed.
template <size_t kMost>
struct Stack {
  std::array<void*, kMost> slots;
  size_t size = 0;

  bool empty() const { return size == 0; }
  bool full() const { return size == kMost; }
  void Push(void* memory) { slots[size++] = memory; }
  void* Pop() { return slots[--size]; }
};

struct Shared {
  std::mutex mutex;
  Stack<kBlockMemoryMostKept> kept;
};

// Lives as long as the process, for threads that end late give back to it.
Shared& SharedMemory() {
  static auto* const shared = new Shared;
  return *shared;
}

class LocalMemory {
 public:
  ~LocalMemory() {
    ended_ = true;
    while (!kept_.empty()) ::operator delete(kept_.Pop());
  }
  void* Take() {
    if (kept_.empty()) Refill();
    return kept_.empty() ? nullptr : kept_.Pop();
  }
  void Give(void* memory) {
    kept_.Push(memory);
    if (kept_.full()) Spill();
  }
  // Null: the thread is ending, and its own are gone.
  static LocalMemory* Get() {
    if (ended_) return nullptr;
    thread_local LocalMemory memory;
    return &memory;
  }

 private:
  void Refill() {
    Shared& shared = SharedMemory();
    const auto lock = BriefLock(shared.mutex);
    while (!shared.kept.empty() && kept_.size < kExchanged) kept_.Push(shared.kept.Pop());
  }
  void Spill() {
    Shared& shared = SharedMemory();
    const auto lock = BriefLock(shared.mutex);
    while (kept_.size > kExchanged) {
      if (shared.kept.full()) {
        ::operator delete(kept_.Pop());
      } else {
        shared.kept.Push(kept_.Pop());
      }
    }
  }

  Stack<2 * kExchanged> kept_;
  static thread_local bool ended_;
};
thread_local bool LocalMemory::ended_ = false;

}  // namespace

#ifdef HEADRACE_SANITIZER
// Lets the sanitizer see every use of a block that is gone.
void* TakeBlockMemory(size_t bytes) { return ::operator new(bytes); }
void GiveBlockMemory(void* memory) { ::operator delete(memory); }
#else
void* TakeBlockMemory(size_t bytes) {
  LocalMemory* const local = LocalMemory::Get();
  void* const memory = local != nullptr ? local->Take() : nullptr;
  return memory != nullptr ? memory : ::operator new(bytes);
}
void GiveBlockMemory(void* memory) {
  if (LocalMemory* const local = LocalMemory::Get()) {
    local->Give(memory);
  } else {
    ::operator delete(memory);
  }
}
#endif

}  // namespace headrace
