#include "python/headrace/user_objects.h"

#include <utility>

namespace headrace::python {

namespace py = pybind11;

size_t UserObjects::Add(py::object object) {
  objects_.emplace_back();
  Set(objects_.size() - 1, std::move(object));
  return objects_.size() - 1;
}

py::object UserObjects::At(size_t place) const { return py::reinterpret_borrow<py::object>(objects_[place].get()); }

void UserObjects::Set(size_t place, py::object object) {
  if (cleared_) return;
  // Lets go of what stood there once the place holds the new one, for that may run the user's code.
  const py::object before = objects_[place].Take();
  objects_[place] = HeldObject(std::move(object));
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
