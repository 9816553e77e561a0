// `FromNvJpeg` finds functions of the nvJPEG for tests, which is loaded into this process where the product finds it as
// libnvjpeg.so.13.
// Threads: any thread; functions as test_nv_jpeg.h says.
#ifndef HEADRACE_ENGINE_DEVICE_TESTING_LOADED_NV_JPEG_H_
#define HEADRACE_ENGINE_DEVICE_TESTING_LOADED_NV_JPEG_H_

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "engine/device/testing/test_nv_jpeg.h"

namespace headrace {

inline constexpr TestNvJpegOptions kPlainNvJpeg = {.major = 13, .minor = 3, .fail_at = -1, .fail_status = 0};

// The library is then the process's libnvjpeg.so.13, by its own name.
template <typename Function>
Function* FromNvJpeg(const char* name) {
  static void* const library = dlopen("engine/device/testing/libnvjpeg.so.13", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) std::fprintf(stderr, "%s\n", dlerror());
  return reinterpret_cast<Function*>(dlsym(library, name));
}

inline void SetUpNvJpeg(const TestNvJpegOptions& given) {
  FromNvJpeg<decltype(TestNvJpegSetUp)>("TestNvJpegSetUp")(&given);
}
inline int64_t NvJpegCalls() { return FromNvJpeg<decltype(TestNvJpegCalls)>("TestNvJpegCalls")(); }
inline int64_t NvJpegImages() { return FromNvJpeg<decltype(TestNvJpegImages)>("TestNvJpegImages")(); }
// One line each.
inline std::string NvJpegFindings() {
  const auto find = FromNvJpeg<decltype(TestNvJpegFindings)>("TestNvJpegFindings");
  std::string text(find(nullptr, 0) + 1, '\0');
  find(text.data(), text.size());
  text.pop_back();
  return text;
}

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_TESTING_LOADED_NV_JPEG_H_
