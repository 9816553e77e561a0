// Delays each open and each read of a file by the engine, as a slow disk does. Loaded by LD_PRELOAD; SLOW_FILES_OPEN_US
// and SLOW_FILES_READ_US are the microseconds. Calls from other libraries (Python, NumPy), folders and files that are
// opened for writing are not delayed.
//
// Threads: any thread; a delayed call sleeps on its own.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

namespace {

long MicrosecondsOf(const char* variable) {
  const char* value = getenv(variable);
  return value == nullptr ? 0 : atol(value);
}

bool FromEngine(const void* caller) {
  Dl_info info;
  return dladdr(caller, &info) != 0 && info.dli_fname != nullptr && strstr(info.dli_fname, "_engine.") != nullptr;
}

void Delay(long microseconds, const void* caller) {
  if (microseconds == 0 || !FromEngine(caller)) return;
  timespec left = {microseconds / 1'000'000, microseconds % 1'000'000 * 1'000};
  while (nanosleep(&left, &left) != 0) {
  }
}

void DelayOpen(int flags, const void* caller) {
  static const long microseconds = MicrosecondsOf("SLOW_FILES_OPEN_US");
  if ((flags & O_ACCMODE) == O_RDONLY && (flags & O_DIRECTORY) == 0) Delay(microseconds, caller);
}

void DelayRead(const void* caller) {
  static const long microseconds = MicrosecondsOf("SLOW_FILES_READ_US");
  Delay(microseconds, caller);
}

template <typename Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define CALLER __builtin_return_address(0)

#define OPEN_CALL(name)                                                                  \
  int name(const char* path, int flags, ...) {                                           \
    DelayOpen(flags, CALLER);                                                            \
    va_list rest;                                                                        \
    va_start(rest, flags);                                                               \
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                                        \
    static const auto next = Next<int (*)(const char*, int, ...)>(#name);                \
    return next(path, flags, mode);                                                      \
  }

#define READ_CALL(name, offset_type)                                                    \
  ssize_t name(int file, void* target, size_t size, offset_type offset) {               \
    DelayRead(CALLER);                                                                  \
    static const auto next = Next<ssize_t (*)(int, void*, size_t, offset_type)>(#name); \
    return next(file, target, size, offset);                                            \
  }

extern "C" {

OPEN_CALL(open)
OPEN_CALL(open64)
READ_CALL(pread, off_t)
READ_CALL(pread64, off64_t)

}  // extern "C"
