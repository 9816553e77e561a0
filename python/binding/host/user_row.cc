#include "python/binding/host/user_row.h"

#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "python/binding/values/status_error.h"
#include "python/binding/values/tensor_binding.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

std::string ColumnList(const RowForm& form) {
  std::string list;
  for (const std::string& column : form.columns) Append(list, list.empty() ? "" : ", ", column);
  return list;
}

std::string KeyList(const py::dict& values) {
  std::string list;
  for (const auto& [key, value] : values) Append(list, list.empty() ? "" : ", ", MessageBytes(py::str(key)));
  return list;
}

// Null if nothing has imported Pillow: then there is no image of it.
py::object ImageType() {
  PyObject* const module = PyDict_GetItemString(PyImport_GetModuleDict(), "PIL.Image");
  return module == nullptr ? py::object() : py::reinterpret_borrow<py::object>(module).attr("Image");
}

// An image as an array of shape (H, W, C); any other value as it is.
py::object WithoutImage(py::object value) {
  const py::object type = ImageType();
  if (!type || PyObject_IsInstance(value.ptr(), type.ptr()) != 1) return value;
  // Bits come as bool, else.
  if (std::string(py::str(value.attr("mode"))) == "1") value = value.attr("convert")("L");
  py::object array = py::module_::import("numpy").attr("asarray")(value);
  const auto shape = array.attr("shape").cast<py::tuple>();
  return shape.size() == 2 ? array.attr("reshape")(shape[0], shape[1], 1) : array;
}

Tensor ValueOf(py::object value, const RowForm& form, const std::string& column) {
  if (PyDict_Check(value.ptr())) {
    throw TypeError("column \"", column, "\" is a dict of ", KeyList(value),
                    "; a column holds one value: give each of these a column of its own, in a flat dict or a "
                    "tuple, and name them with columns=[…]");
  }
  try {
    return TensorOf(form.of_dataset ? WithoutImage(std::move(value)) : std::move(value), Sharing::kWhereAlone);
  } catch (const py::type_error& error) {
    throw TypeError("column \"", column, "\": ", error.what());
  } catch (const py::value_error& error) {
    throw ValueError("column \"", column, "\": ", error.what());
  }
}

absl::Status RowOfDict(const py::dict& values, const RowForm& form, std::vector<Tensor>& row) {
  for (const std::string& column : form.columns) {
    if (values.contains(column)) continue;
    return GraphError(form.source, " gave a row without \"", column, "\" (it has ", KeyList(values), ")");
  }
  if (!form.of_dataset && values.size() != form.columns.size()) {
    return GraphError(form.source, " gave a row of ", values.size(), " values for ", form.columns.size(), " columns (",
                      ColumnList(form), ")");
  }
  for (const std::string& column : form.columns) row.push_back(ValueOf(values[py::str(column)], form, column));
  return absl::OkStatus();
}

absl::Status RowOfTuple(py::object tuple, const RowForm& form, std::vector<Tensor>& row) {
  const bool list = PyList_Check(tuple.ptr()) != 0;
  const py::list values = py::reinterpret_steal<py::list>(PySequence_List(tuple.ptr()));
  if (!values) throw py::error_already_set();
  tuple = py::none();
  if (values.size() != form.columns.size()) {
    return GraphError(form.source, " gave a ", list ? "list" : "tuple", " of ", values.size(), " values for ",
                      form.columns.size(), " columns (", ColumnList(form), ")");
  }
  for (size_t i = 0; i < values.size(); ++i) {
    py::object value = values[i];
    values[i] = py::none();
    row.push_back(ValueOf(std::move(value), form, form.columns[i]));
  }
  return absl::OkStatus();
}

// A list may be the one value of a row.
bool IsTuple(const py::object& value, const RowForm& form) {
  if (PyTuple_Check(value.ptr())) return true;
  return form.of_dataset && form.columns.size() > 1 && PyList_Check(value.ptr());
}

}  // namespace

std::vector<Tensor> TensorsOfTuple(py::object tuple, OutputAllocator& output) {
  const py::list values = py::reinterpret_steal<py::list>(PySequence_List(tuple.ptr()));
  if (!values) throw py::error_already_set();
  tuple = py::none();
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < values.size(); ++i) {
    py::object value = values[i];
    values[i] = py::none();
    try {
      tensors.push_back(TensorOf(std::move(value), Sharing::kWhereAlone, output));
    } catch (const py::type_error& error) {
      throw TypeError("value ", i, " of its tuple: ", error.what());
    } catch (const py::value_error& error) {
      throw ValueError("value ", i, " of its tuple: ", error.what());
    }
  }
  return tensors;
}

absl::Status RowOf(py::object value, const RowForm& form, std::vector<Tensor>& row) {
  if (PyDict_Check(value.ptr())) return RowOfDict(py::reinterpret_borrow<py::dict>(value), form, row);
  if (IsTuple(value, form)) return RowOfTuple(std::move(value), form, row);
  if (form.columns.size() != 1) {
    return GraphError(form.source, " gave a ", MessageBytes(py::type::of(value).attr("__name__")),
                      "; a row is a dict, or a tuple in the order of the columns (", ColumnList(form), ")");
  }
  row.push_back(ValueOf(std::move(value), form, form.columns[0]));
  return absl::OkStatus();
}

}  // namespace headrace::python
