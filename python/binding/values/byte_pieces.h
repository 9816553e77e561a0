// `BytePieces` views pieces of bytes that Python's objects hold: bytes, memoryview and whatever has their interface.
// Threads: made and destroyed with the GIL held; views may be read without it.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_BYTE_PIECES_H_
#define HEADRACE_PYTHON_BINDING_VALUES_BYTE_PIECES_H_

#include <pybind11/pybind11.h>

#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace headrace::python {

class __attribute__((visibility("hidden"))) BytePieces {
 public:
  // Raises the error of an object that holds no bytes.
  explicit BytePieces(const pybind11::sequence& objects) {
    for (const pybind11::handle object : objects) {
      Py_buffer buffer;
      if (PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_SIMPLE) != 0) {
        Release();
        throw pybind11::error_already_set();
      }
      buffers_.push_back(buffer);
      views_.emplace_back(static_cast<const char*>(buffer.buf), static_cast<size_t>(buffer.len));
    }
  }
  ~BytePieces() { Release(); }
  BytePieces(const BytePieces&) = delete;

  absl::Span<const std::string_view> views() const { return views_; }

 private:
  void Release() {
    for (Py_buffer& buffer : buffers_) PyBuffer_Release(&buffer);
  }

  std::vector<Py_buffer> buffers_;
  std::vector<std::string_view> views_;
};

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_BYTE_PIECES_H_
