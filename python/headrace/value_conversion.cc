#include "python/headrace/value_conversion.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/dtype.h"
#include "ir/expression.h"
#include "ir/graph_depth.h"
#include "ir/schema_proto.h"
#include "ir/value.h"
#include "python/headrace/status_error.h"

namespace headrace::python {
namespace {

namespace py = pybind11;
using ir::proto::Value;

std::string Text(const py::handle& text) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (data == nullptr) throw py::error_already_set();
  return std::string(data, static_cast<size_t>(size));
}

[[noreturn]] void Refuse(const py::handle& value) {
  throw py::type_error(Cat("an attribute cannot hold ", std::string(py::repr(value)), " (",
                           std::string(py::str(py::type::of(value).attr("__name__"))), ")"));
}

int64_t Integer(const py::handle& value) {
  const py::object index = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!index) throw py::error_already_set();
  const long long integer = PyLong_AsLongLong(index.ptr());
  if (integer == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw py::value_error(Cat(std::string(py::repr(value)), " does not fit into 64 bits"));
  }
  return integer;
}

bool IsInteger(const py::handle& value) { return !PyBool_Check(value.ptr()) && PyIndex_Check(value.ptr()) != 0; }
bool IsReal(const py::handle& value) { return PyFloat_Check(value.ptr()) || py::hasattr(value, "__float__"); }
bool IsPath(const py::handle& value) { return py::hasattr(value, "__fspath__"); }

// numpy.float32, numpy.dtype("float32"): the name, as the graph holds it.
bool IsDType(const py::handle& value) { return PyType_Check(value.ptr()) || py::hasattr(value, "newbyteorder"); }
std::string DTypeText(const py::handle& value) {
  if (value.is(py::handle(reinterpret_cast<PyObject*>(&PyBytes_Type)))) return "bytes";
  if (value.is(py::handle(reinterpret_cast<PyObject*>(&PyUnicode_Type)))) return "string";
  return py::str(py::module_::import("numpy").attr("dtype")(value).attr("name"));
}

Value ListValue(const py::handle& value) {
  const py::list list = py::reinterpret_steal<py::list>(PySequence_List(value.ptr()));
  std::vector<int64_t> integers;
  std::vector<double> reals;
  std::vector<std::string> texts;
  for (const py::handle element : list) {
    if (PyUnicode_Check(element.ptr())) {
      texts.push_back(Text(element));
    } else if (IsPath(element)) {
      texts.push_back(Text(element.attr("__fspath__")()));
    } else if (IsInteger(element)) {
      integers.push_back(Integer(element));
      reals.push_back(static_cast<double>(integers.back()));
    } else if (!PyBool_Check(element.ptr()) && IsReal(element)) {
      reals.push_back(py::float_(py::reinterpret_borrow<py::object>(element)));
    } else {
      Refuse(value);
    }
  }
  if (integers.size() == list.size()) return ir::IntsValue(integers);
  constexpr int64_t kExact = int64_t{1} << 53;
  for (const int64_t integer : integers) {
    if (integer >= -kExact && integer <= kExact) continue;
    throw py::value_error(
        Cat(integer, " beside real numbers would be rounded to one of them; give whole numbers alone"));
  }
  if (reals.size() == list.size()) return ir::FloatsValue(reals);
  if (texts.size() == list.size()) return ir::StringsValue(texts);
  Refuse(value);
}

Value DictValue(const py::handle& value) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& [key, mapped] : py::dict(py::reinterpret_borrow<py::object>(value))) {
    pairs.emplace_back(Text(py::str(key)), Text(py::str(mapped)));
  }
  return ir::PairsValue(pairs);
}

BoundExpression ExpressionOf(const py::handle& value) {
  if (py::isinstance<BoundExpression>(value)) return value.cast<const BoundExpression&>();
  return {ir::LiteralExpression(ValueOf(value))};
}

// Refuses what is too deep here, before anything walks it.
BoundExpression Call(const std::string& function, const py::args& arguments) {
  BoundExpression call;
  call.expression.mutable_call()->set_function(function);
  for (const py::handle argument : arguments) {
    BoundExpression given = ExpressionOf(argument);
    call.depth = std::max(call.depth, given.depth + 1);
    *call.expression.mutable_call()->add_arguments() = std::move(given.expression);
  }
  if (call.depth > ir::kDeepestExpression) Raise(ir::TooDeepExpression());
  return call;
}

// Of (dtype name, shape or None).
ir::ColumnType TypeOf(const std::string& dtype_name, const py::object& shape) {
  const std::optional<DType> dtype = DTypeFromName(dtype_name);
  if (!dtype.has_value()) throw py::value_error(Cat("no dtype \"", dtype_name, "\""));
  if (shape.is_none()) return ir::ColumnType::AnyShape(*dtype);
  Shape dimensions;
  for (const py::handle dimension : shape) {
    dimensions.push_back(dimension.is_none() ? ir::kUnknownDim : Integer(dimension));
  }
  return ir::ColumnType::Of(*dtype, dimensions);
}

BoundColumns ColumnsOf(const py::iterable& columns) {
  ir::Schema schema;
  for (const py::handle column : columns) {
    const auto [name, dtype, shape] = column.cast<std::tuple<std::string, std::string, py::object>>();
    schema.columns.push_back({name, TypeOf(dtype, shape)});
  }
  return {ir::SchemaToProto(schema)};
}

}  // namespace

Value ValueOf(const py::handle& value) {
  PyObject* object = value.ptr();
  if (value.is_none()) return ir::NoneValue();
  if (PyBool_Check(object)) return ir::BoolValue(object == Py_True);
  if (PyUnicode_Check(object)) return ir::StringValue(Text(value));
  if (IsDType(value)) return ir::StringValue(DTypeText(value));
  if (py::isinstance<BoundExpression>(value)) return ir::ExpressionValue(ExpressionOf(value).expression);
  if (py::isinstance<BoundReference>(value)) return ir::ReferenceValue(value.cast<const BoundReference&>().name);
  if (py::isinstance<BoundColumns>(value)) {
    Value columns;
    *columns.mutable_columns() = value.cast<const BoundColumns&>().columns;
    return columns;
  }
  // A NumPy scalar, or an array without axes.
  if (py::hasattr(value, "item") && py::hasattr(value, "ndim") && py::object(value.attr("ndim")).equal(py::int_(0))) {
    const py::object item = value.attr("item")();
    return ValueOf(item);
  }
  if (IsPath(value)) return ir::StringValue(Text(value.attr("__fspath__")()));
  if (IsInteger(value)) return ir::IntValue(Integer(value));
  if (PyDict_Check(object)) return DictValue(value);
  if (PyList_Check(object) || PyTuple_Check(object) || PyRange_Check(object) || py::hasattr(value, "tolist")) {
    return ListValue(value);
  }
  if (IsReal(value)) return ir::FloatValue(py::float_(py::reinterpret_borrow<py::object>(value)));
  Refuse(value);
}

void BindValues(py::module_& module) {
  py::class_<BoundExpression>(module, "Expression")
      .def_static("column", [](const std::string& name) { return BoundExpression{ir::ColumnExpression(name)}; })
      .def_static("call", &Call)
      .def("text", [](const BoundExpression& self) { return ir::ExpressionText(self.expression); })
      .def("columns", [](const BoundExpression& self) {
        const ir::ColumnSet columns = ir::ExpressionColumns(self.expression);
        return std::vector<std::string>(columns.begin(), columns.end());
      });
  py::class_<BoundReference>(module, "Reference").def(py::init([](const std::string& name) {
    return BoundReference{name};
  }));
  py::class_<BoundColumns>(module, "Columns").def(py::init(&ColumnsOf));
}

}  // namespace headrace::python
