#include "io/formats/compressed/compression.h"

#include <memory>
#include <string_view>

#include "core/error.h"

namespace headrace {
namespace {

// RFC 8878.
constexpr uint32_t kZstdFrame = 0xFD2FB528;
constexpr uint32_t kZstdSkippableFrame = 0x184D2A50;  // and the 15 numbers after it

// A block of bzip2, or the end of a stream without one: "BZh9" alone may be the name of an archive's first member.
constexpr std::string_view kBzip2Block = "\x31\x41\x59\x26\x53\x59";
constexpr std::string_view kBzip2End = "\x17\x72\x45\x38\x50\x90";
constexpr std::string_view kXzStream("\xFD\x37zXZ\0", 6);

bool IsBzip2(std::string_view first) {
  const std::string_view block = first.size() < kArchiveCompressionBytes ? "" : first.substr(4, kBzip2Block.size());
  return first.substr(0, 3) == "BZh" && (block == kBzip2Block || block == kBzip2End) && first[3] >= '1' &&
         first[3] <= '9';
}

template <size_t bytes, typename Of>
absl::StatusOr<Compression> OfFirstBytes(const FileSystem& files, const std::string& path, Of of) {
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const RandomAccessFile> file, files.Open(path));
  uint8_t first[bytes] = {};
  HEADRACE_ASSIGN_OR_RETURN(const int64_t got, file->ReadAt(0, absl::MakeSpan(first)));
  return of(absl::MakeConstSpan(first, static_cast<size_t>(got)));
}

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

Compression ArchiveCompressionOf(absl::Span<const uint8_t> first) {
  const std::string_view bytes(reinterpret_cast<const char*>(first.data()), first.size());
  if (IsBzip2(bytes)) return Compression::kBzip2;
  if (bytes.substr(0, kXzStream.size()) == kXzStream) return Compression::kXz;
  return CompressionOf(first);
}

absl::StatusOr<Compression> CompressionOfFile(const FileSystem& files, const std::string& path) {
  return OfFirstBytes<kCompressionBytes>(files, path, CompressionOf);
}

absl::StatusOr<Compression> ArchiveCompressionOfFile(const FileSystem& files, const std::string& path) {
  return OfFirstBytes<kArchiveCompressionBytes>(files, path, ArchiveCompressionOf);
}

std::string_view CompressionName(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return "none";
    case Compression::kGzip:
      return "gzip";
    case Compression::kZstd:
      return "zstd";
    case Compression::kBzip2:
      return "bzip2";
    case Compression::kXz:
      return "xz";
    case Compression::kZlib:
      return "zlib";
  }
  return "none";
}

absl::Status CannotBeIndexed(Compression compression, std::string_view file, std::string_view item) {
  return GraphError("an index says at which byte of its file a ", item, " begins, and ", file,
                    " that is compressed by ", CompressionName(compression),
                    " is read from its start on; decompress it, or leave out index=");
}

}  // namespace headrace
