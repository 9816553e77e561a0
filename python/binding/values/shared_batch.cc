#include "python/binding/values/shared_batch.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "core/error.h"
#include "io/formats/arrow/arrow_export.h"
#include "io/formats/arrow/arrow_owner.h"
#include "ir/ragged_columns.h"
#include "python/binding/values/python_text.h"
#include "python/binding/values/status_error.h"
#include "python/binding/values/unlocked.h"

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
  const std::vector<ExportedColumn>& columns() const { return columns_; }

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

// The batches of a pipeline as a stream: who reads it takes over their types once, which costs more than a batch does.
// Give and read in turn; one stream of it.
class __attribute__((visibility("hidden"))) BatchSeries {
 public:
  explicit BatchSeries(const SharedBatch& first) : state_(std::make_shared<State>()) {
    RaiseIfError(ExportArrowSchema(first.columns(), *state_->schema.get()));
    for (const ExportedColumn& column : first.columns()) state_->types.push_back(TypeOf(column));
  }

  // Makes it the next batch of the stream; false: it has other types than the first one.
  bool Give(const SharedBatch& batch) {
    const std::vector<ExportedColumn>& columns = batch.columns();
    if (!std::equal(columns.begin(), columns.end(), state_->types.begin(), state_->types.end(), IsOfType)) return false;
    ArrowOwner<ArrowArray> array;
    RaiseIfError(ExportArrow(columns, batch.rows(), *array.get()));
    state_->next = std::move(array);
    return true;
  }
  py::capsule Stream(const py::object& /*requested_schema*/) const {
    ArrowOwner<ArrowArrayStream> stream;
    *stream.get() = {&GetSchema, &GetNext, &GetLastError, &Release, new std::shared_ptr<State>(state_)};
    return CapsuleOf(std::move(stream), "arrow_array_stream");
  }

 private:
  struct Type {
    DType dtype = DType::kUnknown;
    bool lists = false;
    Shape axes = {};  // after the first
  };
  struct State {
    std::vector<Type> types;
    ArrowOwner<ArrowSchema> schema;
    ArrowOwner<ArrowArray> next;
  };

  static Type TypeOf(const ExportedColumn& column) {
    const Shape& shape = column.values.shape();
    return {column.values.dtype(), column.splits.valid(), Shape(shape.begin() + 1, shape.end())};
  }
  static bool IsOfType(const ExportedColumn& column, const Type& type) {
    const Shape& shape = column.values.shape();
    return column.values.dtype() == type.dtype && column.splits.valid() == type.lists &&
           std::equal(shape.begin() + 1, shape.end(), type.axes.begin(), type.axes.end());
  }

  static State& Of(ArrowArrayStream* stream) { return **static_cast<std::shared_ptr<State>*>(stream->private_data); }
  // Asked for once, when the stream is taken over.
  static int GetSchema(ArrowArrayStream* stream, ArrowSchema* out) {
    *out = std::exchange(*Of(stream).schema.get(), ArrowSchema{});
    return out->release == nullptr ? EINVAL : 0;
  }
  static int GetNext(ArrowArrayStream* stream, ArrowArray* out) {
    *out = std::exchange(*Of(stream).next.get(), ArrowArray{});
    return 0;
  }
  static const char* GetLastError(ArrowArrayStream* /*stream*/) { return "the schema was taken before"; }
  static void Release(ArrowArrayStream* stream) {
    delete static_cast<std::shared_ptr<State>*>(stream->private_data);
    stream->release = nullptr;
  }

  const std::shared_ptr<State> state_;
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

absl::StatusOr<Tensor> JoinedUnlocked(const Tensor& strings) {
  const Unlocked unlocked;
  return strings.Joined();
}

// Strings that are not end to end, which each export would copy anew.
void JoinStringsOf(std::vector<ExportedColumn>& columns) {
  for (ExportedColumn& column : columns) {
    if (!column.values.joined()) column.values = ValueOrRaise(JoinedUnlocked(column.values));
  }
}

}  // namespace

py::object SharedBatchOf(const ir::Schema& schema, const std::vector<Tensor>& columns) {
  std::vector<ExportedColumn> exported = ExportedOf(schema, columns);
  const int64_t rows = ValueOrRaise(ExportedRows(exported));
  JoinStringsOf(exported);
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
  py::class_<BatchSeries>(module, "ArrowSeries")
      .def(py::init<const SharedBatch&>())
      .def("give", &BatchSeries::Give)
      .def("__arrow_c_stream__", &BatchSeries::Stream, py::arg("requested_schema") = py::none());
}

}  // namespace headrace::python
