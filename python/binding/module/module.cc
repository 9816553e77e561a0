// The module headrace._engine: what the package needs from C++, and nothing for users to call.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "core/buffer.h"
#include "core/caught_error.h"
#include "core/version.h"
#include "engine/device/nvjpeg/nv_jpeg_library.h"
#include "io/files/file_system.h"
#include "ir/reference.h"
#include "ops/source/lines/csv_field.h"
#include "python/binding/module/array_file_binding.h"
#include "python/binding/module/arrow_binding.h"
#include "python/binding/module/coco_binding.h"
#include "python/binding/module/eager_chain.h"
#include "python/binding/module/far_binding.h"
#include "python/binding/module/file_fields_binding.h"
#include "python/binding/module/files_binding.h"
#include "python/binding/module/graph_binding.h"
#include "python/binding/module/inference_binding.h"
#include "python/binding/module/iterator_binding.h"
#include "python/binding/module/kernel_binding.h"
#include "python/binding/module/mind_record_binding.h"
#include "python/binding/module/model_binding.h"
#include "python/binding/module/output_binding.h"
#include "python/binding/module/parquet_binding.h"
#include "python/binding/module/record_binding.h"
#include "python/binding/module/tf_record_binding.h"
#include "python/binding/module/voc_binding.h"
#include "python/binding/process/kept_processes.h"
#include "python/binding/process/worker_loop.h"
#include "python/binding/values/context_storage.h"
#include "python/binding/values/deferred_release.h"
#include "python/binding/values/python_text.h"
#include "python/binding/values/shared_batch.h"
#include "python/binding/values/status_error.h"
#include "python/binding/values/tensor_binding.h"
#include "python/binding/values/value_conversion.h"

namespace {

// The file that a path or URI names. Raises where it is not on this machine.
std::string LocalPath(const std::string& path) {
  namespace binding = headrace::python;
  const binding::ContextStorage storage;
  const auto place = binding::ValueOrRaise(headrace::DefaultFileSystem()->Locate(path));
  if (place.files->local() == nullptr) {
    binding::Raise(headrace::UnsupportedError(
        path, " is in a far store, and this must be a file or folder of this machine: give a plain path"));
  }
  return place.path;
}

// Turns running out of memory or threads into a ResourceError in every call; pybind11 translates other exceptions.
void RaiseShortage(std::exception_ptr thrown) {
  absl::Status lack;
  try {
    std::rethrow_exception(std::move(thrown));
  } catch (const std::bad_alloc&) {
    lack = headrace::CaughtError();
  } catch (const std::system_error&) {
    lack = headrace::CaughtError();
  }
  try {
    headrace::python::Raise(lack);
  } catch (pybind11::error_already_set& error) {
    error.restore();
  }
}

}  // namespace

// As in PYBIND11_MODULE, except that it checks the interpreter before pybind11 waits for a lock that a subinterpreter's
// thread holds.
static int pybind11_exec__engine(PyObject* module);

extern "C" PYBIND11_EXPORT PyObject* PyInit__engine() {
  PYBIND11_CHECK_PYTHON_VERSION
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    PyErr_SetString(
        PyExc_ImportError,
        "headrace cannot be used in a subinterpreter, as its threads call Python in the main one; import it "
        "there, or in another process");
    return nullptr;
  }
  static pybind11::detail::slots_array slots = pybind11::detail::init_slots(&pybind11_exec__engine);
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_engine", nullptr, 0,      nullptr,
                                   slots.data(),          nullptr,   nullptr, nullptr};
  return PyModuleDef_Init(&definition);
}

PYBIND11_MODULE_EXEC(_engine, module) {
  namespace binding = headrace::python;
  pybind11::register_local_exception_translator(&RaiseShortage);
  module.doc() = "Headrace's engine. Private: use the package headrace.";
  binding::BindPythonText(module);
  binding::BindValues(module);
  binding::BindStorage(module);
  binding::BindFiles(module);
  binding::BindGraph(module);
  binding::BindTensors(module);
  binding::BindIterator(module);
  binding::BindKernels(module);
  binding::BindEagerChain(module);
  binding::BindInference(module);
  binding::BindOutputs(module);
  binding::BindRecords(module);
  binding::BindFarFiles(module);
  binding::BindTfRecords(module);
  binding::BindMindRecords(module);
  binding::BindParquet(module);
  binding::BindArrow(module);
  binding::BindSharedBatches(module);
  binding::BindArrayFiles(module);
  binding::BindFileFields(module);
  binding::BindCoco(module);
  binding::BindVoc(module);
  binding::BindModelEntries(module);
  binding::BindWorkerLoop(module);
  module.attr("version") = std::string(headrace::kVersion);
  module.def("declarations", [] { return headrace::ir::DeclarationsJson(); }, "Every operator's declaration, as JSON.");
  module.def(
      "local_path", [](const std::string& path) { return pybind11::bytes(LocalPath(path)); }, pybind11::arg("path"),
      "The path of the local file that a path or a URI names, in the bytes of the system.");
  module.def("set_package_folders", &headrace::SetPackageFolders, pybind11::arg("folders"),
             "Where libraries of Python packages are looked for.");
  module.def(
      "csv_names",
      [](const std::string& header, const std::string& delimiter, const std::optional<std::string>& quote) {
        const headrace::CsvDialect dialect = binding::ValueOrRaise(headrace::CsvDialect::Of(delimiter, quote));
        return binding::NameTexts(binding::ValueOrRaise(headrace::SplitLine(header, dialect)));
      },
      pybind11::arg("header"), pybind11::arg("delimiter"), pybind11::arg("quote"),
      "The texts of the fields of a line of CSV.");
  module.def("release_now", &binding::ReleaseNow, "Lets go of objects that the engine's threads are done with.");
  module.def(
      "outstanding_bytes", [] { return headrace::BufferPool::Global().outstanding_bytes(); },
      "Bytes of large buffers in use, of all pipelines and of what users hold.");
  module.def(
      "end_kept_processes", [] { binding::KeptProcesses::OfProgram().EndAll(); },
      pybind11::call_guard<pybind11::gil_scoped_release>(),
      "For tests: ends the worker processes that wait for further runs.");
}
