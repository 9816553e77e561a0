#include "python/binding/module/array_file_binding.h"

#include <pybind11/stl.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/tensor.h"
#include "io/formats/ndarray/array_file.h"
#include "python/binding/values/status_error.h"
#include "python/binding/values/tensor_binding.h"

namespace headrace::python {
namespace {

// Pairs of name and array.
pybind11::list Parse(const pybind11::bytes& contents, const std::string& path) {
  pybind11::list parsed;
  for (NamedArray& each : ValueOrRaise(ParseArrayFile(std::string_view(contents), path))) {
    const Tensor array = std::exchange(each.array, {});
    parsed.append(pybind11::make_tuple(NameText(each.name), ArrayOf(array, Access::kReadOnly)));
  }
  return parsed;
}

pybind11::bytes Format(const std::vector<std::pair<pybind11::str, pybind11::object>>& arrays) {
  std::vector<NamedArray> named;
  for (const auto& [name, array] : arrays) named.push_back({MessageBytes(name), TensorOf(array, Sharing::kAlways)});
  return pybind11::bytes(ValueOrRaise(FormatArrayFile(named)));
}

}  // namespace

void BindArrayFiles(pybind11::module_& module) {
  module.def("parse_array_file", &Parse, pybind11::arg("contents"), pybind11::arg("path"));
  module.def("format_array_file", &Format, pybind11::arg("arrays"));
}

}  // namespace headrace::python
