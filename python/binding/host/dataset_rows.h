// `DatasetRows` gives the rows of an object with __len__ and __getitem__, such as a torch Dataset.
// Threads: made with the GIL held; as HostRows'.
#ifndef HEADRACE_PYTHON_BINDING_HOST_DATASET_ROWS_H_
#define HEADRACE_PYTHON_BINDING_HOST_DATASET_ROWS_H_

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/operator/host.h"
#include "python/binding/host/user_objects.h"

namespace headrace::python {

// Asks the object for its length now, and raises what that raises.
std::shared_ptr<HostRows> DatasetRows(const pybind11::object& dataset, std::vector<std::string> columns,
                                      std::shared_ptr<UserObjects> objects);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_HOST_DATASET_ROWS_H_
