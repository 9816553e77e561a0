// `FunctionInProcesses` and `RowsInProcesses` call user functions and objects in worker processes.
// Threads: made with the GIL held; as HostFunction's and HostRows'.
#ifndef HEADRACE_PYTHON_BINDING_PROCESS_PROCESS_CALLS_H_
#define HEADRACE_PYTHON_BINDING_PROCESS_PROCESS_CALLS_H_

#include <cstdint>
#include <memory>

#include "engine/operator/host.h"
#include "python/binding/process/process_pool.h"

namespace headrace::python {

// The function of that number in the pool.
std::shared_ptr<HostFunction> FunctionInProcesses(uint64_t number, std::shared_ptr<ProcessPool> pool);
// `here`: the object in this process, for its length.
std::shared_ptr<HostRows> RowsInProcesses(std::shared_ptr<HostRows> here, std::shared_ptr<ProcessPool> pool);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_PROCESS_PROCESS_CALLS_H_
