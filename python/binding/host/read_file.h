// `ReadFile` gives Python a file that is read by offsets, of whatever store: _engine.ReadFile, on which the package's
// seekable files stand. Threads: any thread at once, with the GIL held, which is released while bytes are waited for.
#ifndef HEADRACE_PYTHON_BINDING_HOST_READ_FILE_H_
#define HEADRACE_PYTHON_BINDING_HOST_READ_FILE_H_

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "io/files/file_system.h"
#include "python/binding/values/forkable_work.h"
#include "python/binding/values/handled_signals.h"

namespace headrace::python {

// Does work on files that may be far, by the storage settings of Python's context. A fork does not wait for it, as it
// may take as long as a network does.
template <typename Work>
auto RunOnFiles(const Work& work) {
  CheckFork();
  return RunInterruptible(work);
}

class __attribute__((visibility("hidden"))) ReadFile {
 public:
  ReadFile(std::shared_ptr<const RandomAccessFile> file, int64_t size) : file_(std::move(file)), size_(size) {}

  int64_t size() const { return size_; }
  // Fewer bytes at the end alone. Raises the error of the file.
  pybind11::bytes ReadAt(int64_t offset, int64_t bytes) const;
  // Into a buffer that may be written to; the number of bytes, 0 at the end.
  int64_t ReadBuffer(int64_t offset, const pybind11::object& buffer) const;

 private:
  int64_t ReadInto(int64_t offset, absl::Span<uint8_t> target) const;

  const std::shared_ptr<const RandomAccessFile> file_;
  const int64_t size_;
};

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_HOST_READ_FILE_H_
