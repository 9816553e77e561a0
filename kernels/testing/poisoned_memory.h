// `PoisonedMemory` fills memory with a byte before it is given out, so that a result which depends on it shows. Use it
// in tests: two runs under different bytes give the same, or something was read that nobody wrote.
// Threads: the one on which it lives, and one object at a time.
#ifndef HEADRACE_KERNELS_TESTING_POISONED_MEMORY_H_
#define HEADRACE_KERNELS_TESTING_POISONED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "core/buffer.h"

namespace headrace::fixture {

class PoisonedMemory {
 public:
  // Of the buffers of this thread, and where the C library can, of what libraries allocate.
  explicit PoisonedMemory(uint8_t byte) : allocator_(byte), pool_(&allocator_), memory_(&pool_, account_.opened, 0) {
#ifdef __GLIBC__
    mallopt(M_PERTURB, byte);
#endif
  }
  PoisonedMemory(const PoisonedMemory&) = delete;
  ~PoisonedMemory() {
    pool_.Trim(0);
#ifdef __GLIBC__
    mallopt(M_PERTURB, 0);
#endif
  }

 private:
  class Poisoner : public Allocator {
   public:
    explicit Poisoner(uint8_t byte) : byte_(byte) {}
    void* Allocate(size_t bytes) override {
      void* const memory = SystemAllocator()->Allocate(bytes);
      return memory == nullptr ? nullptr : std::memset(memory, byte_, bytes);
    }
    void Free(void* memory, size_t bytes) override { SystemAllocator()->Free(memory, bytes); }

   private:
    const uint8_t byte_;
  };

  struct Account {
    ~Account() { opened->Close(); }
    MemoryAccount* const opened = MemoryAccount::Open();
  };

  Poisoner allocator_;
  BufferPool pool_;
  Account account_;
  TaskMemory memory_;
};

}  // namespace headrace::fixture

#endif  // HEADRACE_KERNELS_TESTING_POISONED_MEMORY_H_
