// `ListOf` makes Python's list of rows of the values and the splits that the engine has for a list.
// Threads: with the GIL held.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_ROW_LIST_H_
#define HEADRACE_PYTHON_BINDING_VALUES_ROW_LIST_H_

#include <pybind11/pybind11.h>

#include <functional>

#include "core/tensor.h"

namespace headrace::python {

// The rows as views of the values, each made by `make`. Raises DataError for splits that are not those of the values.
pybind11::list ListOf(const Tensor& values, const Tensor& splits,
                      const std::function<pybind11::object(const Tensor& row)>& make);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_ROW_LIST_H_
