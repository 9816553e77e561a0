// `RowMemory` allocates memory for cached rows. Large rows are adjacent in chunks that use huge pages: first touching 4
// KiB at a time takes as long as decoding much of an image. The pages of a row are freed with its last reference.
// Threads: any thread; returned memory may outlive it.
#ifndef HEADRACE_ENGINE_CACHE_ROW_MEMORY_H_
#define HEADRACE_ENGINE_CACHE_ROW_MEMORY_H_

#include <cstddef>
#include <memory>
#include <mutex>

#include "core/buffer.h"

namespace headrace {

class RowMemory {
 public:
  // Not initialised, aligned to kBufferAlignment, and charged to no account. Null if there is no memory.
  BufferRef Allocate(size_t bytes);

 private:
  class Chunk;

  std::mutex mutex_;
  std::shared_ptr<Chunk> chunk_;  // the last one, which has room
  size_t used_ = 0;               // of it
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_CACHE_ROW_MEMORY_H_
