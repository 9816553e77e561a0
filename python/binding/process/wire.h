// `WireWriter` and `WireReader` write and read calls and their results in shared memory: numbers, texts, tensors and
// errors, in succession. Both processes run the same build.
// Threads: one thread.
#ifndef HEADRACE_PYTHON_BINDING_PROCESS_WIRE_H_
#define HEADRACE_PYTHON_BINDING_PROCESS_WIRE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/output_allocator.h"
#include "core/tensor.h"
#include "python/binding/process/shared_memory.h"

namespace headrace::python {

class WireWriter {
 public:
  explicit WireWriter(SharedMemory& memory) : memory_(memory) {}

  // The first error of all writes: kResource.
  const absl::Status& status() const { return status_; }
  size_t bytes() const { return at_; }

  void Number(uint64_t number);
  void Text(std::string_view text);
  void Put(const Tensor& tensor);
  // With its fields; also one that is OK.
  void Put(const absl::Status& error);
  // Forgets what was written after the first `bytes`, and errors.
  void Rewind(size_t bytes) {
    at_ = bytes;
    status_ = absl::OkStatus();
  }

 private:
  // Room for so many bytes, aligned for tensors; null on an error.
  uint8_t* Room(size_t bytes, size_t alignment);

  SharedMemory& memory_;
  size_t at_ = 0;
  absl::Status status_;
};

class WireReader {
 public:
  // Reads the first `bytes` of the memory, which must be mapped, from byte `at` on.
  WireReader(const SharedMemory& memory, size_t bytes, size_t at = 0)
      : mapping_(memory.mapping()), bytes_(bytes), at_(at) {}

  // Bytes read, with those before.
  size_t at() const { return at_; }

  // kInternal if something does not end within the bytes.
  const absl::Status& status() const { return status_; }

  uint64_t Number();
  std::string_view Text();
  // A view of the shared memory, which keeps its mapping.
  Tensor View();
  // A copy; numbers are allocated by `output`.
  absl::StatusOr<Tensor> Copy(OutputAllocator& output);
  absl::Status Error();

 private:
  struct Header {
    DType dtype = DType::kUnknown;
    Shape shape;
  };
  Header ReadHeader();
  const uint8_t* Take(size_t bytes, size_t alignment);
  absl::StatusOr<Tensor> CopyStrings(const Header& header);

  const std::shared_ptr<SharedMemory::Mapping> mapping_;
  const size_t bytes_;
  size_t at_;
  absl::Status status_;
};

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_PROCESS_WIRE_H_
