// `UserChildren` gives the rows that a user function makes of one row: a user iterator, run as rows are asked for.
// Threads: made with the GIL held; as HostChildren's.
#ifndef HEADRACE_PYTHON_BINDING_HOST_USER_CHILDREN_H_
#define HEADRACE_PYTHON_BINDING_HOST_USER_CHILDREN_H_

#include <pybind11/pybind11.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "engine/operator/host_children.h"
#include "python/binding/host/user_objects.h"

namespace headrace::python {

// The places of a function's iterators among the objects: those of rows that are done are used again.
// Threads: with the GIL held.
class IteratorPlaces {
 public:
  explicit IteratorPlaces(std::shared_ptr<UserObjects> objects) : objects_(std::move(objects)) {}
  size_t Keep(pybind11::object iterator);
  void Release(size_t place);
  UserObjects& objects() const { return *objects_; }

 private:
  const std::shared_ptr<UserObjects> objects_;
  std::vector<size_t> free_;
};

// `given`: what the function gave for the row. Raises TypeError if that is no iterable of rows. `function`: its name.
std::unique_ptr<HostChildren> UserChildren(const std::string& function, const pybind11::object& given,
                                           std::vector<std::string> columns, std::shared_ptr<IteratorPlaces> places);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_HOST_USER_CHILDREN_H_
