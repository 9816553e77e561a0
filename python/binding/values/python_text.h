// `MessageText` and `MessageLine` give texts of the engine to Python for people, `NameText` a name whose bytes Python
// uses as a name.
// Use no other way from bytes to `str`: names of files, folders, columns and lines need not be UTF-8, and what people
// see holds nothing that a terminal would obey (core/printable.h).
// Threads: with the GIL held.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_PYTHON_TEXT_H_
#define HEADRACE_PYTHON_BINDING_VALUES_PYTHON_TEXT_H_

#include <pybind11/pybind11.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/printable.h"
#include "core/text.h"

namespace headrace::python {

// Printable, with its ends of lines: of a text that the engine made of lines, and whose names are shown already.
pybind11::str MessageText(std::string_view bytes);

// Printable, in one line: of whatever is or may hold a name.
pybind11::str MessageLine(std::string_view bytes);
pybind11::list MessageLines(const std::vector<std::string>& lines);

// As Python has paths: a byte that is no part of a character is a surrogate, which os.fsencode() turns into the byte.
pybind11::str NameText(std::string_view bytes);
pybind11::list NameTexts(const std::vector<std::string>& texts);

// The bytes of a text of Python for a message: those of NameText again; a surrogate that stands for no byte is written
// as "\ud800".
std::string MessageBytes(const pybind11::handle& text);

// Exceptions of Python whose texts are messages. Their constructors alone would take bytes that are not UTF-8 for a
// fault of their own.
template <typename... Parts>
pybind11::value_error ValueError(const Parts&... parts) {
  return pybind11::value_error(PrintableLines(Cat(parts...)));
}
template <typename... Parts>
pybind11::type_error TypeError(const Parts&... parts) {
  return pybind11::type_error(PrintableLines(Cat(parts...)));
}

void BindPythonText(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_PYTHON_TEXT_H_
