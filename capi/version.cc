#include "core/version.h"

#include <string>

#include "capi/headrace.h"

uint32_t hr_abi(void) { return HEADRACE_ABI; }

const char* hr_version(void) {
  static const auto* const version = new std::string(headrace::kVersion);
  return version->c_str();
}
