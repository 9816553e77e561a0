// `MakeGzipDecompressor` decompresses gzip by zlib: any number of members, with zeros between and after them.
// Threads: any; the result is a Decompressor.
#ifndef HEADRACE_IO_FORMATS_COMPRESSED_GZIP_DECOMPRESSOR_H_
#define HEADRACE_IO_FORMATS_COMPRESSED_GZIP_DECOMPRESSOR_H_

#include <memory>

#include "absl/status/statusor.h"
#include "io/formats/compressed/decompressor.h"

namespace headrace {

absl::StatusOr<std::unique_ptr<Decompressor>> MakeGzipDecompressor();

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_COMPRESSED_GZIP_DECOMPRESSOR_H_
