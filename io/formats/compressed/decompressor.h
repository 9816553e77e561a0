// `Decompressor` decompresses a stream that comes in pieces: gzip's members, zstd's frames, or the streams of bzip2 or
// xz, one after the other, or one stream of zlib.
// Threads: one thread at a time.
#ifndef HEADRACE_IO_FORMATS_COMPRESSED_DECOMPRESSOR_H_
#define HEADRACE_IO_FORMATS_COMPRESSED_DECOMPRESSOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/formats/compressed/compression.h"

namespace headrace {

class Decompressor {
 public:
  struct Progress {
    size_t used = 0;        // of the compressed bytes
    size_t made = 0;        // bytes, at the target's start
    bool complete = false;  // all that was begun has ended, and the stream may end here
    absl::Status wrong;     // after what was made; kData: damage
  };

  virtual ~Decompressor() = default;
  // Goes on with `compressed`, the bytes after those that were used. May be called with none to get what is left of
  // earlier ones. Not called again after an error.
  virtual Progress Decompress(absl::Span<const uint8_t> compressed, absl::Span<uint8_t> target) = 0;
};

// kResource: no memory.
absl::StatusOr<std::unique_ptr<Decompressor>> MakeDecompressor(Compression compression);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_COMPRESSED_DECOMPRESSOR_H_
