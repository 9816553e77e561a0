#include "engine/cache/row_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <utility>

namespace headrace {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kChunk = 16 * kHugePage;
// Smaller rows would leave too much of their pages behind when they go, larger ones too much of a chunk unused.
constexpr size_t kFewest = size_t{64} << 10;
constexpr size_t kMost = kChunk / 16;

size_t RoundUp(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

BufferRef AllocateAlone(size_t bytes) {
  const std::shared_ptr<void> data(std::aligned_alloc(kBufferAlignment, RoundUp(bytes, kBufferAlignment)), std::free);
  if (data == nullptr) return BufferRef();
  return BufferRef::Foreign(data.get(), 0, [data] {});
}

}  // namespace

class RowMemory::Chunk {
 public:
  Chunk() {
    void* mapped = mmap(nullptr, kMapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return;
    mapped_ = static_cast<uint8_t*>(mapped);
    data_ = mapped_ + (kHugePage - reinterpret_cast<uintptr_t>(mapped_) % kHugePage);
    // Small pages do as well, but for the time.
    (void)madvise(data_, kChunk, MADV_HUGEPAGE);
  }
  ~Chunk() {
    if (mapped_ != nullptr) munmap(mapped_, kMapped);
  }
  Chunk(const Chunk&) = delete;

  uint8_t* data() const { return data_; }

  // Gives the whole pages among the bytes back to the system.
  static void Release(uint8_t* data, size_t bytes) {
    static const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const uintptr_t begin = RoundUp(reinterpret_cast<uintptr_t>(data), page);
    const uintptr_t end = (reinterpret_cast<uintptr_t>(data) + bytes) / page * page;
    if (end > begin) (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }

 private:
  static constexpr size_t kMapped = kChunk + kHugePage;

  uint8_t* mapped_ = nullptr;
  uint8_t* data_ = nullptr;
};

BufferRef RowMemory::Allocate(size_t bytes) {
  if (bytes < kFewest || bytes > kMost) return AllocateAlone(bytes);
  const size_t taken = RoundUp(bytes, kBufferAlignment);
  std::shared_ptr<Chunk> chunk;
  uint8_t* data = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (chunk_ == nullptr || used_ + taken > kChunk) {
      chunk_ = std::make_shared<Chunk>();
      used_ = 0;
    }
    if (chunk_->data() == nullptr) {
      chunk_.reset();
      return AllocateAlone(bytes);
    }
    chunk = chunk_;
    data = chunk->data() + used_;
    used_ += taken;
  }
  return BufferRef::Foreign(data, 0, [chunk = std::move(chunk), data, taken] { Chunk::Release(data, taken); });
}

}  // namespace headrace
