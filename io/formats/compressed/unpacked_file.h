// `UnpackFile` decompresses a whole file into memory, for formats whose rows are read by number and whose compressed
// files have no places to begin from. Memory grows with what was made, whatever the file claims.
// Threads: a pure function; the file is read on the calling thread.
#ifndef HEADRACE_IO_FORMATS_COMPRESSED_UNPACKED_FILE_H_
#define HEADRACE_IO_FORMATS_COMPRESSED_UNPACKED_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "core/buffer.h"
#include "io/files/file_system.h"
#include "io/formats/compressed/compression.h"

namespace headrace {

struct UnpackedFile {
  BufferRef buffer;
  int64_t bytes = 0;
};

// `most`: bytes that it may have. kData: damage, or more bytes; kResource: no memory.
absl::StatusOr<UnpackedFile> UnpackFile(const FileSystem& files, const std::string& path, Compression compression,
                                        int64_t most = int64_t{1} << 40);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_COMPRESSED_UNPACKED_FILE_H_
