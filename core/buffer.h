// `Buffer` is a reference-counted, 64-byte-aligned block of bytes. It comes from a BufferPool over a replaceable
// Allocator, and is charged to the MemoryAccount of the pipeline whose task made it, until it is freed or handed to the
// user.
// Threads: any thread, except that a TaskMemory belongs to one thread. Freeing a buffer needs no lock of Python's and
// may happen after the pipeline is gone.
#ifndef HEADRACE_CORE_BUFFER_H_
#define HEADRACE_CORE_BUFFER_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace headrace {

inline constexpr size_t kBufferAlignment = 64;

// The source of memory for pools. Must be thread-safe.
class Allocator {
 public:
  virtual ~Allocator() = default;
  // At least `bytes`, aligned to kBufferAlignment; nullptr if there is no memory.
  virtual void* Allocate(size_t bytes) = 0;
  virtual void Free(void* memory, size_t bytes) = 0;
};

// The C library for small blocks, mmap for large ones (so that they are returned to the system).
Allocator* SystemAllocator();

// The bytes that one pipeline holds. Outlives its pipeline while a buffer is charged to it.
class MemoryAccount {
 public:
  static constexpr int64_t kNoBudget = std::numeric_limits<int64_t>::max();

  // An account deletes itself once Close() was called and nothing is charged any more.
  static MemoryAccount* Open(int64_t budget = kNoBudget) { return new MemoryAccount(budget); }
  void Close();

  // What the pipeline is to stay within; the account itself enforces nothing.
  int64_t budget() const { return budget_; }
  int64_t held() const { return held_.load(std::memory_order_relaxed); }
  int64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  void Charge(int64_t bytes);
  // Charges only if the sum stays within `limit`.
  bool TryCharge(int64_t bytes, int64_t limit);

 private:
  void Owe(int64_t bytes, int64_t held);
  explicit MemoryAccount(int64_t budget) : budget_(budget) {}
  ~MemoryAccount() = default;
  // Owed while the account is open, so that the last release after Close() deletes it.
  static constexpr int64_t kOpen = int64_t{1} << 60;
  const int64_t budget_;
  std::atomic<int64_t> owed_{kOpen};
  std::atomic<int64_t> held_{0};
  std::atomic<int64_t> peak_{0};
};

class BufferPool;
class BufferRef;

class Buffer {
 public:
  uint8_t* data() const { return data_; }
  size_t capacity() const { return capacity_; }
  // Bytes between the parts of a group may belong to other buffers.
  bool is_group() const { return parts_ != nullptr; }
  // Takes the buffer off its account: from now on the user owns it.
  void HandOver();

 private:
  friend class BufferPool;
  friend class BufferRef;
  friend class LocalBufferCache;
  void Unref();

  std::atomic<uint32_t> references_{1};
  uint32_t size_class_ = 0;
  uint8_t* data_ = nullptr;
  size_t capacity_ = 0;
  std::atomic<MemoryAccount*> account_{nullptr};
  BufferPool* pool_ = nullptr;                // null: foreign memory
  std::function<void()>* release_ = nullptr;  // for foreign memory; null: it is borrowed
  std::vector<BufferRef>* parts_ = nullptr;   // of a group
};

class BufferRef {
 public:
  BufferRef() = default;
  BufferRef(const BufferRef& other) : buffer_(other.buffer_) {
    if (buffer_ != nullptr) buffer_->references_.fetch_add(1, std::memory_order_relaxed);
  }
  BufferRef(BufferRef&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  BufferRef& operator=(BufferRef other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~BufferRef() {
    if (buffer_ != nullptr) buffer_->Unref();
  }
  // Takes over the caller's reference.
  static BufferRef Adopt(Buffer* buffer) {
    BufferRef ref;
    ref.buffer_ = buffer;
    return ref;
  }
  // Foreign memory; `release` runs when the last reference goes, on any thread.
  static BufferRef Foreign(void* data, size_t bytes, std::function<void()> release);
  // Memory that the caller keeps until the last reference goes, and that no account is charged for: a view of bytes, or
  // a slot to write into. Null if there is no memory for the reference itself.
  static BufferRef Borrowed(const void* data, size_t bytes);
  // Several buffers, at least one, that are handed over and freed as one: `data` is where the first of them in memory
  // begins, the capacity is that of all. A part that a pipeline still uses leaves its account with the group. Null if
  // there is no memory for the reference itself.
  static BufferRef Group(std::vector<BufferRef> parts);

  Buffer* get() const { return buffer_; }
  Buffer* operator->() const { return buffer_; }
  explicit operator bool() const { return buffer_ != nullptr; }
  bool unique() const { return buffer_ != nullptr && buffer_->references_.load(std::memory_order_acquire) == 1; }

 private:
  Buffer* buffer_ = nullptr;
};

// Keeps freed buffers by size class for reuse, up to a limit: the rest of the open budgets.
class BufferPool {
 public:
  explicit BufferPool(Allocator* allocator) : allocator_(allocator) {}
  BufferPool(const BufferPool&) = delete;

  static BufferPool& Global();
  // The pool of the running task, or else the global one.
  static BufferPool& Current();

  // Null when the allocator has no memory. Contents are not initialised.
  BufferRef Allocate(size_t bytes);

  // Open pipelines lend the pool their budgets; it keeps freed memory within the part they do not use.
  void AddBudget(int64_t bytes);
  void RemoveBudget(int64_t bytes);
  // Frees kept memory until at most `bytes` are kept.
  void Trim(int64_t bytes);

  int64_t outstanding_bytes() const { return outstanding_.load(std::memory_order_relaxed); }
  int64_t kept_bytes() const { return kept_.load(std::memory_order_relaxed); }

 private:
  friend class Buffer;
  friend class LocalBufferCache;
  static constexpr int kClasses = 160;
  struct Bin {
    std::mutex mutex;
    std::vector<Buffer*> buffers;
  };

  static int ClassOf(size_t bytes);
  static size_t ClassBytes(int size_class);
  Buffer* TakeKept(int size_class);
  Buffer* Make(int size_class);
  void Recycle(Buffer* buffer);
  // Buffers of one class.
  void KeepOrFree(absl::Span<Buffer* const> buffers);
  void Destroy(Buffer* buffer);
  int64_t KeepLimit() const;

  Allocator* allocator_;
  std::array<Bin, kClasses> bins_;
  std::atomic<int64_t> outstanding_{0};
  std::atomic<int64_t> kept_{0};
  std::atomic<int64_t> budget_{0};
};

// During its life on a thread, buffers made and freed there are charged to `account` as one sum, on top of a
// reservation made beforehand: one atomic operation per task instead of one per buffer.
class TaskMemory {
 public:
  TaskMemory(BufferPool* pool, MemoryAccount* account, int64_t reserved);
  ~TaskMemory();
  TaskMemory(const TaskMemory&) = delete;

  static TaskMemory* Current();
  // The budget of the pipeline whose task runs here; kNoBudget outside of tasks.
  static int64_t Budget();
  BufferPool* pool() const { return pool_; }
  MemoryAccount* account() const { return account_; }
  // The most bytes of buffers made here that were alive at once.
  int64_t peak() const { return peak_; }
  void Add(int64_t bytes) {
    live_ += bytes;
    peak_ = std::max(peak_, live_);
    // Charges what exceeds the reservation at once, because other threads read the account.
    if (live_ > charged_) {
      account_->Charge(live_ - charged_);
      charged_ = live_;
    }
  }

 private:
  BufferPool* pool_;
  MemoryAccount* account_;
  int64_t live_ = 0;
  int64_t charged_;
  int64_t peak_ = 0;
  TaskMemory* outer_;
};

}  // namespace headrace

#endif  // HEADRACE_CORE_BUFFER_H_
