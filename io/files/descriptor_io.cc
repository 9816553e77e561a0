#include "io/files/descriptor_io.h"

#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace headrace {

int64_t ReadFully(const Descriptor& file, int64_t offset, absl::Span<uint8_t> target) {
  size_t done = 0;
  while (done < target.size()) {
    const ssize_t got =
        pread(file.get(), target.data() + done, target.size() - done, offset + static_cast<off_t>(done));
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -errno;
    done += static_cast<size_t>(got);
  }
  return static_cast<int64_t>(done);
}

int WriteFully(const Descriptor& file, int64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = pwrite(file.get(), bytes.data(), bytes.size(), offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(put));
    offset += put;
  }
  return 0;
}

}  // namespace headrace
