#include "io/formats/compressed/decompressor.h"

#include "core/error.h"
#include "io/formats/compressed/gzip_decompressor.h"
#include "io/formats/compressed/zstd_decompressor.h"

namespace headrace {

absl::StatusOr<std::unique_ptr<Decompressor>> MakeDecompressor(Compression compression) {
  if (compression == Compression::kGzip) return MakeGzipDecompressor();
  if (compression == Compression::kZlib) return MakeZlibDecompressor();
  if (compression == Compression::kZstd) return MakeZstdDecompressor();
  return InternalError("there is nothing to decompress");
}

}  // namespace headrace
