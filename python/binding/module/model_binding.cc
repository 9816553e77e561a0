#include "python/binding/module/model_binding.h"

#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "io/formats/model/model_entries.h"
#include "python/binding/values/forkable_work.h"
#include "python/binding/values/python_text.h"
#include "python/binding/values/status_error.h"

namespace headrace::python {
namespace {

// Others write entries too, whose texts need not be UTF-8.
pybind11::list ReadEntries(const std::string& path) {
  const std::vector<ModelEntry> entries =
      ValueOrRaise(RunForkableInterruptible([&] { return ReadModelEntries(path); }));
  pybind11::list texts;
  for (const auto& [key, value] : entries) texts.append(pybind11::make_tuple(NameText(key), NameText(value)));
  return texts;
}

void WriteEntries(const std::string& path, const std::vector<ModelChange>& entries) {
  RaiseIfError(RunForkableInterruptible([&] { return WriteModelEntries(path, entries); }));
}

}  // namespace

void BindModelEntries(pybind11::module_& module) {
  module.def("read_model_entries", &ReadEntries, pybind11::arg("path"),
             "The keys and texts that the file of a model holds, or the .hrg file beside it.");
  module.def("write_model_entries", &WriteEntries, pybind11::arg("path"), pybind11::arg("entries"),
             "Sets texts by their keys; None removes one.");
}

}  // namespace headrace::python
