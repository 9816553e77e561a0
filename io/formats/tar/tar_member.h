// `ParseTarMember` reads the headers of a member of a tar archive: ustar and v7, long names of GNU, extended headers of
// PAX, and sizes in base 256. Use it on bytes that begin with a member's first header.
// Threads: pure functions.
#ifndef HEADRACE_IO_FORMATS_TAR_TAR_MEMBER_H_
#define HEADRACE_IO_FORMATS_TAR_TAR_MEMBER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace headrace {

// Headers are blocks of this size, and data are padded to a multiple of it.
inline constexpr size_t kTarBlock = 512;

struct TarMember {
  std::string_view path;  // in the bytes, or in `joined` of ParseTarMember
  bool regular = false;   // a file with data: no folder, link or device
  int64_t data = 0;       // where the data begin, after all headers of the member
  int64_t size = 0;       // of the data, in bytes
  int64_t end = 0;        // where the next member begins
};

struct TarStep {
  enum class Kind {
    kMember,
    kEnd,   // two blocks of zeros, which end an archive
    kMore,  // `needed` bytes are not there
  };
  Kind kind = Kind::kMember;
  size_t needed = 0;
};

// `bytes` begin at byte `offset` of the archive, with a member's first header. Sets `member`, whose data need not be in
// the bytes; `joined` holds its path where that stands in several fields. kData, naming the byte: the checksum of a
// header is wrong, a size or an extended header cannot be one, the member is sparse, or one block of zeros stands
// alone.
absl::StatusOr<TarStep> ParseTarMember(absl::Span<const uint8_t> bytes, int64_t offset, TarMember& member,
                                       std::string& joined);

// The error of an archive that ends at byte `size`, within the member that begins at byte `begin`.
absl::Status TarEndsWithin(int64_t begin, int64_t size);
// That of one that ends with `rest`, which begins at byte `begin`, where a member or the blocks of zeros should.
absl::Status TarCutOff(absl::Span<const uint8_t> rest, int64_t begin, int64_t size);
// That of one in which byte `offset`, after its end, is not zero.
absl::Status TarGoesOn(int64_t offset);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TAR_TAR_MEMBER_H_
