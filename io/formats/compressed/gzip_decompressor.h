// `MakeGzipDecompressor` decompresses gzip: any number of members, with zeros between and after them.
// `MakeZlibDecompressor` decompresses zlib's own format (RFC 1950): one stream, after which nothing may follow.
// Threads: any; the result is a Decompressor.
#ifndef HEADRACE_IO_FORMATS_COMPRESSED_GZIP_DECOMPRESSOR_H_
#define HEADRACE_IO_FORMATS_COMPRESSED_GZIP_DECOMPRESSOR_H_

#include <memory>

#include "absl/status/statusor.h"
#include "io/formats/compressed/decompressor.h"

namespace headrace {

absl::StatusOr<std::unique_ptr<Decompressor>> MakeGzipDecompressor();
absl::StatusOr<std::unique_ptr<Decompressor>> MakeZlibDecompressor();

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_COMPRESSED_GZIP_DECOMPRESSOR_H_
