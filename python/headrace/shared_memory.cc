#include "python/headrace/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "core/error.h"

namespace headrace::python {
namespace {

constexpr size_t kStep = size_t{64} << 10;

// Older kernels give up at any signal, such as that of a profiler.
int Reserve(int descriptor, size_t bytes) {
  int failed = 0;
  do {
    failed = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  } while (failed == EINTR);
  return failed;
}

}  // namespace

SharedMemory::Mapping::~Mapping() { munmap(data_, bytes_); }

absl::Status SharedMemory::Mapping::MakePrivate() {
  void* const copy = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return ResourceError("no memory for arrays that a function keeps: ", std::strerror(errno));
  std::memcpy(copy, data_, bytes_);
  // Replaces the pages in one step, so that readers find the same bytes throughout.
  if (mremap(copy, bytes_, bytes_, MREMAP_MAYMOVE | MREMAP_FIXED, data_) != MAP_FAILED) return absl::OkStatus();
  const int failed = errno;
  munmap(copy, bytes_);
  return ResourceError("no memory for arrays that a function keeps: ", std::strerror(failed));
}

SharedMemory::~SharedMemory() {
  mapping_.reset();
  close(descriptor_);
}

int SharedMemory::NewDescriptor() { return memfd_create("headrace", MFD_CLOEXEC); }

absl::Status SharedMemory::Grow(size_t bytes) {
  if (bytes <= this->bytes()) return absl::OkStatus();
  // An eighth more, so that rows of growing size do not grow it each time.
  bytes = (bytes + bytes / 8 + kStep - 1) / kStep * kStep;
  const int failed = Reserve(descriptor_, bytes);
  if (failed != 0) {
    return ResourceError("no memory to share ", bytes, " bytes with another process: ", std::strerror(failed));
  }
  return Map(bytes);
}

absl::Status SharedMemory::Show(size_t bytes) {
  if (bytes <= this->bytes()) return absl::OkStatus();
  struct stat status = {};
  if (fstat(descriptor_, &status) != 0 || static_cast<size_t>(status.st_size) < bytes) {
    return InternalError("a process announced ", bytes, " bytes and shares ", status.st_size);
  }
  return Map(static_cast<size_t>(status.st_size));
}

absl::Status SharedMemory::Map(size_t bytes) {
  mapping_.reset();
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (data == MAP_FAILED) {
    return ResourceError("no memory to share ", bytes, " bytes with another process: ", std::strerror(errno));
  }
  mapping_ = std::make_shared<Mapping>(static_cast<uint8_t*>(data), bytes);
  return absl::OkStatus();
}

}  // namespace headrace::python
