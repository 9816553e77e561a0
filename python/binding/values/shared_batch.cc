#include "python/binding/values/shared_batch.h"

#include <memory>
#include <string>
#include <utility>

#include "core/error.h"
#include "io/formats/arrow/arrow_export.h"
#include "io/formats/arrow/arrow_owner.h"
#include "ir/ragged_columns.h"
#include "python/binding/values/python_text.h"
#include "python/binding/values/status_error.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

// The consumer of a capsule moves the struct out; one that nobody took is released with it.
template <typename Struct>
py::capsule CapsuleOf(ArrowOwner<Struct> owner, const char* name) {
  auto held = std::make_unique<Struct>();
  *held = std::exchange(*owner.get(), Struct{});
  py::capsule capsule(held.get(), name, [](PyObject* object) {
    auto* const left = static_cast<Struct*>(PyCapsule_GetPointer(object, PyCapsule_GetName(object)));
    if (left->release != nullptr) left->release(left);
    delete left;
  });
  held.release();
  return capsule;
}

class __attribute__((visibility("hidden"))) SharedBatch {
 public:
  SharedBatch(std::vector<ExportedColumn> columns, int64_t rows) : columns_(std::move(columns)), rows_(rows) {}

  py::capsule Schema() const {
    ArrowOwner<ArrowSchema> schema;
    RaiseIfError(ExportArrowSchema(columns_, *schema.get()));
    return CapsuleOf(std::move(schema), "arrow_schema");
  }
  // The interface lets a producer leave the request for another schema aside.
  py::tuple Array(const py::object& /*requested_schema*/) const {
    py::capsule schema = Schema();
    ArrowOwner<ArrowArray> array;
    RaiseIfError(ExportArrow(columns_, rows_, *array.get()));
    return py::make_tuple(std::move(schema), CapsuleOf(std::move(array), "arrow_array"));
  }
  int64_t rows() const { return rows_; }
  py::list Names() const {
    py::list names;
    for (const ExportedColumn& column : columns_) names.append(NameText(column.name));
    return names;
  }

 private:
  const std::vector<ExportedColumn> columns_;
  const int64_t rows_;
};

std::vector<ExportedColumn> ExportedOf(const ir::Schema& schema, const std::vector<Tensor>& columns) {
  std::vector<int> splits_of(columns.size(), -1);
  std::vector<bool> hidden(columns.size(), false);
  for (const ir::RaggedColumn& ragged : ValueOrRaise(ir::RaggedColumns(schema))) {
    splits_of[static_cast<size_t>(ragged.values)] = ragged.splits;
    hidden[static_cast<size_t>(ragged.splits)] = true;
  }
  std::vector<ExportedColumn> exported;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (hidden[i]) continue;
    exported.push_back({schema.columns[i].name, columns[i]});
    if (splits_of[i] < 0) continue;
    exported.back().splits = columns[static_cast<size_t>(splits_of[i])];
    RaiseIfError(ir::CheckSplits(exported.back().splits, columns[i]));
  }
  return exported;
}

}  // namespace

py::object SharedBatchOf(const ir::Schema& schema, const std::vector<Tensor>& columns) {
  std::vector<ExportedColumn> exported = ExportedOf(schema, columns);
  const int64_t rows = ValueOrRaise(ExportedRows(exported));
  return py::cast(SharedBatch(std::move(exported), rows));
}

void BindSharedBatches(py::module_& module) {
  py::class_<SharedBatch>(module, "ArrowBatch")
      .def("__arrow_c_schema__", &SharedBatch::Schema)
      .def("__arrow_c_array__", &SharedBatch::Array, py::arg("requested_schema") = py::none())
      .def("__len__", &SharedBatch::rows)
      .def_property_readonly("column_names", &SharedBatch::Names)
      .def("__repr__", [](const SharedBatch& batch) {
        return MessageLine(Cat("<headrace.ArrowBatch of ", batch.rows(), " rows>"));
      });
}

}  // namespace headrace::python
