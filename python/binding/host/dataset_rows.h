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

// Who makes the rows.
enum class MadeBy {
  kObject,  // user code, whose exceptions are a function's
  kRun,     // another run: __getitems__ is given the epoch, too, and what it raises of Headrace is the row's
};

// Asks the object for its length now, and raises what that raises.
std::shared_ptr<HostRows> DatasetRows(const pybind11::object& dataset, std::vector<std::string> columns,
                                      std::shared_ptr<UserObjects> objects, MadeBy made_by = MadeBy::kObject);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_HOST_DATASET_ROWS_H_
