// `RegisterLateKernel` registers a kernel for tests of operators that are registered while the process runs, as those
// of plugins are.
// Threads: any thread.
#ifndef HEADRACE_PYTHON_BINDING_MODULE_LATE_KERNEL_H_
#define HEADRACE_PYTHON_BINDING_MODULE_LATE_KERNEL_H_

#include <string>

#include "absl/status/status.h"

namespace headrace::python {

// Registers a kernel of this name, which adds `number` to int64 columns, for a class in the module
// `headrace.transforms`. kGraph: there is an operator of this name.
absl::Status RegisterLateKernel(const std::string& name);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_MODULE_LATE_KERNEL_H_
