#include "io/formats/compressed/decompressor.h"

#include "core/error.h"
#include "io/formats/compressed/bzip2_decompressor.h"
#include "io/formats/compressed/gzip_decompressor.h"
#include "io/formats/compressed/xz_decompressor.h"
#include "io/formats/compressed/zstd_decompressor.h"

namespace headrace {

absl::StatusOr<std::unique_ptr<Decompressor>> MakeDecompressor(Compression compression) {
  switch (compression) {
    case Compression::kGzip:
      return MakeGzipDecompressor();
    case Compression::kZstd:
      return MakeZstdDecompressor();
    case Compression::kBzip2:
      return MakeBzip2Decompressor();
    case Compression::kXz:
      return MakeXzDecompressor();
    case Compression::kZlib:
      return MakeZlibDecompressor();
    case Compression::kNone:
      break;
  }
  return InternalError("there is nothing to decompress");
}

}  // namespace headrace
