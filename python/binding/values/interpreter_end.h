// `InterpreterEnds` says whether the interpreter shuts down. Python 3.13 gave the function a public name, and took the
// other away.
// Threads: any, with or without the GIL.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_INTERPRETER_END_H_
#define HEADRACE_PYTHON_BINDING_VALUES_INTERPRETER_END_H_

#include <Python.h>

namespace headrace::python {

inline bool InterpreterEnds() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_INTERPRETER_END_H_
