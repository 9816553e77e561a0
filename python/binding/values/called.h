// `Called` calls user code through Python: such calls may return while the interpreter shuts down.
// Threads: with the GIL held.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_CALLED_H_
#define HEADRACE_PYTHON_BINDING_VALUES_CALLED_H_

#include <pybind11/pybind11.h>

#include "python/binding/values/stay_at_exit.h"

namespace headrace::python {

// Raises what the callable raises.
inline pybind11::object Called(const pybind11::handle& callable, const pybind11::tuple& arguments,
                               const pybind11::dict& named = {}) {
  PyObject* result = StayAtExit([&] { return PyObject_Call(callable.ptr(), arguments.ptr(), named.ptr()); });
  if (result == nullptr) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::object>(result);
}

// container[key]
inline pybind11::object ItemOf(const pybind11::handle& container, const pybind11::handle& key) {
  PyObject* item = StayAtExit([&] { return PyObject_GetItem(container.ptr(), key.ptr()); });
  if (item == nullptr) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::object>(item);
}

// iter(iterable)
inline pybind11::object IteratorOf(const pybind11::handle& iterable) {
  PyObject* iterator = StayAtExit([&] { return PyObject_GetIter(iterable.ptr()); });
  if (iterator == nullptr) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::object>(iterator);
}

// Null at the end.
inline pybind11::object NextOf(const pybind11::handle& iterator) {
  PyObject* value = StayAtExit([&] { return PyIter_Next(iterator.ptr()); });
  if (value == nullptr && PyErr_Occurred() != nullptr) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::object>(value);
}

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_CALLED_H_
