// Structures that a plugin gives: each begins with its size, which depends on the version of the interface that the
// plugin was built with. Pure functions.
#ifndef HEADRACE_OPS_PLUGIN_PLUGIN_STRUCT_H_
#define HEADRACE_OPS_PLUGIN_PLUGIN_STRUCT_H_

#include <cstring>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/error.h"

namespace headrace {

// A copy, of this version's size: what the plugin's is too short for is zero. `first_size`: that of the first version.
// kUnsupported: there is none, or its size is none that this version knows.
template <typename Struct>
absl::StatusOr<Struct> ReadStruct(const Struct* given, size_t first_size, std::string_view what) {
  if (given == nullptr) return UnsupportedError("gives no ", what);
  const size_t size = given->struct_size;
  if (size < first_size || size > sizeof(Struct)) {
    return UnsupportedError("gives a ", what, " of ", size, " bytes; this Headrace knows those of ", first_size, " to ",
                            sizeof(Struct), ": build the plugin with this Headrace's headrace_plugin.h");
  }
  Struct copy = {};
  std::memcpy(&copy, given, size);
  copy.struct_size = sizeof(Struct);
  return copy;
}

}  // namespace headrace

#endif  // HEADRACE_OPS_PLUGIN_PLUGIN_STRUCT_H_
