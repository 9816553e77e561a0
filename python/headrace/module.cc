// The module headrace._engine: what the package needs of C++, and nothing that a user should call.
#include <pybind11/pybind11.h>

#include "core/buffer.h"
#include "core/version.h"
#include "ir/reference.h"
#include "python/headrace/deferred_release.h"
#include "python/headrace/graph_binding.h"
#include "python/headrace/iterator_binding.h"
#include "python/headrace/tensor_binding.h"
#include "python/headrace/value_conversion.h"

PYBIND11_MODULE(_engine, module) {
  namespace binding = headrace::python;
  module.doc() = "Headrace's engine. Private: use the package headrace.";
  binding::BindValues(module);
  binding::BindGraph(module);
  binding::BindTensors(module);
  binding::BindIterator(module);
  module.attr("version") = std::string(headrace::kVersion);
  module.def("declarations", [] { return headrace::ir::DeclarationsJson(); }, "Every operator's declaration, as JSON.");
  module.def("release_now", &binding::ReleaseNow, "Lets go of objects that the engine's threads are done with.");
  module.def(
      "outstanding_bytes", [] { return headrace::BufferPool::Global().outstanding_bytes(); },
      "Bytes of large buffers in use, of all pipelines and of what users hold.");
}
