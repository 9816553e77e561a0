// Makes one call of the engine into the C library fail: the n-th start of a thread, or the n-th operation on a file,
// since it was armed; or kills the process before that operation. Loaded by LD_PRELOAD; calls from other libraries
// (Python, NumPy) go through untouched.
//
// Threads: Arm and Disarm from one thread, while others call into the library as they like.
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>

namespace {

enum Kind { kThread, kFile };

struct Range {
  uintptr_t begin, end;
};

// In place of an error.
constexpr int kKill = -1;
constexpr int kMostRanges = 64;
constexpr int kDeepest = 48;
Range ranges[kMostRanges];
int range_count = 0;

std::atomic<bool> armed{false};
std::atomic<int> armed_kind{0};
std::atomic<int64_t> seen{0};
std::atomic<int64_t> failing{0};
std::atomic<int> file_error{EIO};
std::atomic<bool> failed{false};
std::atomic<int> depth{0};
void* frames[kDeepest];

// What runs for the engine: its module, and libstdc++, which starts its threads.
bool IsEngine(const char* name) { return strstr(name, "_engine.") != nullptr || strstr(name, "libstdc++") != nullptr; }

int AddRanges(dl_phdr_info* info, size_t, void*) {
  if (!IsEngine(info->dlpi_name)) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) & segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 || range_count == kMostRanges) continue;
    const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    ranges[range_count++] = {begin, begin + segment.p_memsz};
  }
  return 0;
}

bool FromEngine(const void* caller) {
  const auto address = reinterpret_cast<uintptr_t>(caller);
  for (int i = 0; i < range_count; ++i) {
    if (address >= ranges[i].begin && address < ranges[i].end) return true;
  }
  return false;
}

bool Fails(Kind kind, const void* caller) {
  if (!armed.load(std::memory_order_relaxed) || armed_kind.load(std::memory_order_relaxed) != kind) return false;
  if (!FromEngine(caller)) return false;
  if (seen.fetch_add(1) + 1 != failing.load(std::memory_order_relaxed)) return false;
  if (kind == kFile && file_error == kKill) kill(getpid(), SIGKILL);
  failed = true;
  depth = backtrace(frames, kDeepest);
  return true;
}

void Arm(Kind kind, int64_t n) {
  range_count = 0;
  dl_iterate_phdr(AddRanges, nullptr);
  armed_kind = kind;
  failing = n;
  seen = 0;
  failed = false;
  armed = true;
}

template <typename Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define CALLER __builtin_return_address(0)

extern "C" {

// The n-th start of a thread from now fails, once; 0: none does, they are counted.
void FailingCallsArmThreads(int64_t n) { Arm(kThread, n); }

// The same for operations on files, with this error; -1: the process is killed before the operation.
void FailingCallsArmFiles(int64_t n, int error) {
  file_error = error;
  Arm(kFile, n);
}

// How many calls of the kind there were since it was armed.
int64_t FailingCallsDisarm() {
  armed = false;
  return seen;
}

int FailingCallsHit() { return failed; }

// Writes where the call failed to standard error.
void FailingCallsWhere() { backtrace_symbols_fd(frames, depth, 2); }

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  if (Fails(kThread, CALLER)) return EAGAIN;
  static const auto next = Next<decltype(&pthread_create)>("pthread_create");
  return next(thread, attributes, start, argument);
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) {
  if (file >= 0 && Fails(kFile, CALLER)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  static const auto next = Next<decltype(&mmap)>("mmap");
  return next(address, size, protection, flags, file, offset);
}

#define FILE_CALL(result, error, name, declaration, arguments)   \
  result name declaration {                                      \
    if (Fails(kFile, CALLER)) {                                  \
      errno = file_error;                                        \
      return error;                                              \
    }                                                            \
    static const auto next = Next<result(*) declaration>(#name); \
    return next arguments;                                       \
  }

FILE_CALL(ssize_t, -1, read, (int file, void* target, size_t size), (file, target, size))
FILE_CALL(ssize_t, -1, pread, (int file, void* target, size_t size, off_t offset), (file, target, size, offset))
FILE_CALL(ssize_t, -1, pread64, (int file, void* target, size_t size, off64_t offset), (file, target, size, offset))
FILE_CALL(ssize_t, -1, write, (int file, const void* source, size_t size), (file, source, size))
FILE_CALL(ssize_t, -1, pwrite, (int file, const void* source, size_t size, off_t offset), (file, source, size, offset))
FILE_CALL(int, -1, fstat, (int file, struct stat* found), (file, found))
FILE_CALL(int, -1, stat, (const char* path, struct stat* found), (path, found))
FILE_CALL(int, -1, lstat, (const char* path, struct stat* found), (path, found))
FILE_CALL(int, -1, fstatat, (int folder, const char* path, struct stat* found, int flags), (folder, path, found, flags))
FILE_CALL(int, -1, fsync, (int file), (file))
FILE_CALL(int, -1, fdatasync, (int file), (file))
FILE_CALL(int, -1, ftruncate, (int file, off_t size), (file, size))
FILE_CALL(int, -1, flock, (int file, int operation), (file, operation))
FILE_CALL(int, -1, rename, (const char* from, const char* to), (from, to))
FILE_CALL(int, -1, mkdir, (const char* path, mode_t mode), (path, mode))
FILE_CALL(int, -1, unlink, (const char* path), (path))
FILE_CALL(off_t, -1, lseek, (int file, off_t offset, int whence), (file, offset, whence))
FILE_CALL(DIR*, nullptr, opendir, (const char* path), (path))
FILE_CALL(DIR*, nullptr, fdopendir, (int file), (file))
FILE_CALL(dirent*, nullptr, readdir, (DIR * folder), (folder))
FILE_CALL(dirent64*, nullptr, readdir64, (DIR * folder), (folder))

#define OPEN_CALL(name, declaration, arguments_with_mode)                                \
  int name declaration {                                                                 \
    if (Fails(kFile, CALLER)) {                                                          \
      errno = file_error;                                                                \
      return -1;                                                                         \
    }                                                                                    \
    va_list rest;                                                                        \
    va_start(rest, flags);                                                               \
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                                        \
    static const auto next = Next<int(*) declaration>(#name);                            \
    return next arguments_with_mode;                                                     \
  }

OPEN_CALL(open, (const char* path, int flags, ...), (path, flags, mode))
OPEN_CALL(open64, (const char* path, int flags, ...), (path, flags, mode))
OPEN_CALL(openat, (int folder, const char* path, int flags, ...), (folder, path, flags, mode))
OPEN_CALL(openat64, (int folder, const char* path, int flags, ...), (folder, path, flags, mode))

}  // extern "C"

// Says which call had failed when the process aborts of it, and who aborts.
static void SayWhere(int) {
  FailingCallsWhere();
  void* here[kDeepest];
  write(2, "aborted by\n", 11);
  backtrace_symbols_fd(here, backtrace(here, kDeepest), 2);
  _exit(134);
}

// Loads what `backtrace` needs before a call can fail.
__attribute__((constructor)) static void Prepare() {
  backtrace(frames, kDeepest);
  signal(SIGABRT, SayWhere);
}
