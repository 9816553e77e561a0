// Attribute values from Python. Thread contract: with the GIL held.
#ifndef HEADRACE_PYTHON_HEADRACE_VALUE_CONVERSION_H_
#define HEADRACE_PYTHON_HEADRACE_VALUE_CONVERSION_H_

#include <pybind11/pybind11.h>

#include <string>
#include <string_view>

#include "core/error.h"
#include "ir/graph.pb.h"
#include "python/headrace/status_error.h"

namespace headrace::python {

// A column expression, as hr.col() makes them.
struct __attribute__((visibility("hidden"))) BoundExpression {
  ir::proto::Expression expression;
  int depth = 1;  // at most ir::kDeepestExpression
};

// Stands for a Python function or arrays; the graph makes the name unique.
struct __attribute__((visibility("hidden"))) BoundReference {
  std::string name;
};

// Columns with their types, as a source of the user's own declares them.
struct __attribute__((visibility("hidden"))) BoundColumns {
  ir::proto::Columns columns;
};

// For messages: its repr, cut where it is long.
std::string ShownValue(const pybind11::handle& value);

// Throws value_error for what no attribute can hold; whether it fits this one is for validation to say.
ir::proto::Value ValueOf(const pybind11::handle& value);

// Lets what `convert` throws as value_error reach the user as a GraphError about `what`.
template <typename Convert>
auto RaisingGraphErrors(std::string_view what, Convert convert) {
  try {
    return convert();
  } catch (pybind11::value_error& error) {
    Raise(GraphError(what, ": ", error.what()));
  }
}

void BindValues(pybind11::module_& module);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_HEADRACE_VALUE_CONVERSION_H_
