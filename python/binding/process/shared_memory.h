// `SharedMemory` is memory that two processes share, without a name that could outlive them: a memfd. One side writes,
// and makes it larger or smaller, the other maps what there is.
// Threads: one thread at a time; mappings may be let go on any thread.
#ifndef HEADRACE_PYTHON_BINDING_PROCESS_SHARED_MEMORY_H_
#define HEADRACE_PYTHON_BINDING_PROCESS_SHARED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"

namespace headrace::python {

class SharedMemory {
 public:
  // A part of the address space that shows the memory, until the last reference goes.
  class Mapping {
   public:
    Mapping(uint8_t* data, size_t bytes) : data_(data), bytes_(bytes) {}
    ~Mapping();
    Mapping(const Mapping&) = delete;
    uint8_t* data() const { return data_; }
    size_t bytes() const { return bytes_; }
    // Replaces the mapping by a private copy. kResource if there is no memory for it.
    absl::Status MakePrivate();

   private:
    uint8_t* const data_;
    const size_t bytes_;
  };

  // Takes over the descriptor.
  explicit SharedMemory(int descriptor) : descriptor_(descriptor) {}
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;

  // Returns the descriptor of a new, empty memory; -1 with errno if there is none.
  static int NewDescriptor();

  int descriptor() const { return descriptor_; }
  size_t bytes() const { return mapping_ == nullptr ? 0 : mapping_->bytes(); }
  uint8_t* data() const { return mapping_ == nullptr ? nullptr : mapping_->data(); }
  // Of the memory itself, mapped or not.
  int64_t HeldBytes() const;
  const std::shared_ptr<Mapping>& mapping() const { return mapping_; }
  // For the writer: makes it at least so large, with its pages in memory, so that no write can fail. kResource if there
  // is no memory.
  absl::Status Grow(size_t bytes);
  // For the writer, after writing `bytes` for the reader: trims unused capacity.
  void Written(size_t bytes);
  // For the reader: maps all of it. kInternal if there is less.
  absl::Status Show(size_t bytes);
  // Lets the mapping go; the next Show makes another.
  void Forget() { mapping_.reset(); }

 private:
  absl::Status Map(size_t bytes);

  const int descriptor_;
  std::shared_ptr<Mapping> mapping_;
  int writes_ = 0;        // since it was last compared with its use
  size_t most_used_ = 0;  // by one of them
};

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_PROCESS_SHARED_MEMORY_H_
