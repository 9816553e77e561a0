// `CompressionOf` says by a file's first bytes whether it is compressed as a whole, and how. Names of files say
// nothing. Use it for texts, which may be compressed by gzip and zstd, and `ArchiveCompressionOf` for tar archives,
// which may also be compressed by bzip2 and xz. Files of zlib begin with bytes that other files begin with, too: only
// formats that tell themselves from them know those. Threads: pure functions.
#ifndef HEADRACE_IO_FORMATS_COMPRESSED_COMPRESSION_H_
#define HEADRACE_IO_FORMATS_COMPRESSED_COMPRESSION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/files/file_system.h"

namespace headrace {

enum class Compression { kNone, kGzip, kZstd, kBzip2, kXz, kZlib };

// How many of a file's first bytes show it.
inline constexpr size_t kCompressionBytes = 4;
inline constexpr size_t kArchiveCompressionBytes = 10;

// Never kZlib.
Compression CompressionOf(absl::Span<const uint8_t> first);
Compression ArchiveCompressionOf(absl::Span<const uint8_t> first);
// Reads these bytes of the file.
absl::StatusOr<Compression> CompressionOfFile(const FileSystem& files, const std::string& path);
absl::StatusOr<Compression> ArchiveCompressionOfFile(const FileSystem& files, const std::string& path);

// "gzip", "zstd", "bzip2", "xz", "zlib" or "none".
std::string_view CompressionName(Compression compression);
// kGraph: of a file, "a file" or "an archive", that is compressed and was to be read by an index. `item`: a record,
// say.
absl::Status CannotBeIndexed(Compression compression, std::string_view file, std::string_view item);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_COMPRESSED_COMPRESSION_H_
