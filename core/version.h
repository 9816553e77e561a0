// `kVersion` is the version of Headrace, which the Python package also reports.
#ifndef HEADRACE_CORE_VERSION_H_
#define HEADRACE_CORE_VERSION_H_

#include <string_view>

namespace headrace {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace headrace

#endif  // HEADRACE_CORE_VERSION_H_
