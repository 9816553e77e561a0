// `ByteStream` gives bytes in order, and nobody knows how many before they have come. Use it for what a compressed file
// holds, and read records of it with a ForwardReader (io/formats/forward_reader.h).
// Threads: one thread at a time.
#ifndef HEADRACE_IO_FORMATS_BYTE_STREAM_H_
#define HEADRACE_IO_FORMATS_BYTE_STREAM_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace headrace {

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Writes the next bytes to `target`, which has room for at least one. Returns their number; 0: the end. kClosed: the
  // work was stopped, and may go on with a further call.
  virtual absl::StatusOr<size_t> Read(absl::Span<uint8_t> target) = 0;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_BYTE_STREAM_H_
