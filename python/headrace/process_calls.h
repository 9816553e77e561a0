// Functions and objects of the user's that are called in worker processes.
// Thread contract: made with the GIL held; as HostFunction's and HostRows'.
#ifndef HEADRACE_PYTHON_HEADRACE_PROCESS_CALLS_H_
#define HEADRACE_PYTHON_HEADRACE_PROCESS_CALLS_H_

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "engine/operator/host.h"
#include "python/headrace/user_objects.h"

namespace headrace::python {

// `workers`: a headrace.process_options.Workers, which holds what they call. `packs`: as ProcessPool's.
std::shared_ptr<HostFunction> FunctionInProcesses(std::string name, const pybind11::object& workers, bool packs,
                                                  std::shared_ptr<UserObjects> objects);
// `here`: the object in this process, for its length.
std::shared_ptr<HostRows> RowsInProcesses(std::string name, std::shared_ptr<HostRows> here,
                                          const pybind11::object& workers, bool packs,
                                          std::shared_ptr<UserObjects> objects);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_HEADRACE_PROCESS_CALLS_H_
