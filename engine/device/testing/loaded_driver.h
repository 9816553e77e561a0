// `FromDriver` finds functions of the driver for tests, which is loaded into this process where the product finds it as
// libcuda.so.1.
// Threads: any thread; functions as test_driver.h says.
#ifndef HEADRACE_ENGINE_DEVICE_TESTING_LOADED_DRIVER_H_
#define HEADRACE_ENGINE_DEVICE_TESTING_LOADED_DRIVER_H_

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "engine/device/testing/test_driver.h"

namespace headrace {

// One device with plenty of memory, and no failures.
inline constexpr TestDriverOptions kPlainDriver = {.order = kRunLate,
                                                   .seed = 0,
                                                   .devices = 1,
                                                   .version = 13000,
                                                   .device_bytes = uint64_t{64} << 20,
                                                   .host_bytes = uint64_t{64} << 20,
                                                   .fail_at = -1,
                                                   .fail_code = 0,
                                                   .sticky = 0};

// The library is then the process's libcuda.so.1, by its own name.
template <typename Function>
Function* FromDriver(const char* name) {
  static void* const library = dlopen("engine/device/testing/libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) std::fprintf(stderr, "%s\n", dlerror());
  return reinterpret_cast<Function*>(dlsym(library, name));
}

inline void SetUpDriver(const TestDriverOptions& given) {
  FromDriver<decltype(TestDriverSetUp)>("TestDriverSetUp")(&given);
}
inline int64_t DriverCalls() { return FromDriver<decltype(TestDriverCalls)>("TestDriverCalls")(); }
// One line each.
inline std::string Findings() {
  const auto find = FromDriver<decltype(TestDriverFindings)>("TestDriverFindings");
  std::string text(find(nullptr, 0) + 1, '\0');
  find(text.data(), text.size());
  text.pop_back();
  return text;
}

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_TESTING_LOADED_DRIVER_H_
