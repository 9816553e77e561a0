#include "python/binding/host/user_children.h"

#include <cstdint>
#include <utility>

#include "core/error.h"
#include "core/stop_signal.h"
#include "python/binding/host/user_row.h"
#include "python/binding/values/called.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

class PythonChildren : public HostChildren {
 public:
  PythonChildren(RowForm form, size_t iterator, std::shared_ptr<IteratorPlaces> places)
      : form_(std::move(form)), places_(std::move(places)), iterator_(iterator) {}

  absl::Status Drop(uint64_t rows) override {
    return Call([&](const py::object& iterator) -> absl::Status {
      for (uint64_t i = 0; i < rows; ++i) {
        if (StopSignal::Raised()) return StopSignal::Error();
        if (!NextOf(iterator)) break;
      }
      return absl::OkStatus();
    });
  }

  absl::Status Next(int rows, size_t bytes, std::vector<std::vector<Tensor>>& made, bool& ended) override {
    return Call([&](const py::object& iterator) -> absl::Status {
      size_t taken = 0;
      for (int i = 0; i < rows && taken < bytes; ++i) {
        // A pipeline that is closed waits for one row of the user's function, not for many.
        if (StopSignal::Raised()) return StopSignal::Error();
        py::object value = NextOf(iterator);
        ended = !value;
        if (ended) break;
        std::vector<Tensor> row;
        HEADRACE_RETURN_IF_ERROR(RowOf(std::move(value), form_, row));
        for (const Tensor& tensor : row) taken += tensor.bytes();
        made.push_back(std::move(row));
      }
      return absl::OkStatus();
    });
  }

  // What the generator still runs and raises is lost, as where Python itself frees it.
  void Close() override {
    objects()
        .Call(form_.source,
              [&]() -> absl::Status {
                places_->Release(iterator_);
                return absl::OkStatus();
              })
        .IgnoreError();
  }

 private:
  UserObjects& objects() const { return places_->objects(); }

  absl::Status Call(absl::FunctionRef<absl::Status(const py::object& iterator)> body) const {
    return objects().Call(form_.source, [&]() -> absl::Status {
      const py::object iterator = objects().At(iterator_);
      return iterator ? body(iterator) : ObjectsReleased(form_.source);
    });
  }

  const RowForm form_;
  const std::shared_ptr<IteratorPlaces> places_;
  const size_t iterator_;  // its place
};

}  // namespace

size_t IteratorPlaces::Keep(py::object iterator) {
  if (free_.empty()) return objects_->Add(std::move(iterator));
  const size_t place = free_.back();
  free_.pop_back();
  objects_->Set(place, std::move(iterator));
  return place;
}

void IteratorPlaces::Release(size_t place) {
  objects_->Set(place, py::object());
  free_.push_back(place);
}

std::unique_ptr<HostChildren> UserChildren(const std::string& function, const py::object& given,
                                           std::vector<std::string> columns, std::shared_ptr<IteratorPlaces> places) {
  // The usual ones, before the call that finds out about others.
  const bool rows = PyList_CheckExact(given.ptr()) || PyTuple_CheckExact(given.ptr()) || PyGen_CheckExact(given.ptr());
  if (!rows) {
    Called(py::module_::import("headrace._datasets.adapters.children").attr("check_rows"), py::make_tuple(given));
  }
  const size_t place = places->Keep(IteratorOf(given));
  return std::make_unique<PythonChildren>(RowForm{function, std::move(columns)}, place, std::move(places));
}

}  // namespace headrace::python
