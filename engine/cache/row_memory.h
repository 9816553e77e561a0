// Memory of rows that are kept. Large ones lie side by side in chunks that ask for huge pages: the first touch of 4 KiB
// at a time takes as long as decoding much of a picture. The pages of a row go back when its last reference does.
// Thread contract: any thread; what was given out may outlive it.
#ifndef HEADRACE_ENGINE_CACHE_ROW_MEMORY_H_
#define HEADRACE_ENGINE_CACHE_ROW_MEMORY_H_

#include <cstddef>
#include <memory>
#include <mutex>

#include "core/buffer.h"

namespace headrace {

class RowMemory {
 public:
  // Not initialised, aligned to kBufferAlignment, and of no account. Null where there is no memory.
  BufferRef Allocate(size_t bytes);

 private:
  class Chunk;

  std::mutex mutex_;
  std::shared_ptr<Chunk> chunk_;  // the last one, which has room
  size_t used_ = 0;               // of it
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_CACHE_ROW_MEMORY_H_
