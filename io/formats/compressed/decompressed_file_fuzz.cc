// Fuzzes compressed files: what they hold, and the error after it, are the same whatever the sizes of reads; and what
// was compressed comes back.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/testing/require.h"
#include "io/files/testing/one_file.h"
#include "io/formats/compressed/decompressed_file.h"
#include "io/formats/compressed/testing/compress.h"

namespace {

using headrace::Compression;
using headrace::Require;

// Four bytes may stand for 128 KiB.
constexpr size_t kMostBytes = 600;

struct Held {
  std::string bytes = {};
  absl::Status error = {};
};

Held Read(const headrace::OneFile& file, Compression compression, size_t block_bytes, size_t at_once) {
  const auto opened = headrace::DecompressedFile::Open(file, "a", compression, block_bytes);
  Require(opened.ok(), "a file is opened");
  Held held;
  std::string part(at_once, '\0');
  while (true) {
    const auto got = (*opened)->Read(absl::MakeSpan(reinterpret_cast<uint8_t*>(part.data()), part.size()));
    held.error = got.status();
    if (!got.ok() || *got == 0) return held;
    held.bytes.append(part, 0, *got);
  }
}

void Decompress(std::string_view bytes) {
  const absl::Span<const uint8_t> first(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  const Compression compression = headrace::ArchiveCompressionOf(first);
  if (compression == Compression::kNone) return;
  const headrace::OneFile file{std::string(bytes)};
  const Held whole = Read(file, compression, 1 << 16, 1 << 20);
  Require(whole.error.ok() || headrace::KindOf(whole.error) == headrace::ErrorKind::kData, "damage is the file's");
  const Held pieces = Read(file, compression, 64, 1000);
  Require(pieces.bytes == whole.bytes && pieces.error == whole.error, "sizes of reads change nothing");
}

void ComeBack(std::string_view bytes, Compression compression) {
  const std::string_view half = bytes.substr(0, bytes.size() / 2);
  const std::string compressed =
      headrace::Compress(compression, half) + headrace::Compress(compression, bytes.substr(half.size()));
  const Held held = Read(headrace::OneFile(compressed), compression, 64, 1000);
  // A tar archive is refused.
  Require(!held.error.ok() || held.bytes == bytes, "what was compressed comes back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), std::min(size, kMostBytes));
  Decompress(bytes);
  for (const Compression compression :
       {Compression::kGzip, Compression::kZstd, Compression::kBzip2, Compression::kXz}) {
    ComeBack(bytes, compression);
  }
  return 0;
}
