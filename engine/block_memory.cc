#include "engine/block_memory.h"

#include <mutex>
#include <new>
#include <vector>

#include "engine/brief_lock.h"

namespace headrace {
namespace {

constexpr size_t kExchanged = 32;   // at once, between a thread and the others
constexpr size_t kMostKept = 1024;  // by all threads together, besides their own

struct Shared {
  std::mutex mutex;
  std::vector<void*> kept;
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
    for (void* memory : kept_) ::operator delete(memory);
  }
  void* Take() {
    if (kept_.empty()) Refill();
    if (kept_.empty()) return nullptr;
    void* memory = kept_.back();
    kept_.pop_back();
    return memory;
  }
  void Give(void* memory) {
    kept_.push_back(memory);
    if (kept_.size() >= 2 * kExchanged) Spill();
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
    while (!shared.kept.empty() && kept_.size() < kExchanged) {
      kept_.push_back(shared.kept.back());
      shared.kept.pop_back();
    }
  }
  void Spill() {
    Shared& shared = SharedMemory();
    const auto lock = BriefLock(shared.mutex);
    for (; kept_.size() > kExchanged; kept_.pop_back()) {
      if (shared.kept.size() < kMostKept) {
        shared.kept.push_back(kept_.back());
      } else {
        ::operator delete(kept_.back());
      }
    }
  }

  std::vector<void*> kept_;
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
