#include "io/formats/compressed/compression.h"

#include <memory>

#include "core/error.h"

namespace headrace {
namespace {

// RFC 8878.
constexpr uint32_t kZstdFrame = 0xFD2FB528;
constexpr uint32_t kZstdSkippableFrame = 0x184D2A50;  // and the 15 numbers after it

}  // namespace

Compression CompressionOf(absl::Span<const uint8_t> first) {
  // With deflate, the only method that gzip has (RFC 1952).
  if (first.size() >= 3 && first[0] == 0x1F && first[1] == 0x8B && first[2] == 8) return Compression::kGzip;
  if (first.size() < kCompressionBytes) return Compression::kNone;
  uint32_t magic = 0;
  for (size_t i = 0; i < kCompressionBytes; ++i) magic |= static_cast<uint32_t>(first[i]) << (8 * i);
  const bool zstd = magic == kZstdFrame || (magic & ~uint32_t{15}) == kZstdSkippableFrame;
  return zstd ? Compression::kZstd : Compression::kNone;
}

absl::StatusOr<Compression> CompressionOfFile(const FileSystem& files, const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const RandomAccessFile> file, files.Open(path));
  uint8_t first[kCompressionBytes] = {};
  HEADRACE_ASSIGN_OR_RETURN(const int64_t got, file->ReadAt(0, absl::MakeSpan(first)));
  return CompressionOf(absl::MakeConstSpan(first, static_cast<size_t>(got)));
}

std::string_view CompressionName(Compression compression) {
  if (compression == Compression::kGzip) return "gzip";
  if (compression == Compression::kZlib) return "zlib";
  return compression == Compression::kZstd ? "zstd" : "none";
}

}  // namespace headrace
