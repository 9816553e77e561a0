#include "python/binding/host/read_file.h"

#include <algorithm>

#include "python/binding/values/status_error.h"

namespace headrace::python {

namespace py = pybind11;

py::bytes ReadFile::ReadAt(int64_t offset, int64_t bytes) const {
  const int64_t left = size_ - std::clamp<int64_t>(offset, 0, size_);
  const int64_t most = std::clamp<int64_t>(bytes, 0, left);
  auto made = py::reinterpret_steal<py::object>(PyBytes_FromStringAndSize(nullptr, most));
  if (!made) throw py::error_already_set();
  auto* const data = reinterpret_cast<uint8_t*>(PyBytes_AS_STRING(made.ptr()));
  const int64_t read = ReadInto(offset, {data, static_cast<size_t>(most)});
  if (read == most) return py::reinterpret_steal<py::bytes>(made.release());
  return {reinterpret_cast<const char*>(data), static_cast<size_t>(read)};
}

int64_t ReadFile::ReadBuffer(int64_t offset, const py::object& buffer) const {
  Py_buffer view;
  if (PyObject_GetBuffer(buffer.ptr(), &view, PyBUF_WRITABLE) != 0) throw py::error_already_set();
  const std::unique_ptr<Py_buffer, decltype(&PyBuffer_Release)> held(&view, &PyBuffer_Release);
  return ReadInto(offset, {static_cast<uint8_t*>(view.buf), static_cast<size_t>(view.len)});
}

int64_t ReadFile::ReadInto(int64_t offset, absl::Span<uint8_t> target) const {
  if (offset < 0 || offset >= size_ || target.empty()) return 0;
  return ValueOrRaise(RunOnFiles([&] { return file_->ReadAt(offset, target); }));
}

}  // namespace headrace::python
