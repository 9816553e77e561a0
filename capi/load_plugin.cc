#include "capi/call_status.h"
#include "core/error.h"
#include "kernels/plugin/plugin_library.h"

hr_status* hr_load_plugin(const char* path) {
  return headrace::capi::Guarded([&]() -> absl::Status {
    if (path == nullptr) return headrace::capi::ArgumentError("path is NULL");
    return headrace::LoadPlugin(path).status();
  });
}
