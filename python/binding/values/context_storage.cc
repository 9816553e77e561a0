#include "python/binding/values/context_storage.h"

#include <string>
#include <utility>
#include <vector>

#include "python/binding/values/python_text.h"
#include "python/binding/values/status_error.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

// Lives as long as the process. With the GIL held.
PyObject* StorageVariable() {
  static PyObject* const variable = PyContextVar_New("headrace_storage", nullptr);
  if (variable == nullptr) throw py::error_already_set();
  return variable;
}

StorageValue StorageValueOf(const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  if (py::isinstance<py::int_>(value)) return value.cast<int64_t>();
  if (py::isinstance<py::float_>(value)) return value.cast<double>();
  if (py::isinstance<py::bytes>(value)) return value.cast<std::string>();
  return MessageBytes(value);
}

py::object ObjectOfValue(const StorageValue& value) {
  if (const auto* const text = std::get_if<std::string>(&value)) return NameText(*text);
  return std::visit([](const auto& number) -> py::object { return py::cast(number); }, value);
}

// Of a dict from the beginning of URLs to a dict from key to value. Errors name the beginning and the key alone.
std::shared_ptr<StorageTable> StorageTableOf(const py::dict& given) {
  auto table = std::make_shared<StorageTable>();
  for (const auto& [of, settings] : given) {
    std::vector<std::pair<std::string, StorageValue>> values;
    for (const auto& [key, value] : settings.cast<py::dict>()) {
      values.emplace_back(MessageBytes(key), StorageValueOf(value));
    }
    const std::string beginning = MessageBytes(of);
    RaiseIfError(CheckStorageBeginning(beginning));
    table->Set(beginning, ValueOrRaise(StorageSettingsOf(values)));
  }
  return table;
}

// As StorageTableOf takes them.
py::dict SettingsOf(const StorageTable& table) {
  py::dict all;
  for (const auto& [beginning, settings] : table.by_beginning()) {
    py::dict given;
    for (const auto& [key, value] : GivenSettings(settings)) given[NameText(key)] = ObjectOfValue(value);
    all[NameText(beginning)] = std::move(given);
  }
  return all;
}

}  // namespace

std::shared_ptr<const StorageTable> StorageOfContext() {
  PyObject* value = nullptr;
  if (PyContextVar_Get(StorageVariable(), nullptr, &value) != 0) throw py::error_already_set();
  const py::object held = py::reinterpret_steal<py::object>(value);
  if (!held || held.is_none()) return nullptr;
  return held.cast<std::shared_ptr<StorageTable>>();
}

StorageInContext::StorageInContext(const py::handle& table)
    : token_(table ? PyContextVar_Set(StorageVariable(), table.ptr()) : nullptr) {
  if (table && token_ == nullptr) throw py::error_already_set();
}

StorageInContext::~StorageInContext() {
  if (token_ == nullptr) return;
  // An error that is set must stay.
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  if (PyContextVar_Reset(StorageVariable(), token_) != 0) PyErr_Clear();
  Py_DECREF(token_);
  PyErr_Restore(type, value, trace);
}

py::object StorageObject(const std::shared_ptr<const StorageTable>& table) {
  if (table == nullptr) return py::object();
  // Python's objects of it change nothing.
  return py::cast(std::const_pointer_cast<StorageTable>(table));
}

void BindStorage(py::module_& module) {
  py::class_<StorageTable, std::shared_ptr<StorageTable>>(module, "StorageTable")
      .def(py::init(&StorageTableOf), py::arg("settings"))
      .def(
          "over",
          [](const StorageTable& table, const StorageTable& outer) {
            return std::make_shared<StorageTable>(outer.With(table));
          },
          py::arg("outer"))
      .def("settings", &SettingsOf)
      .def("__eq__", [](const StorageTable& table, const StorageTable& other) { return table == other; })
      .def("__eq__", [](const StorageTable& /*table*/, const py::object& /*other*/) { return false; });
  module.attr("storage_variable") = py::reinterpret_borrow<py::object>(StorageVariable());
}

}  // namespace headrace::python
