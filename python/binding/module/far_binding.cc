#include "python/binding/module/far_binding.h"

#include <string>

#include "io/files/http/http_client.h"
#include "python/binding/values/status_error.h"

namespace headrace::python {

void BindFarFiles(pybind11::module_& module) {
  // "curl 7.88.1, OpenSSL 3.0.17".
  module.def("far_versions", [] { return ValueOrRaise(http::LoadedTransport())->Versions(); });
}

}  // namespace headrace::python
