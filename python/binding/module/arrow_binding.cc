#include "python/binding/module/arrow_binding.h"

#include <pybind11/stl.h>

#include <utility>

#include "core/dtype.h"
#include "core/error.h"
#include "io/formats/arrow/arrow_metadata.h"
#include "python/binding/values/arrow_objects.h"
#include "python/binding/values/deferred_release.h"
#include "python/binding/values/forkable_work.h"
#include "python/binding/values/python_text.h"
#include "python/binding/values/status_error.h"
#include "python/binding/values/unlocked.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

// All arrays of a stream. Producers that call Python take the GIL themselves.
absl::StatusOr<std::vector<HeldArrow>> AllArrays(ArrowArrayStream& stream, const ArrowKeeper& keep) {
  const Unlocked unlocked;
  std::vector<HeldArrow> arrays;
  while (true) {
    HEADRACE_ASSIGN_OR_RETURN(HeldArrow array, NextOf(stream, keep));
    if (array == nullptr) return arrays;
    arrays.push_back(std::move(array));
  }
}

absl::StatusOr<ArrowOwner<ArrowSchema>> SchemaWithoutGil(ArrowArrayStream& stream) {
  const Unlocked unlocked;
  return SchemaOf(stream);
}

absl::StatusOr<std::shared_ptr<const ArrowTable>> TableOf(ArrowMapping mapping, const std::vector<HeldArrow>& arrays) {
  const Unlocked unlocked;
  return ArrowTable::Of(std::move(mapping), arrays);
}

absl::StatusOr<std::shared_ptr<ArrowStream>> StreamOf(std::unique_ptr<StreamOwner> stream, ArrowMapping mapping) {
  const Unlocked unlocked;
  return ArrowStream::Of(std::move(stream), std::move(mapping), KeepForPython());
}

}  // namespace

ArrowData::ArrowData(const py::object& given, bool table) : table_(table) {
  ReleaseNow();
  if (py::hasattr(given, "__arrow_c_stream__")) {
    stream_ = TakeArrowStream(given.attr("__arrow_c_stream__")());
  } else if (py::hasattr(given, "__arrow_c_array__")) {
    const auto capsules = given.attr("__arrow_c_array__")().cast<std::pair<py::object, py::object>>();
    schema_ = TakeArrowSchema(capsules.first);
    arrays_.push_back(TakeArrowArray(capsules.second));
    table_ = true;
    return;
  } else {
    stream_ = StreamOfIterator(given);
  }
  schema_ = ValueOrRaise(SchemaWithoutGil(*stream_->get()));
  if (!table_) return;
  arrays_ = ValueOrRaise(AllArrays(*stream_->get(), KeepForPython()));
  stream_.reset();
}

py::list ArrowData::Fields() const {
  py::list fields;
  for (const ArrowField& field : ValueOrRaise(ArrowFields(*schema_))) {
    fields.append(py::make_tuple(NameText(field.name), NameText(DTypeName(field.dtype)), field.list, field.dictionary,
                                 NameText(field.extension), py::bytes(field.extension_metadata)));
  }
  return fields;
}

py::dict ArrowData::Metadata() const {
  py::dict metadata;
  for (const auto& [key, value] : ValueOrRaise(ArrowMetadata(schema_->metadata))) {
    metadata[py::bytes(key)] = py::bytes(value);
  }
  return metadata;
}

void ArrowData::Read(std::optional<std::vector<std::string>> columns,
                     const std::map<std::string, std::vector<int64_t>>& shapes,
                     std::map<std::string, std::vector<std::string>> classes, const py::dict& fills) {
  const bool taken = table_ ? bound_.table != nullptr : stream_ == nullptr;
  if (taken) Raise(InternalError("ArrowData was read before; take the data again"));
  ArrowChoices choices;
  choices.columns = std::move(columns);
  for (const auto& [name, axes] : shapes) choices.shapes[name] = Shape(axes.begin(), axes.end());
  for (auto& [name, names] : classes) choices.classes[name] = std::move(names);
  for (const auto& [name, fill] : fills) choices.fills[py::str(name)] = std::string(fill.cast<py::bytes>());
  ArrowMapping mapping = ValueOrRaise(ArrowMapping::Of(*schema_, choices));
  if (table_) {
    bound_.table = ValueOrRaise(TableOf(std::move(mapping), arrays_));
    arrays_.clear();
  } else {
    bound_.stream = ValueOrRaise(StreamOf(std::move(stream_), std::move(mapping)));
  }
}

const ArrowMapping& ArrowData::mapping() const {
  if (bound_.table != nullptr) return bound_.table->mapping();
  if (bound_.stream == nullptr) Raise(InternalError("ArrowData has no columns before it is read"));
  return bound_.stream->mapping();
}

py::list ArrowData::Columns() const {
  py::list columns;
  for (const ArrowColumn& column : mapping().columns()) {
    py::list shape;
    for (const int64_t axis : column.shape) {
      shape.append(axis == ArrowColumn::kAnyLength ? py::object(py::none()) : py::int_(axis));
    }
    columns.append(py::make_tuple(NameText(column.name), NameText(DTypeName(column.dtype)), py::tuple(shape)));
  }
  return columns;
}

py::dict ArrowData::Units() const {
  py::dict units;
  for (const ArrowColumn& column : mapping().columns()) {
    if (!column.unit.empty()) units[NameText(column.name)] = NameText(column.unit);
  }
  return units;
}

py::dict ArrowData::Classes() const {
  py::dict classes;
  for (const ArrowColumn& column : mapping().columns()) {
    // A table without rows has no dictionary.
    if (column.has_classes() && column.classes != nullptr)
      classes[NameText(column.name)] = NameTexts(column.classes->names());
  }
  return classes;
}

std::optional<uint64_t> ArrowData::Rows() const {
  if (bound_.table == nullptr) return std::nullopt;
  return bound_.table->rows();
}

void BindArrow(py::module_& module) {
  py::class_<ArrowData, std::shared_ptr<ArrowData>>(module, "ArrowData")
      .def(py::init<const py::object&, bool>(), py::arg("given"), py::arg("table"))
      .def("fields", &ArrowData::Fields)
      .def("metadata", &ArrowData::Metadata)
      .def("read", &ArrowData::Read, py::arg("columns"), py::arg("shapes"), py::arg("classes"), py::arg("fills"))
      .def_property_readonly("columns", &ArrowData::Columns)
      .def_property_readonly("units", &ArrowData::Units)
      .def_property_readonly("classes", &ArrowData::Classes)
      .def_property_readonly("rows", &ArrowData::Rows);
}

}  // namespace headrace::python
