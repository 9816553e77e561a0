// `HeldBytes` gives bytes that are in memory as a stream, to what reads streams.
// Threads: one thread at a time.
#ifndef HEADRACE_IO_FORMATS_MODEL_HELD_BYTES_H_
#define HEADRACE_IO_FORMATS_MODEL_HELD_BYTES_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/formats/byte_stream.h"

namespace headrace {

class HeldBytes : public ByteStream {
 public:
  // `bytes` outlive it.
  explicit HeldBytes(std::string_view bytes) : bytes_(bytes) {}

  absl::StatusOr<size_t> Read(absl::Span<uint8_t> target) override {
    const size_t count = std::min(target.size(), bytes_.size());
    if (count > 0) std::memcpy(target.data(), bytes_.data(), count);
    bytes_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view bytes_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MODEL_HELD_BYTES_H_
