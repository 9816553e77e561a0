#include "engine/operator/row_array.h"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <new>

#include "core/brief_lock.h"
#include "core/fork_watch.h"

namespace headrace {
namespace {

// Memory is reused from 4 KiB to 128 KiB, in powers of two; at most about 8 MiB of it lie unused.
constexpr size_t kLeastBits = 12;
constexpr size_t kClasses = 6;
constexpr size_t kRowArrayMostKept = 32;  // in each class

struct Kept {
  std::mutex mutex;
  std::array<void*, kRowArrayMostKept> slots;
  size_t size = 0;
};

// Lives as long as the process, for threads that end late.
std::array<Kept, kClasses>& KeptMemory() {
  static auto* const kept = new std::array<Kept, kClasses>;
  return *kept;
}

#if defined(HEADRACE_SANITIZER) && !defined(__SANITIZE_THREAD__)
// Lets AddressSanitizer see every use of memory that was given back.
size_t ClassOf(size_t /*bytes*/) { return kClasses; }
#else
// kClasses: it is not kept. Locks that another thread held during a fork stay locked in the child.
size_t ClassOf(size_t bytes) {
  if (LostInFork()) return kClasses;
  if (bytes < size_t{1} << (kLeastBits - 1)) return kClasses;
  const auto bits = static_cast<size_t>(std::bit_width(bytes - 1));
  return bits < kLeastBits ? 0 : std::min(bits - kLeastBits, kClasses);
}
#endif

}  // namespace

void* TakeRowMemory(size_t bytes) {
  const size_t size_class = ClassOf(bytes);
  if (size_class == kClasses) return ::operator new(bytes);
  Kept& kept = KeptMemory()[size_class];
  {
    const auto lock = BriefLock(kept.mutex);
    if (kept.size > 0) return kept.slots[--kept.size];
  }
  return ::operator new(size_t{1} << (kLeastBits + size_class));
}

void GiveRowMemory(void* memory, size_t bytes) noexcept {
  const size_t size_class = ClassOf(bytes);
  if (size_class < kClasses) {
    Kept& kept = KeptMemory()[size_class];
    const auto lock = BriefLock(kept.mutex);
    if (kept.size < kRowArrayMostKept) {
      kept.slots[kept.size++] = memory;
      return;
    }
  }
  ::operator delete(memory);
}

}  // namespace headrace
