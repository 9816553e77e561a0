// `PartFile` reads a file of the cache, and `PartFileHead` makes what such a file begins with: the key of its part, so
// that a file of an equal name is not taken for it, and a checksum for each 64 KiB, so that a read checks what it gives
// and no more. The file may have any contents: what does not fit is not read.
// Threads: any thread.
#ifndef HEADRACE_IO_FILES_OBJECT_CACHE_PART_FILE_H_
#define HEADRACE_IO_FILES_OBJECT_CACHE_PART_FILE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "io/files/file_system.h"
#include "io/files/object_cache/part.h"

namespace headrace::object_cache {

inline constexpr int64_t kBlockBytes = int64_t{64} << 10;

// The bytes of the whole file.
int64_t PartFileBytes(const PartKey& key);
// What comes before the part's bytes, which are key.bytes.
std::string PartFileHead(const PartKey& key, absl::Span<const uint8_t> bytes);

class PartFile {
 public:
  // nullopt: the file does not begin as one of that part.
  static std::optional<PartFile> Begin(std::shared_ptr<const RandomAccessFile> file, const PartKey& key);
  // Reads the part's bytes from `offset` on; the range lies within them. False: they are damaged or missing.
  bool Read(int64_t offset, absl::Span<uint8_t> target) const;

 private:
  PartFile(std::shared_ptr<const RandomAccessFile> file, int64_t begin, int64_t bytes)
      : file_(std::move(file)), begin_(begin), bytes_(bytes) {}
  int64_t BytesOfBlock(int64_t block) const;
  // Reads blocks that fill `target`, which begins at the start of `block`.
  bool ReadBlocks(int64_t block, absl::Span<uint8_t> target) const;

  std::shared_ptr<const RandomAccessFile> file_;
  int64_t begin_;  // of the part's bytes in the file
  int64_t bytes_;
  std::vector<uint32_t> checksums_;
};

}  // namespace headrace::object_cache

#endif  // HEADRACE_IO_FILES_OBJECT_CACHE_PART_FILE_H_
