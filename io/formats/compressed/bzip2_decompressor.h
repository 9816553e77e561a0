// `MakeBzip2Decompressor` decompresses bzip2 by libbz2: any number of streams, one after the other.
// Threads: any; the result is a Decompressor.
#ifndef HEADRACE_IO_FORMATS_COMPRESSED_BZIP2_DECOMPRESSOR_H_
#define HEADRACE_IO_FORMATS_COMPRESSED_BZIP2_DECOMPRESSOR_H_

#include <memory>

#include "absl/status/statusor.h"
#include "io/formats/compressed/decompressor.h"

namespace headrace {

absl::StatusOr<std::unique_ptr<Decompressor>> MakeBzip2Decompressor();

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_COMPRESSED_BZIP2_DECOMPRESSOR_H_
