// `ReadZipDirectory` lists the members of a zip archive, as numpy.savez and torch write one, and says where the bytes
// of each are. Archives of more than 4 GiB (Zip64) are read, too.
// Threads: pure functions; files are read on the calling thread.
#ifndef HEADRACE_IO_FORMATS_ZIP_ZIP_DIRECTORY_H_
#define HEADRACE_IO_FORMATS_ZIP_ZIP_DIRECTORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/buffer.h"
#include "io/files/file_system.h"

namespace headrace {

struct ZipMember {
  static constexpr int kStored = 0;
  static constexpr int kDeflated = 8;

  std::string name = {};
  int method = kStored;
  bool encrypted = false;
  uint32_t checksum = 0;     // CRC-32 of what is unpacked
  int64_t packed_bytes = 0;  // in the archive
  int64_t bytes = 0;         // unpacked
  int64_t head = 0;          // where its own header begins
};

// In the order of the directory. kData: it is damaged, or two members have one name.
absl::StatusOr<std::vector<ZipMember>> ReadZipDirectory(const RandomAccessFile& file, int64_t size);
// Where the member's bytes begin. kData: its own header is not there, or its bytes are not in the file.
absl::StatusOr<int64_t> BeginOfMember(const RandomAccessFile& file, int64_t size, const ZipMember& member);
// What a deflated member holds. kData: damage, or another length or checksum than the directory says.
absl::StatusOr<BufferRef> InflateMember(const RandomAccessFile& file, int64_t begin, const ZipMember& member);
// What a stored or deflated member holds. kData: as InflateMember; kUnsupported: it is packed in another way.
absl::StatusOr<BufferRef> ReadMember(const RandomAccessFile& file, int64_t size, const ZipMember& member);
// The first bytes of it, `bytes` or as many as there are; nothing is checked.
absl::StatusOr<std::string> InflateStart(const RandomAccessFile& file, int64_t begin, const ZipMember& member,
                                         int64_t bytes);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_ZIP_ZIP_DIRECTORY_H_
