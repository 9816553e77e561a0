// `LaterBuffer` is memory for a body that is asked for now and comes later. It is charged to the pipeline of the task
// that asks, and allocated when its request is sent: reads that wait for their turn hold none, and the few that are
// under way write to memory that the last ones have just left.
// Threads: made by one thread; then used by one thread at a time.
#ifndef HEADRACE_IO_FILES_HTTP_LATER_BUFFER_H_
#define HEADRACE_IO_FILES_HTTP_LATER_BUFFER_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "core/buffer.h"

namespace headrace::http {

class LaterBuffer {
 public:
  explicit LaterBuffer(size_t bytes);
  ~LaterBuffer();
  LaterBuffer(const LaterBuffer&) = delete;

  // All of it, allocated by the first call; empty: there is no memory.
  absl::Span<uint8_t> Get();
  // What Get allocated; null: nothing.
  const BufferRef& buffer() const { return buffer_; }

 private:
  void TakeOff();

  const size_t bytes_;
  BufferPool* const pool_;
  MemoryAccount* account_;  // null: nothing is charged
  BufferRef buffer_;
};

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_LATER_BUFFER_H_
