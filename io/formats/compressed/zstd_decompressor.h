// `MakeZstdDecompressor` decompresses zstd by libzstd: any number of frames, among them skippable ones, with windows of
// up to 128 MiB, as the zstd command takes them.
// Threads: any; the result is a Decompressor.
#ifndef HEADRACE_IO_FORMATS_COMPRESSED_ZSTD_DECOMPRESSOR_H_
#define HEADRACE_IO_FORMATS_COMPRESSED_ZSTD_DECOMPRESSOR_H_

#include <memory>

#include "absl/status/statusor.h"
#include "io/formats/compressed/decompressor.h"

namespace headrace {

absl::StatusOr<std::unique_ptr<Decompressor>> MakeZstdDecompressor();

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_COMPRESSED_ZSTD_DECOMPRESSOR_H_
