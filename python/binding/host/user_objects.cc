#include "python/binding/host/user_objects.h"

#include <utility>

#include "core/error.h"

namespace headrace::python {

namespace py = pybind11;

absl::Status ObjectsReleased(std::string_view name) {
  return MakeError(ErrorKind::kClosed, Cat("the iterator that calls ", name, " is closed"));
}

size_t UserObjects::Add(py::object object) {
  objects_.emplace_back();
  Set(objects_.size() - 1, std::move(object));
  return objects_.size() - 1;
}

py::object UserObjects::At(size_t index) const { return py::reinterpret_borrow<py::object>(objects_[index].get()); }

void UserObjects::Set(size_t index, py::object object) {
  if (cleared_) return;
  // Releases the old object only after the new one is stored, because that may run the user's code.
  const py::object before = objects_[index].Take();
  objects_[index] = HeldObject(std::move(object));
}

int UserObjects::Traverse(visitproc visit, void* arg) const {
  for (const HeldObject& object : objects_) Py_VISIT(object.get().ptr());
  return raised_.Traverse(visit, arg);
}

void UserObjects::Clear() {
  cleared_ = true;
  raised_.Clear();
  for (HeldObject& object : objects_) object = HeldObject();
  ReleaseNow();
}

}  // namespace headrace::python
