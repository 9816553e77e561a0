#include "core/buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>

#include "core/fork_watch.h"

namespace headrace {
namespace {

constexpr size_t kMapFrom = size_t{1} << 20;  // blocks this large are mapped
// Blocks this large take a few large pages each instead of thousands of small ones, whose first use costs more than a
// kernel's work on them.
constexpr size_t kLargePagesFrom = size_t{4} << 20;
// Kept for reuse beyond open budgets: a batch that the user frees, or an eager kernel's result, gives its memory to the
// next one, even while pipelines hold the rest. The C library keeps as much.
constexpr int64_t kKeepBeyond = int64_t{32} << 20;
constexpr size_t kHeader = 64;
constexpr int kLocalClasses = 5;  // up to 1 KiB: kept by each thread
constexpr size_t kLocalBuffers = 64;
static_assert(sizeof(Buffer) <= kHeader);

class SystemMemory : public Allocator {
 public:
  void* Allocate(size_t bytes) override {
    if (bytes < kMapFrom) return std::aligned_alloc(kBufferAlignment, bytes);
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    if (bytes >= kLargePagesFrom) madvise(memory, bytes, MADV_HUGEPAGE);  // where the system has them
    return memory;
  }
  void Free(void* memory, size_t bytes) override {
    if (bytes < kMapFrom) {
      std::free(memory);
    } else {
      munmap(memory, bytes);
    }
  }
};

thread_local TaskMemory* current_task = nullptr;

// Holds the buffers given to users: they belong to no pipeline, and do not reduce what pools keep for pipelines.
MemoryAccount* UsersAccount() {
  static MemoryAccount* const account = MemoryAccount::Open();
  return account;
}

// Charges the pipeline of the running task; null: there is none.
MemoryAccount* ChargeToTask(int64_t bytes) {
  TaskMemory* const task = current_task;
  if (task == nullptr || task->account() == nullptr) return nullptr;
  task->Add(bytes);
  return task->account();
}

// Releases through the running task, which sums up, if the account is the task's.
void TakeOff(MemoryAccount* account, int64_t bytes) {
  if (account == nullptr) return;
  TaskMemory* const task = current_task;
  if (task != nullptr && task->account() == account) {
    task->Add(-bytes);
  } else {
    account->Charge(-bytes);
  }
}

}  // namespace

Allocator* SystemAllocator() {
  static SystemMemory* const memory = new SystemMemory;
  return memory;
}

void MemoryAccount::Charge(int64_t bytes) { Owe(bytes, held_.fetch_add(bytes, std::memory_order_relaxed) + bytes); }

bool MemoryAccount::TryCharge(int64_t bytes, int64_t limit) {
  int64_t held = held_.load(std::memory_order_relaxed);
  do {
    if (held + bytes > limit) return false;
  } while (!held_.compare_exchange_weak(held, held + bytes, std::memory_order_relaxed));
  Owe(bytes, held + bytes);
  return true;
}

void MemoryAccount::Owe(int64_t bytes, int64_t held) {
  int64_t peak = peak_.load(std::memory_order_relaxed);
  while (held > peak && !peak_.compare_exchange_weak(peak, held, std::memory_order_relaxed)) {
  }
  if (owed_.fetch_add(bytes, std::memory_order_acq_rel) + bytes == 0) delete this;
}

void MemoryAccount::Close() {
  if (owed_.fetch_sub(kOpen, std::memory_order_acq_rel) == kOpen) delete this;
}

void Buffer::HandOver() {
  if (parts_ != nullptr) {
    for (const BufferRef& part : *parts_) part->HandOver();
    return;
  }
  const bool pooled = pool_ != nullptr && static_cast<int>(size_class_) >= kLocalClasses;
  MemoryAccount* const user = pooled ? UsersAccount() : nullptr;
  MemoryAccount* account = account_.load(std::memory_order_acquire);
  do {
    if (account == nullptr || account == user) return;
  } while (!account_.compare_exchange_weak(account, user, std::memory_order_acq_rel));
  const auto charge = static_cast<int64_t>(capacity_ + kHeader);
  if (user != nullptr) user->Charge(charge);
  account->Charge(-charge);
}

void Buffer::Unref() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (pool_ != nullptr) {
    pool_->Recycle(this);
    return;
  }
  TakeOff(account_.exchange(nullptr, std::memory_order_relaxed), static_cast<int64_t>(capacity_ + kHeader));
  std::function<void()>* release = release_;
  delete parts_;
  this->~Buffer();
  std::free(this);
  if (release == nullptr) return;
  (*release)();
  delete release;
}

BufferRef BufferRef::Borrowed(const void* data, size_t bytes) {
  void* memory = std::aligned_alloc(kBufferAlignment, kHeader);
  if (memory == nullptr) return BufferRef();
  Buffer* buffer = new (memory) Buffer;
  buffer->data_ = static_cast<uint8_t*>(const_cast<void*>(data));
  buffer->capacity_ = bytes;
  return Adopt(buffer);
}

BufferRef BufferRef::Group(std::vector<BufferRef> parts) {
  const auto first = std::min_element(parts.begin(), parts.end(), [](const BufferRef& a, const BufferRef& b) {
    return std::less<>()(a->data(), b->data());
  });
  BufferRef group = Borrowed((*first)->data(), 0);
  if (!group) return group;
  for (const BufferRef& part : parts) group->capacity_ += part->capacity();
  group->parts_ = new std::vector<BufferRef>(std::move(parts));
  return group;
}

// Memory handed to a task is charged to its pipeline as if it were allocated there. If the number of bytes is 0, the
// caller charges them.
BufferRef BufferRef::Foreign(void* data, size_t bytes, std::function<void()> release) {
  auto kept = std::make_unique<std::function<void()>>(std::move(release));
  void* memory = std::aligned_alloc(kBufferAlignment, kHeader);
  if (memory == nullptr) throw std::bad_alloc();
  Buffer* buffer = new (memory) Buffer;
  buffer->data_ = static_cast<uint8_t*>(data);
  buffer->capacity_ = bytes;
  buffer->release_ = kept.release();
  if (bytes > 0) buffer->account_.store(ChargeToTask(static_cast<int64_t>(bytes + kHeader)), std::memory_order_relaxed);
  return Adopt(buffer);
}

// A thread's own few buffers of the small classes of the global pool. Half of an overfull class goes to the shared
// bins, so that memory made by one thread and freed by another is reused.
class LocalBufferCache {
 public:
  ~LocalBufferCache() {
    for (auto& buffers : classes_) Spill(buffers, 0);
    dead_ = true;
  }
  Buffer* Take(int size_class) {
    auto& buffers = classes_[size_class];
    if (buffers.empty()) Refill(size_class);
    if (buffers.empty()) return nullptr;
    Buffer* buffer = buffers.back();
    buffers.pop_back();
    return buffer;
  }
  void Give(Buffer* buffer) {
    auto& buffers = classes_[buffer->size_class_];
    try {
      buffers.push_back(buffer);
    } catch (const std::bad_alloc&) {
      BufferPool::Global().Destroy(buffer);
      return;
    }
    if (buffers.size() > kLocalBuffers) Spill(buffers, kLocalBuffers / 2);
  }
  static LocalBufferCache* Get() {
    if (dead_) return nullptr;
    thread_local LocalBufferCache cache;
    return &cache;
  }

 private:
  void Refill(int size_class) {
    BufferPool& pool = BufferPool::Global();
    auto& bin = pool.bins_[size_class];
    classes_[size_class].reserve(kLocalBuffers);
    std::lock_guard<std::mutex> lock(bin.mutex);
    while (!bin.buffers.empty() && classes_[size_class].size() < kLocalBuffers / 2) {
      Buffer* buffer = bin.buffers.back();
      bin.buffers.pop_back();
      pool.kept_.fetch_sub(static_cast<int64_t>(buffer->capacity_), std::memory_order_relaxed);
      classes_[size_class].push_back(buffer);
    }
  }
  static void Spill(std::vector<Buffer*>& buffers, size_t keep) {
    if (buffers.size() <= keep) return;
    BufferPool::Global().KeepOrFree(absl::MakeSpan(buffers).subspan(keep));
    buffers.resize(keep);
  }
  std::array<std::vector<Buffer*>, kLocalClasses> classes_;
  static thread_local bool dead_;
};
thread_local bool LocalBufferCache::dead_ = false;

BufferPool& BufferPool::Global() {
  static BufferPool* const pool = new BufferPool(SystemAllocator());
  return *pool;
}

BufferPool& BufferPool::Current() {
  TaskMemory* task = TaskMemory::Current();
  return task != nullptr ? *task->pool() : Global();
}

// Four classes for each doubling from 1 KiB on (at most a quarter is wasted), one for each power of two below.
int BufferPool::ClassOf(size_t bytes) {
  if (bytes <= 1024) return bytes <= 64 ? 0 : std::bit_width(bytes - 1) - 6;
  const int doubling = std::bit_width(bytes - 1) - 1;  // 2^doubling < bytes ≤ 2^(doubling + 1)
  const size_t step = size_t{1} << (doubling - 2);
  const int quarter = static_cast<int>((bytes - 1 - (size_t{1} << doubling)) / step);
  return 5 + (doubling - 10) * 4 + quarter;
}

size_t BufferPool::ClassBytes(int size_class) {
  if (size_class < 5) return size_t{64} << size_class;
  const int doubling = (size_class - 5) / 4 + 10;
  const size_t quarter = (size_class - 5) % 4 + 1;
  return (size_t{1} << doubling) + quarter * (size_t{1} << (doubling - 2));
}

BufferRef BufferPool::Allocate(size_t bytes) {
  if (bytes > (size_t{1} << 46)) return BufferRef();
  const int size_class = ClassOf(bytes);
  Buffer* buffer = nullptr;
  if (size_class < kLocalClasses && this == &Global()) {
    LocalBufferCache* cache = LocalBufferCache::Get();
    if (cache != nullptr) buffer = cache->Take(size_class);
  } else {
    buffer = TakeKept(size_class);
  }
  if (buffer == nullptr) buffer = Make(size_class);
  if (buffer == nullptr) return BufferRef();
  buffer->account_.store(ChargeToTask(static_cast<int64_t>(buffer->capacity_ + kHeader)), std::memory_order_relaxed);
  return BufferRef::Adopt(buffer);
}

Buffer* BufferPool::TakeKept(int size_class) {
  Bin& bin = bins_[size_class];
  std::lock_guard<std::mutex> lock(bin.mutex);
  if (bin.buffers.empty()) return nullptr;
  Buffer* buffer = bin.buffers.back();
  bin.buffers.pop_back();
  kept_.fetch_sub(static_cast<int64_t>(buffer->capacity_), std::memory_order_relaxed);
  outstanding_.fetch_add(static_cast<int64_t>(buffer->capacity_), std::memory_order_relaxed);
  return buffer;
}

Buffer* BufferPool::Make(int size_class) {
  const size_t capacity = ClassBytes(size_class);
  // Frees kept memory first, so that it does not add to the memory needed now.
  if (capacity >= kMapFrom && kept_bytes() > 0)
    Trim(std::max<int64_t>(0, KeepLimit() - static_cast<int64_t>(capacity)));
  void* memory = allocator_->Allocate(capacity + kHeader);
  if (memory == nullptr) {
    Trim(0);
    memory = allocator_->Allocate(capacity + kHeader);
    if (memory == nullptr) return nullptr;
  }
  Buffer* buffer = new (memory) Buffer;
  buffer->data_ = static_cast<uint8_t*>(memory) + kHeader;
  buffer->capacity_ = capacity;
  buffer->size_class_ = static_cast<uint32_t>(size_class);
  buffer->pool_ = this;
  if (size_class >= kLocalClasses || this != &Global()) {
    outstanding_.fetch_add(static_cast<int64_t>(capacity), std::memory_order_relaxed);
  }
  return buffer;
}

void BufferPool::Recycle(Buffer* buffer) {
  // A thread that does not exist here may hold the lists. The child has its own memory, and soon ends.
  if (LostInFork()) return;
  TakeOff(buffer->account_.exchange(nullptr, std::memory_order_relaxed),
          static_cast<int64_t>(buffer->capacity_ + kHeader));
  buffer->references_.store(1, std::memory_order_relaxed);
  if (static_cast<int>(buffer->size_class_) < kLocalClasses && this == &Global()) {
    LocalBufferCache* cache = LocalBufferCache::Get();
    if (cache != nullptr) {
      cache->Give(buffer);
    } else {
      KeepOrFree({&buffer, 1});
    }
    return;
  }
  outstanding_.fetch_sub(static_cast<int64_t>(buffer->capacity_), std::memory_order_relaxed);
  KeepOrFree({&buffer, 1});
}

void BufferPool::KeepOrFree(absl::Span<Buffer* const> buffers) {
  Bin& bin = bins_[buffers[0]->size_class_];
  const auto each = static_cast<int64_t>(buffers[0]->capacity_);
  const auto count = static_cast<int64_t>(buffers.size());
  const int64_t over = kept_.fetch_add(count * each, std::memory_order_relaxed) + count * each - KeepLimit();
  const int64_t dropped = std::clamp<int64_t>((over + each - 1) / each, 0, count);
  kept_.fetch_sub(dropped * each, std::memory_order_relaxed);
  for (Buffer* buffer : buffers.subspan(0, static_cast<size_t>(dropped))) Destroy(buffer);
  std::lock_guard<std::mutex> lock(bin.mutex);
  for (Buffer* buffer : buffers.subspan(static_cast<size_t>(dropped))) {
    try {
      bin.buffers.push_back(buffer);
    } catch (const std::bad_alloc&) {
      kept_.fetch_sub(each, std::memory_order_relaxed);
      Destroy(buffer);
    }
  }
}

void BufferPool::Destroy(Buffer* buffer) {
  const size_t bytes = buffer->capacity_ + kHeader;
  buffer->~Buffer();
  allocator_->Free(buffer, bytes);
}

int64_t BufferPool::KeepLimit() const {
  const int64_t budget = budget_.load(std::memory_order_relaxed);
  if (budget == 0) return kKeepBeyond;
  return std::max(kKeepBeyond, budget + kKeepBeyond - outstanding_bytes() + UsersAccount()->held());
}

void BufferPool::AddBudget(int64_t bytes) { budget_.fetch_add(bytes, std::memory_order_relaxed); }

void BufferPool::RemoveBudget(int64_t bytes) {
  budget_.fetch_sub(bytes, std::memory_order_relaxed);
  Trim(KeepLimit());
}

void BufferPool::Trim(int64_t bytes) {
  for (int size_class = kClasses - 1; size_class >= 0 && kept_bytes() > bytes; --size_class) {
    Bin& bin = bins_[size_class];
    std::lock_guard<std::mutex> lock(bin.mutex);
    while (!bin.buffers.empty() && kept_bytes() > bytes) {
      Buffer* buffer = bin.buffers.back();
      bin.buffers.pop_back();
      kept_.fetch_sub(static_cast<int64_t>(buffer->capacity_), std::memory_order_relaxed);
      Destroy(buffer);
    }
  }
}

TaskMemory::TaskMemory(BufferPool* pool, MemoryAccount* account, int64_t reserved)
    : pool_(pool), account_(account), charged_(reserved), outer_(std::exchange(current_task, this)) {}

TaskMemory::~TaskMemory() {
  current_task = outer_;
  if (account_ != nullptr && charged_ != live_) account_->Charge(live_ - charged_);
}

TaskMemory* TaskMemory::Current() { return current_task; }

int64_t TaskMemory::Budget() {
  const bool charged = current_task != nullptr && current_task->account_ != nullptr;
  return charged ? current_task->account_->budget() : MemoryAccount::kNoBudget;
}

}  // namespace headrace
