#include "python/binding/values/value_conversion.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/dtype.h"
#include "core/path_text.h"
#include "core/printable.h"
#include "ir/expression.h"
#include "ir/graph.pb.h"
#include "ir/graph_depth.h"
#include "ir/schema_proto.h"
#include "ir/value.h"
#include "ir/value_text.h"
#include "python/binding/values/status_error.h"

namespace headrace::python {
namespace {

namespace py = pybind11;
using ir::proto::Value;

constexpr size_t kShownBytes = 200;

// Rewords the error of Python when it refuses a conversion; other exceptions of user code are passed on.
template <typename Convert>
auto Converted(const py::handle& value, std::string_view refusal, Convert convert) {
  try {
    return convert();
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError) && !error.matches(PyExc_OverflowError)) {
      throw;
    }
  }
  throw ValueError(ShownValue(value), " ", refusal);
}

// A new reference, or the exception of Python.
py::object Checked(PyObject* object) {
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

std::string Text(const py::handle& text) {
  return Converted(text, "is no text that UTF-8 can hold", [&text] {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data == nullptr) throw py::error_already_set();
    return std::string(data, static_cast<size_t>(size));
  });
}

// A name of a file or folder as a graph holds it; as a `str` it has a surrogate for each byte that is no part of a
// character.
std::string FileText(const py::handle& text) {
  return TextOfPath(std::string_view(Converted(text, "is no text that UTF-8 can hold", [&text] {
    return py::reinterpret_steal<py::bytes>(
        Checked(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape")).release());
  })));
}

// What makes a text of a `str`: Text or FileText.
using TextMaker = std::string (*)(const py::handle& text);

std::string PathText(const py::handle& path, TextMaker text) {
  const py::object given = Converted(path, "is no path", [&path] { return Checked(PyOS_FSPath(path.ptr())); });
  if (!PyBytes_Check(given.ptr())) return text(given);
  return text(Checked(PyUnicode_DecodeFSDefaultAndSize(PyBytes_AS_STRING(given.ptr()), PyBytes_GET_SIZE(given.ptr()))));
}

[[noreturn]] void Refuse(const py::handle& value) {
  std::string refusal = Cat("an attribute cannot hold ", ShownValue(value), " (",
                            MessageBytes(py::type::of(value).attr("__name__")), ")");
  // An enumeration of texts, such as torchvision's InterpolationMode.
  const py::object held = py::getattr(value, "value", py::none());
  if (PyUnicode_Check(held.ptr())) Append(refusal, "; write ", ShownValue(held));
  throw ValueError(refusal);
}

int64_t Integer(const py::handle& value) {
  return Converted(value, "is beyond the whole numbers that a graph can hold, which go from -2**63 to 2**63 - 1",
                   [&value] {
                     const py::object index = Checked(PyNumber_Index(value.ptr()));
                     const long long integer = PyLong_AsLongLong(index.ptr());
                     if (integer == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
                     return static_cast<int64_t>(integer);
                   });
}

double Real(const py::handle& value) {
  return Converted(value, "is no number that float64 can hold",
                   [&value] { return static_cast<double>(py::float_(py::reinterpret_borrow<py::object>(value))); });
}

bool IsInteger(const py::handle& value) { return !PyBool_Check(value.ptr()) && PyIndex_Check(value.ptr()) != 0; }
bool IsReal(const py::handle& value) { return PyFloat_Check(value.ptr()) || py::hasattr(value, "__float__"); }
bool IsPath(const py::handle& value) { return py::hasattr(value, "__fspath__"); }

// numpy.float32, numpy.dtype("float32"): the name, as the graph holds it.
bool IsDType(const py::handle& value) { return PyType_Check(value.ptr()) || py::hasattr(value, "newbyteorder"); }
// A type, or a dtype of NumPy.
bool NamesType(const py::handle& value) {
  return PyType_Check(value.ptr()) ||
         (IsDType(value) && py::isinstance(value, py::module_::import("numpy").attr("dtype")));
}
std::string DTypeText(const py::handle& value) {
  if (value.is(py::handle(reinterpret_cast<PyObject*>(&PyBytes_Type)))) return "bytes";
  if (value.is(py::handle(reinterpret_cast<PyObject*>(&PyUnicode_Type)))) return "string";
  return Converted(value, "is no dtype", [&value] {
    return std::string(py::str(py::module_::import("numpy").attr("dtype")(value).attr("name")));
  });
}

// The Python object in a NumPy scalar, or in an array without axes; null if there is none.
py::object ItemOf(const py::handle& value) {
  const bool single =
      py::hasattr(value, "item") && py::hasattr(value, "ndim") && py::object(value.attr("ndim")).equal(py::int_(0));
  if (!single) return {};
  py::object item = value.attr("item")();
  // An extended float returns itself, and an array of objects may contain one.
  return py::hasattr(item, "ndim") ? py::object() : item;
}

// Whether it is an array of several axes of which at most one is longer than 1, such as a mean of shape (3, 1, 1).
bool IsOneAxis(const py::handle& value) {
  if (!py::hasattr(value, "reshape") || !py::hasattr(value, "shape")) return false;
  const py::object shape = value.attr("shape");
  if (!py::isinstance<py::tuple>(shape) || py::len(shape) < 2) return false;
  int longer = 0;
  for (const py::handle length : shape) longer += length.equal(py::int_(1)) ? 0 : 1;
  return longer <= 1;
}

Value ListValue(const py::handle& given, TextMaker text) {
  const py::object value = IsOneAxis(given) ? given.attr("reshape")(-1) : py::reinterpret_borrow<py::object>(given);
  const py::list list = Converted(value, "is no list", [&value] { return Checked(PySequence_List(value.ptr())); });
  std::vector<int64_t> integers;
  std::vector<double> reals;
  std::vector<std::string> texts;
  integers.reserve(list.size());
  for (const py::handle element : list) {
    // Looked at first, because asking a number for an attribute that it lacks costs more than all else here.
    if (PyLong_CheckExact(element.ptr())) {
      integers.push_back(Integer(element));
      reals.push_back(static_cast<double>(integers.back()));
    } else if (PyUnicode_Check(element.ptr())) {
      texts.push_back(text(element));
    } else if (IsPath(element)) {
      texts.push_back(PathText(element, text));
    } else if (py::hasattr(element, "__len__")) {
      Refuse(value);
    } else if (IsInteger(element)) {
      integers.push_back(Integer(element));
      reals.push_back(static_cast<double>(integers.back()));
    } else if (!PyBool_Check(element.ptr()) && IsReal(element)) {
      reals.push_back(Real(element));
    } else {
      Refuse(value);
    }
  }
  if (integers.size() == list.size()) return ir::IntsValue(integers);
  constexpr int64_t kExact = int64_t{1} << 53;
  for (const int64_t integer : integers) {
    if (integer >= -kExact && integer <= kExact) continue;
    throw ValueError(integer, " beside real numbers would be rounded to one of them; give whole numbers alone");
  }
  if (reals.size() == list.size()) return ir::FloatsValue(reals);
  if (texts.size() == list.size()) return ir::StringsValue(texts);
  Refuse(value);
}

Value DictValue(const py::handle& value, TextMaker text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& [key, mapped] : py::dict(py::reinterpret_borrow<py::object>(value))) {
    pairs.emplace_back(text(py::str(key)), Text(py::str(mapped)));
  }
  return ir::PairsValue(pairs);
}

BoundExpression ExpressionOf(const py::handle& value) {
  if (py::isinstance<BoundExpression>(value)) return value.cast<const BoundExpression&>();
  return {ir::LiteralExpression(ValueOf(value))};
}

// Refuses an expression that is too deep, before any code walks it.
BoundExpression Call(const std::string& function, const py::args& arguments) {
  BoundExpression call;
  call.expression.mutable_call()->set_function(function);
  for (const py::handle argument : arguments) {
    BoundExpression given =
        RaisingGraphErrors(Cat("in an expression, ", function), [argument] { return ExpressionOf(argument); });
    call.depth = std::max(call.depth, given.depth + 1);
    *call.expression.mutable_call()->add_arguments() = std::move(given.expression);
  }
  if (call.depth > ir::kDeepestExpression) Raise(ir::TooDeepExpression());
  return call;
}

// From (dtype name, shape or None).
ir::ColumnType TypeOf(const std::string& dtype_name, const py::object& shape) {
  const std::optional<DType> dtype = DTypeFromName(dtype_name);
  if (!dtype.has_value()) throw ValueError("no dtype \"", dtype_name, "\"");
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
    const auto [name, dtype, shape] = column.cast<std::tuple<std::string, py::object, py::object>>();
    schema.columns.push_back(
        {name, RaisingGraphErrors(Cat("column \"", name, "\""), [&] { return TypeOf(Text(dtype), shape); })});
  }
  return {ir::SchemaToProto(schema)};
}

Value MadeValue(const py::handle& value, TextMaker text) {
  PyObject* object = value.ptr();
  if (value.is_none()) return ir::NoneValue();
  if (PyBool_Check(object)) return ir::BoolValue(object == Py_True);
  if (PyUnicode_Check(object)) return ir::StringValue(text(value));
  if (IsDType(value)) return ir::StringValue(DTypeText(value));
  if (py::isinstance<BoundExpression>(value)) return ir::ExpressionValue(ExpressionOf(value).expression);
  if (py::isinstance<BoundReference>(value)) return ir::ReferenceValue(value.cast<const BoundReference&>().name);
  if (py::isinstance<BoundColumns>(value)) {
    Value columns;
    *columns.mutable_columns() = value.cast<const BoundColumns&>().columns;
    return columns;
  }
  if (const py::object item = ItemOf(value)) return MadeValue(item, text);
  if (IsPath(value)) return ir::StringValue(PathText(value, text));
  // Comes before whole numbers: every array claims to be one.
  if (PyList_Check(object) || PyTuple_Check(object) || PyRange_Check(object) || py::hasattr(value, "tolist")) {
    return ListValue(value, text);
  }
  if (IsInteger(value)) return ir::IntValue(Integer(value));
  if (PyDict_Check(object)) return DictValue(value, text);
  if (IsReal(value)) return ir::FloatValue(Real(value));
  Refuse(value);
}

}  // namespace

std::string ShownValue(const py::handle& value) {
  try {
    return PrintableStart(MessageBytes(py::repr(value)), kShownBytes);
  } catch (py::error_already_set&) {
    return Cat("a ", Py_TYPE(value.ptr())->tp_name, " that cannot be shown");
  }
}

Value ValueOf(const py::handle& value) { return MadeValue(value, &Text); }

Value ValueOf(const py::handle& value, const ir::Attribute* attribute) {
  if (attribute != nullptr && attribute->type != ir::AttributeType::kDType && NamesType(value)) {
    throw ValueError(ShownValue(value), " is a type, which only a dtype can be: give a value");
  }
  const bool any_bytes = attribute != nullptr && (attribute->path || attribute->any_bytes);
  return MadeValue(value, any_bytes ? &FileText : &Text);
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
