// `DeliveredColumns` gives the columns of a result as users see them: a list of rows in place of the values and the
// splits that the engine has for it.
// Threads: pure functions; ListOf with the GIL held.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_DELIVERED_COLUMNS_H_
#define HEADRACE_PYTHON_BINDING_VALUES_DELIVERED_COLUMNS_H_

#include <pybind11/pybind11.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/tensor.h"
#include "ir/type.h"

namespace headrace::python {

struct DeliveredColumn {
  size_t column = 0;
  int splits = -1;  // for a list: the column of its splits; -1: it is none
};

std::vector<DeliveredColumn> DeliveredColumns(const ir::Schema& schema);

// Of a column, or, for a list, with a first axis that counts its rows.
std::optional<Shape> DeliveredShape(const ir::Schema& schema, const DeliveredColumn& column);

// The rows as views of the values, each made by `make`. Raises DataError for splits that are not those of the values.
pybind11::list ListOf(const Tensor& values, const Tensor& splits,
                      const std::function<pybind11::object(const Tensor& row)>& make);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_VALUES_DELIVERED_COLUMNS_H_
