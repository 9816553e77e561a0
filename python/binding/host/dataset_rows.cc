#include "python/binding/host/dataset_rows.h"

#include <optional>
#include <utility>

#include "core/error.h"
#include "python/binding/host/user_row.h"
#include "python/binding/values/called.h"
#include "python/binding/values/status_error.h"
#include "python/binding/values/status_of_error.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

// torch's Datasets may have the attribute without a use for it.
bool HasRuns(const py::object& dataset) {
  return py::hasattr(dataset, "__getitems__") && PyCallable_Check(dataset.attr("__getitems__").ptr()) != 0;
}

// An exception that __len__ raises stays as it is. A result that Python refuses is kGraph.
uint64_t LengthOf(const py::object& dataset) {
  const Py_ssize_t length = PyObject_Size(dataset.ptr());
  if (length >= 0) return static_cast<uint64_t>(length);
  const py::error_already_set raised;
  const std::string name = Py_TYPE(dataset.ptr())->tp_name;
  const bool refused = !raised.trace() && (raised.matches(PyExc_ValueError) || raised.matches(PyExc_TypeError) ||
                                           raised.matches(PyExc_OverflowError));
  if (!refused) throw py::error_already_set(raised);
  Raise(GraphError("__len__ of ", name,
                   " does not give a whole number from 0 to 2**63 - 1: ", MessageBytes(py::str(raised.value()))));
}

class PythonRows : public HostRows {
 public:
  PythonRows(const py::object& dataset, std::vector<std::string> columns, std::shared_ptr<UserObjects> objects,
             MadeBy made_by)
      : form_{MessageBytes(py::type::of(dataset).attr("__name__")), std::move(columns), true},
        objects_(std::move(objects)),
        dataset_(objects_->Add(dataset)),
        size_(LengthOf(dataset)),
        in_runs_(HasRuns(dataset)),
        made_by_(made_by) {}

  uint64_t size() const override { return size_; }
  bool in_runs() const override { return in_runs_; }

  absl::Status Read(uint64_t epoch_key, absl::Span<const uint64_t> indices,
                    std::vector<std::vector<Tensor>>& rows) override {
    return objects_->Call(form_.source, [&]() -> absl::Status {
      const py::object dataset = objects_->At(dataset_);
      if (!dataset) return ObjectsReleased(form_.source);
      if (in_runs_ && indices.size() > 1) {
        const py::object run = RunOrNull(dataset, indices, epoch_key);
        if (run) return TakeRun(run, indices.size(), rows);
      }
      // One by one, so that the row that fails is known.
      for (const uint64_t index : indices) HEADRACE_RETURN_IF_ERROR(ReadOrTell(dataset, index, epoch_key, rows));
      return absl::OkStatus();
    });
  }

 private:
  py::object RunOf(const py::object& dataset, absl::Span<const uint64_t> indices, uint64_t epoch) const {
    py::list numbers;
    for (const uint64_t index : indices) numbers.append(index);
    const py::object asked = dataset.attr("__getitems__");
    if (made_by_ == MadeBy::kRun) return Called(asked, py::make_tuple(numbers, epoch));
    return Called(asked, py::make_tuple(numbers));
  }

  // Null if one of the rows failed. What is no fault of a row, such as Ctrl-C or running out of memory, is raised;
  // errors that another run met are told with their row.
  py::object RunOrNull(const py::object& dataset, absl::Span<const uint64_t> indices, uint64_t epoch) const {
    try {
      return RunOf(dataset, indices, epoch);
    } catch (const py::error_already_set& raised) {
      const bool lack = raised.matches(PyExc_MemoryError) && made_by_ == MadeBy::kObject;
      if (!raised.matches(PyExc_Exception) || lack) throw;
      return {};
    }
  }

  absl::Status ReadOrTell(const py::object& dataset, uint64_t index, uint64_t epoch,
                          std::vector<std::vector<Tensor>>& rows) const {
    if (made_by_ == MadeBy::kObject) return ReadOne(dataset, index, epoch, rows);
    try {
      return ReadOne(dataset, index, epoch, rows);
    } catch (const py::error_already_set& raised) {
      std::optional<absl::Status> of_row = StatusOfError(raised.value(), objects_->raised());
      if (!of_row) throw;
      return *std::move(of_row);
    }
  }

  absl::Status ReadOne(const py::object& dataset, uint64_t index, uint64_t epoch,
                       std::vector<std::vector<Tensor>>& rows) const {
    if (in_runs_) return TakeRun(RunOf(dataset, {&index, 1}, epoch), 1, rows);
    return TakeRow(ItemOf(dataset, py::int_(index)), rows);
  }

  absl::Status TakeRun(py::object run, size_t count, std::vector<std::vector<Tensor>>& rows) const {
    // Their elements are no rows.
    if (PyDict_Check(run.ptr()) || PyUnicode_Check(run.ptr()) || PyBytes_Check(run.ptr())) {
      return GraphError("__getitems__ of ", form_.source, " gave a ", Py_TYPE(run.ptr())->tp_name,
                        "; it gives a list with a row for each number");
    }
    const py::list values = py::reinterpret_steal<py::list>(PySequence_List(run.ptr()));
    if (!values) throw py::error_already_set();
    run = py::none();
    if (values.size() != count) {
      return GraphError("__getitems__ of ", form_.source, " gave ", values.size(), " rows for ", count, " numbers");
    }
    for (size_t i = 0; i < count; ++i) {
      py::object value = values[i];
      values[i] = py::none();
      HEADRACE_RETURN_IF_ERROR(TakeRow(std::move(value), rows));
    }
    return absl::OkStatus();
  }

  absl::Status TakeRow(py::object value, std::vector<std::vector<Tensor>>& rows) const {
    std::vector<Tensor> row;
    HEADRACE_RETURN_IF_ERROR(RowOf(std::move(value), form_, row));
    rows.push_back(std::move(row));
    return absl::OkStatus();
  }

  const RowForm form_;
  const std::shared_ptr<UserObjects> objects_;
  const size_t dataset_;  // its index in objects
  const uint64_t size_;
  const bool in_runs_;
  const MadeBy made_by_;
};

}  // namespace

std::shared_ptr<HostRows> DatasetRows(const py::object& dataset, std::vector<std::string> columns,
                                      std::shared_ptr<UserObjects> objects, MadeBy made_by) {
  return std::make_shared<PythonRows>(dataset, std::move(columns), std::move(objects), made_by);
}

}  // namespace headrace::python
