#include "python/binding/process/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "core/error.h"

namespace headrace::python {
namespace {

constexpr size_t kStep = size_t{64} << 10;
// A memory of this size or more is made smaller if so many writes in succession needed less than this part of it.
constexpr size_t kLarge = size_t{1} << 20;
constexpr int kCompared = 16;
constexpr size_t kPart = 4;

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

int64_t SharedMemory::HeldBytes() const {
  struct stat found = {};
  return fstat(descriptor_, &found) == 0 ? static_cast<int64_t>(found.st_size) : 0;
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

void SharedMemory::Written(size_t bytes) {
  most_used_ = std::max(most_used_, bytes);
  if (++writes_ < kCompared) return;
  const size_t needed = (most_used_ + kStep - 1) / kStep * kStep;
  writes_ = 0;
  most_used_ = 0;
  if (this->bytes() < kLarge || needed >= this->bytes() / kPart) return;
  // Maps less first, so that no page after the end stays mapped. If either fails, the memory stays as large.
  if (!Map(needed).ok() || ftruncate(descriptor_, static_cast<off_t>(needed)) != 0) return;
}

absl::Status SharedMemory::Show(size_t bytes) {
  struct stat status = {};
  if (fstat(descriptor_, &status) != 0 || static_cast<size_t>(status.st_size) < bytes) {
    return InternalError("a process announced ", bytes, " bytes and shares ", status.st_size);
  }
  const auto all = static_cast<size_t>(status.st_size);
  return all == this->bytes() ? absl::OkStatus() : Map(all);
}

absl::Status SharedMemory::Map(size_t bytes) {
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (data == MAP_FAILED) {
    return ResourceError("no memory to share ", bytes, " bytes with another process: ", std::strerror(errno));
  }
  mapping_ = std::make_shared<Mapping>(static_cast<uint8_t*>(data), bytes);
  return absl::OkStatus();
}

}  // namespace headrace::python
