// `GrowingBytes` takes bytes that are written run by run, by a library that does not announce their number. Their
// memory is a pooled buffer that doubles when it is full.
// Threads: used by one thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_GROWING_BYTES_H_
#define HEADRACE_KERNELS_VISION_CODECS_GROWING_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "core/tensor.h"

namespace headrace {

class GrowingBytes {
 public:
  // Makes room for so many bytes in all; keeps those that were written. Fails with kResource, with nothing changed.
  absl::Status Reserve(size_t capacity);
  // Twice the room, and at least as much as `more` bytes need.
  absl::Status Grow(size_t more);

  // Room after the written bytes, for the writer.
  uint8_t* free_begin() { return memory_.mutable_raw() + size_; }
  size_t free_bytes() const { return capacity_ - size_; }
  // The next `count` bytes of that room were written.
  void Advance(size_t count) { size_ += count; }

  std::string_view written() const { return {reinterpret_cast<const char*>(memory_.raw()), size_}; }

 private:
  Tensor memory_;
  size_t capacity_ = 0;
  size_t size_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_GROWING_BYTES_H_
