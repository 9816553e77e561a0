// `TransferMemory` is the memory that libcurl works with. It keeps large blocks that are freed for the next ones of
// their size: libcurl frees the buffer of each transfer, and the C library would give its pages back to the system,
// which clears them anew for the next transfer at more than the cost of a small object.
// Threads: any thread.
#ifndef HEADRACE_IO_FILES_HTTP_CURL_TRANSFER_MEMORY_H_
#define HEADRACE_IO_FILES_HTTP_CURL_TRANSFER_MEMORY_H_

#include <array>
#include <cstddef>
#include <mutex>
#include <vector>

namespace headrace::http {

class TransferMemory {
 public:
  TransferMemory() = default;
  ~TransferMemory();
  TransferMemory(const TransferMemory&) = delete;

  // As those of the C library, for whose blocks they may be used. Large blocks begin at pages: the address of a small
  // one tells it from them, without a look at its memory.
  void* Allocate(size_t bytes);
  void Free(void* block);

  size_t kept_bytes() const;
  static constexpr size_t kMostKept = size_t{32} << 20;

  // Makes all of libcurl use one of these, which lives as long as the process; false: libcurl cannot be used.
  static bool InitCurl();

 private:
  // By powers of two from 32 KB on.
  static constexpr size_t kSizes = 6;
  static constexpr size_t kLeast = size_t{32} << 10;
  static size_t RoomOf(size_t size) { return kLeast << size; }

  mutable std::mutex mutex_;
  std::array<std::vector<void*>, kSizes> kept_;
  size_t kept_bytes_ = 0;
};

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_CURL_TRANSFER_MEMORY_H_
