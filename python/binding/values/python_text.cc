#include "python/binding/values/python_text.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

py::str Decoded(std::string_view bytes, const char* errors) {
  PyObject* const text = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), errors);
  if (text == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(text);
}

}  // namespace

py::str MessageText(std::string_view bytes) { return Decoded(PrintableLines(bytes), "strict"); }

py::str MessageLine(std::string_view bytes) { return Decoded(Printable(bytes), "strict"); }

py::list MessageLines(const std::vector<std::string>& lines) {
  py::list list;
  for (const std::string& line : lines) list.append(MessageLine(line));
  return list;
}

py::str NameText(std::string_view bytes) { return Decoded(bytes, "surrogateescape"); }

py::list NameTexts(const std::vector<std::string>& texts) {
  py::list list;
  for (const std::string& text : texts) list.append(NameText(text));
  return list;
}

std::string MessageBytes(const py::handle& text) {
  PyObject* bytes = PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape");
  if (bytes == nullptr && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) != 0) {
    PyErr_Clear();
    bytes = PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace");
  }
  if (bytes == nullptr) throw py::error_already_set();
  return std::string(py::reinterpret_steal<py::bytes>(bytes));
}

void BindPythonText(py::module_& module) {
  module.def(
      "printable",
      [](const py::str& text, bool keep_lines) {
        const std::string bytes = MessageBytes(text);
        return py::str(keep_lines ? PrintableLines(bytes) : Printable(bytes));
      },
      py::arg("text"), py::arg("keep_lines") = false,
      "A text for people, in one line: without what a terminal would obey, and without surrogates.");
}

}  // namespace headrace::python
