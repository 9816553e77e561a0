// The check that is stored in a model comes from outside: any bytes give a check or an error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "capi/stored_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  (void)headrace::capi::ReadStoredCheck({reinterpret_cast<const char*>(data), bytes});
  return 0;
}
