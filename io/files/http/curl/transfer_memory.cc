#include "io/files/http/curl/transfer_memory.h"

#include <curl/curl.h>
#include <malloc.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace headrace::http {
namespace {

// libcurl adds a few bytes to the powers of two that it is asked for.
constexpr size_t kSlack = 4096;
constexpr size_t kPage = 4096;

TransferMemory& MemoryOfCurl() {
  static auto* const memory = new TransferMemory;
  return *memory;
}

void* AllocateForCurl(size_t bytes) { return MemoryOfCurl().Allocate(bytes); }

void FreeForCurl(void* block) { MemoryOfCurl().Free(block); }

}  // namespace

TransferMemory::~TransferMemory() {
  for (const std::vector<void*>& blocks : kept_) {
    for (void* const block : blocks) std::free(block);
  }
}

void* TransferMemory::Allocate(size_t bytes) {
  if (bytes < kLeast || bytes > RoomOf(kSizes - 1) + kSlack) return std::malloc(bytes);
  size_t size = 0;
  while (RoomOf(size) + kSlack < bytes) ++size;
  const size_t room = RoomOf(size) + kSlack;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<void*>& blocks = kept_[size];
    if (!blocks.empty()) {
      // The last one may still be in the processor's cache.
      void* const block = blocks.back();
      blocks.pop_back();
      kept_bytes_ -= room;
      return block;
    }
  }
  return std::aligned_alloc(kPage, room);
}

void TransferMemory::Free(void* block) {
  if (reinterpret_cast<uintptr_t>(block) % kPage != 0) return std::free(block);
  const size_t bytes = block == nullptr ? 0 : malloc_usable_size(block);
  if (bytes < kLeast + kSlack || bytes >= 2 * RoomOf(kSizes - 1)) return std::free(block);
  size_t size = kSizes - 1;
  while (RoomOf(size) + kSlack > bytes) --size;
  const size_t room = RoomOf(size) + kSlack;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (kept_bytes_ + room <= kMostKept) {
      try {
        kept_[size].push_back(block);
        kept_bytes_ += room;
        return;
      } catch (const std::bad_alloc&) {
        // It is freed instead.
      }
    }
  }
  std::free(block);
}

size_t TransferMemory::kept_bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return kept_bytes_;
}

bool TransferMemory::InitCurl() {
  return curl_global_init_mem(CURL_GLOBAL_DEFAULT, AllocateForCurl, FreeForCurl, std::realloc, strdup, std::calloc) ==
         CURLE_OK;
}

}  // namespace headrace::http
