#include "python/binding/module/kernel_binding.h"

#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/cpu_targets.h"
#include "core/error.h"
#include "core/output_allocator.h"
#include "ir/attributes.h"
#include "kernels/kernel.h"
#include "kernels/plugin/plugin_library.h"
#include "kernels/vision/codecs/decode/library_versions.h"
#include "kernels/vision/codecs/decode/size_of_image.h"
#include "kernels/vision/codecs/jpeg/own_jpeg.h"
#include "python/binding/values/forkable_work.h"
#include "python/binding/values/status_error.h"
#include "python/binding/values/tensor_binding.h"
#include "python/binding/values/value_conversion.h"

namespace headrace::python {
namespace {

// For a kernel of one input that draws no random numbers; all attributes are given, within their bounds.
pybind11::object RunKernel(const std::string& name, const pybind11::dict& attributes, pybind11::object value) {
  ir::Attributes given;
  for (const auto& [key, attribute] : attributes) given.Set(key.cast<std::string>(), ValueOf(attribute));
  const std::unique_ptr<Kernel> kernel = ValueOrRaise(MakeKernel(name, given));
  const Tensor input = TensorOf(std::move(value), Sharing::kAlways);
  const Tensors outputs = ValueOrRaise(RunForkableInterruptible([&] {
    OutputAllocator allocator;
    KernelContext context(RowRandom(0, 0), allocator);
    return kernel->Apply({input}, context);
  }));
  return ArrayOf(outputs[0], Access::kWhereAlone);
}

// Height and width as its header says, in any format that Decode reads; nullopt: it is none of them.
std::optional<std::pair<int64_t, int64_t>> EncodedSizeOf(pybind11::bytes encoded) {
  const Tensor bytes = TensorOf(std::move(encoded), Sharing::kAlways);
  const absl::StatusOr<ImageSize> size = SizeOfEncoded(bytes, DecodeOptions());
  if (!size.ok()) return std::nullopt;
  return std::pair(size->height, size->width);
}

// Its name and the ending of its files; nullopt: none that Decode reads.
std::optional<std::pair<std::string, std::string>> EncodedFormatOf(const pybind11::bytes& encoded) {
  const EncodedFormat* const format = FormatOfEncoded(encoded);
  if (format == nullptr) return std::nullopt;
  return std::pair(std::string(format->name), std::string(format->ending));
}

// The key of the note, and its bytes; nullopt: entry points of this file save nothing.
std::optional<std::pair<uint64_t, pybind11::bytes>> EntryPointsOf(const pybind11::bytes& encoded) {
  const std::string_view file = encoded;
  const std::optional<EntryPointNote> note = RunForkable([&] { return NoteEntryPoints(file); });
  if (!note.has_value()) return std::nullopt;
  return std::pair(note->key, pybind11::bytes(note->bytes));
}

pybind11::dict LoadPluginAt(const std::string& path) {
  const Plugin& plugin = *ValueOrRaise(RunForkable([&] { return LoadPlugin(path); }));
  pybind11::dict kernels;
  for (const PluginKernelTable& table : plugin.kernels) kernels[table.given.name] = table.given.outputs;
  pybind11::list sources;
  for (const PluginSourceTable& table : plugin.sources) sources.append(table.given.name);
  for (const PluginFormatTable& table : plugin.formats) sources.append(table.given.name);
  pybind11::dict loaded;
  loaded["name"] = plugin.name;
  loaded["version"] = plugin.version;
  loaded["doc"] = plugin.doc;
  loaded["path"] = pybind11::bytes(plugin.path);
  loaded["kernels"] = kernels;
  loaded["sources"] = sources;
  return loaded;
}

}  // namespace

void BindKernels(pybind11::module_& module) {
  module.def("run_kernel", &RunKernel, pybind11::arg("name"), pybind11::arg("attributes"), pybind11::arg("value"));
  module.def("library_versions", &LibraryVersions);
  module.def("cpu_targets", &NamesOfCpuTargets);
  module.def("encoded_size", &EncodedSizeOf, pybind11::arg("encoded"));
  module.def("encoded_format", &EncodedFormatOf, pybind11::arg("encoded"));
  module.def("entry_points", &EntryPointsOf, pybind11::arg("encoded"));
  module.def(
      "load_plugin", &LoadPluginAt, pybind11::arg("path"),
      "Loads a plugin; gives its name, version, doc, path, the number of outputs of each kernel, and the names of "
      "its sources and formats.");
}

}  // namespace headrace::python
