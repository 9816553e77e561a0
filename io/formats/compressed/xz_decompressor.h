// `MakeXzDecompressor` decompresses xz by liblzma: any number of streams, with the padding that may stand between them,
// and dictionaries of up to 128 MiB, twice the largest that the xz command makes by its levels.
// Threads: any; the result is a Decompressor.
#ifndef HEADRACE_IO_FORMATS_COMPRESSED_XZ_DECOMPRESSOR_H_
#define HEADRACE_IO_FORMATS_COMPRESSED_XZ_DECOMPRESSOR_H_

#include <memory>

#include "absl/status/statusor.h"
#include "io/formats/compressed/decompressor.h"

namespace headrace {

absl::StatusOr<std::unique_ptr<Decompressor>> MakeXzDecompressor();

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_COMPRESSED_XZ_DECOMPRESSOR_H_
