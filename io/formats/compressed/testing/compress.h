// `Compress` makes the bytes of compressed files. Use it in tests.
// Threads: pure functions.
#ifndef HEADRACE_IO_FORMATS_COMPRESSED_TESTING_COMPRESS_H_
#define HEADRACE_IO_FORMATS_COMPRESSED_TESTING_COMPRESS_H_

#include <string>
#include <string_view>

#include "io/formats/compressed/compression.h"

namespace headrace {

// One member of gzip, one frame of zstd with a checksum, or one stream of bzip2, xz or zlib.
std::string Compress(Compression compression, std::string_view bytes);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_COMPRESSED_TESTING_COMPRESS_H_
