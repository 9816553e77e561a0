// `ValueOf` converts an attribute value from Python.
// Threads: with the GIL held.
#ifndef HEADRACE_PYTHON_BINDING_VALUES_VALUE_CONVERSION_H_
#define HEADRACE_PYTHON_BINDING_VALUES_VALUE_CONVERSION_H_

#include <pybind11/pybind11.h>

#include <string>
#include <string_view>

#include "core/error.h"
#include "ir/declaration.h"
#include "ir/graph.pb.h"
#include "python/binding/values/status_error.h"

namespace headrace::python {

// A column expression, as made by hr.col().
struct __attribute__((visibility("hidden"))) BoundExpression {
  ir::proto::Expression expression;
  int depth = 1;  // at most ir::kDeepestExpression
};

// A reference to a Python function or to arrays; the graph makes the name unique.
struct __attribute__((visibility("hidden"))) BoundReference {
  std::string name;
};

// Columns with their types, as declared for a source written by the user.
struct __attribute__((visibility("hidden"))) BoundColumns {
  ir::proto::Columns columns;
};

// For messages: its repr, shortened if it is long.
std::string ShownValue(const pybind11::handle& value);

// Throws value_error for a value that no attribute can hold; validation checks whether it fits this one.
ir::proto::Value ValueOf(const pybind11::handle& value);

// Also refuses a Python type where the attribute is no dtype. `attribute` may be null: not known.
ir::proto::Value ValueOf(const pybind11::handle& value, const ir::Attribute* attribute);

// Turns a value_error thrown by `convert` into a GraphError about `what`.
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

#endif  // HEADRACE_PYTHON_BINDING_VALUES_VALUE_CONVERSION_H_
