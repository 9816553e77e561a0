// `ReadStruct` reads a structure that a plugin gives: it begins with its size, which depends on the version of the
// interface that the plugin was built with.
// Threads: pure functions.
#ifndef HEADRACE_KERNELS_PLUGIN_PLUGIN_STRUCT_H_
#define HEADRACE_KERNELS_PLUGIN_PLUGIN_STRUCT_H_

#include <algorithm>
#include <cstring>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/error.h"

namespace headrace {

// More than any version will have: a larger size is not read as one.
inline constexpr size_t kLargestStruct = 1024;

// A copy, of this version's size: what the plugin's is too short for is zero. `first_size`: that of the first version
// that has it. kUnsupported: there is none, its size is that of no version, or it sets a field that this version does
// not know.
template <typename Struct>
absl::StatusOr<Struct> ReadStruct(const Struct* given, size_t first_size, std::string_view what) {
  if (given == nullptr) return UnsupportedError("gives no ", what);
  const size_t size = given->struct_size;
  if (size < first_size || size > kLargestStruct || size % alignof(Struct) != 0) {
    return UnsupportedError("gives a ", what, " of ", size, " bytes; it has ", first_size,
                            " or more in the interface: set its struct_size by sizeof");
  }
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  const size_t known = std::min(size, sizeof(Struct));
  if (std::any_of(bytes + known, bytes + size, [](unsigned char byte) { return byte != 0; })) {
    return UnsupportedError("sets a field of a ", what, " that this Headrace does not know: upgrade Headrace");
  }
  Struct copy = {};
  std::memcpy(&copy, bytes, known);
  copy.struct_size = sizeof(Struct);
  return copy;
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_PLUGIN_PLUGIN_STRUCT_H_
