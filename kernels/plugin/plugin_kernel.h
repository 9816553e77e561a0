// `FactoryOf` makes a kernel of a plugin's: it passes attributes, types and tensors in the structures of the interface,
// and checks what comes back.
// Threads: as Kernel; a PluginKernelTable outlives what is made of it.
#ifndef HEADRACE_KERNELS_PLUGIN_PLUGIN_KERNEL_H_
#define HEADRACE_KERNELS_PLUGIN_PLUGIN_KERNEL_H_

#include "ir/declaration.h"
#include "kernels/kernel.h"
#include "kernels/plugin/plugin_declaration.h"

namespace headrace {

// Calls infer(). kFunction, as an error of no row: types that cannot be.
ir::InferKernel InferOf(const PluginKernelTable& table);

// Calls create().
KernelFactory FactoryOf(const PluginKernelTable& table);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_PLUGIN_PLUGIN_KERNEL_H_
