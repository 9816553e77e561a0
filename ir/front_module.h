// `FrontModules` lists where users find operators: the modules of kernels, one for each domain, and where sources,
// samplers, functions and methods are. Use it wherever something holds for every module, or for those of one kind; a
// new domain of kernels is a row here.
// Threads: constants.
#ifndef HEADRACE_IR_FRONT_MODULE_H_
#define HEADRACE_IR_FRONT_MODULE_H_

#include <string_view>

#include "absl/types/span.h"
#include "ir/declaration.h"

namespace headrace::ir {

struct FrontModule {
  std::string_view name = {};    // Declaration::python_module
  std::string_view prefix = {};  // of its operators in examples and messages: "V."
  std::string_view title = {};   // of its operators in lists
  std::string_view doc = {};     // of a module of kernels: what its page begins with; empty: it has no kernels
  SampleInput sample = SampleInput::kVector;  // of a module of kernels: what most of them take
  bool images = false;                        // its kernels take images, of known axes

  bool has_kernels() const { return !doc.empty(); }
};

// In the order of lists.
absl::Span<const FrontModule> FrontModules();
// Null: there is none; it may be that of a plugin.
const FrontModule* FindFrontModule(std::string_view name);
// Whether kernels of the module take images.
bool IsOfImages(std::string_view module);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_FRONT_MODULE_H_
