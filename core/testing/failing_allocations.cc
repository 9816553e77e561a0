#include "core/testing/failing_allocations.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

constexpr int64_t kNone = -1;
// Counts down with each allocation; the one that finds 0 fails.
constinit std::atomic<int64_t> allocations_left{kNone};

constexpr int kDeepest = 48;
void* frames[kDeepest];
int depth = 0;

// How a process ends where memory is used that there is not. Sanitizers report the last two themselves.
#ifdef HEADRACE_SANITIZER
constexpr int kSignals[] = {SIGABRT};
#else
constexpr int kSignals[] = {SIGABRT, SIGSEGV, SIGBUS};
#endif
char which[64];

bool Fails() {
  if (allocations_left.load(std::memory_order_relaxed) < 0) return false;
  if (allocations_left.fetch_sub(1, std::memory_order_relaxed) != 0) return false;
  depth = backtrace(frames, kDeepest);
  errno = ENOMEM;
  return true;
}

// Says which allocation had failed, for addr2line, and how that ended the process.
void SayWhere(int signal) {
  [[maybe_unused]] ssize_t ignored = write(STDERR_FILENO, which, std::strlen(which));
  backtrace_symbols_fd(frames, depth, STDERR_FILENO);
  static constexpr char kEnd[] = "the end of the process:\n";
  ignored = write(STDERR_FILENO, kEnd, sizeof(kEnd) - 1);
  void* here[kDeepest];
  backtrace_symbols_fd(here, backtrace(here, kDeepest), STDERR_FILENO);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

}  // namespace

#ifdef __SANITIZE_ADDRESS__
// Messages for which there is no memory are lost.
extern "C" const char* __lsan_default_suppressions() { return "leak:google::protobuf\n"; }
#endif

#ifdef HEADRACE_SANITIZER

void* operator new(size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return Fails() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(size_t bytes) {
  void* const memory = operator new(bytes, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t /*bytes*/) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept { std::free(memory); }

#else

namespace {

// glibc ends the process where it lacks the memory to register the destructor of a thread's variable; no caller can
// prevent that.
struct Range {
  uintptr_t begin = 0, end = 0;
};
constinit Range registers_destructors;

Range RangeOf(void* function) {
  Dl_info info;
  void* symbol = nullptr;
  if (function == nullptr || dladdr1(function, &info, &symbol, RTLD_DL_SYMENT) == 0 || symbol == nullptr) return {};
  const auto begin = reinterpret_cast<uintptr_t>(function);
  return {begin, begin + static_cast<const ElfW(Sym)*>(symbol)->st_size};
}

bool Fails(const void* caller) {
  const auto at = reinterpret_cast<uintptr_t>(caller);
  return (at < registers_destructors.begin || at >= registers_destructors.end) && Fails();
}

}  // namespace

#define FAILS Fails(__builtin_return_address(0))

extern "C" {

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) { return FAILS ? nullptr : __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) { return FAILS ? nullptr : __libc_calloc(count, bytes); }
void* realloc(void* memory, size_t bytes) { return FAILS ? nullptr : __libc_realloc(memory, bytes); }
void* memalign(size_t alignment, size_t bytes) { return FAILS ? nullptr : __libc_memalign(alignment, bytes); }
void* aligned_alloc(size_t alignment, size_t bytes) { return FAILS ? nullptr : __libc_memalign(alignment, bytes); }
int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  void* const made = FAILS ? nullptr : __libc_memalign(alignment, bytes);
  if (made == nullptr) return ENOMEM;
  *memory = made;
  return 0;
}

}  // extern "C"

#undef FAILS

#endif

namespace headrace {
namespace {

// What is allocated at the first use of it.
[[maybe_unused]] const bool prepared = [] {
  backtrace(frames, kDeepest);
#ifndef HEADRACE_SANITIZER
  registers_destructors = RangeOf(dlsym(RTLD_DEFAULT, "__cxa_thread_atexit_impl"));
#endif
  return true;
}();

}  // namespace

FailingAllocation::FailingAllocation(int64_t point) {
  depth = 0;
  std::snprintf(which, sizeof(which), "the allocation that failed, number %lld:\n", static_cast<long long>(point));
  for (const int signal : kSignals) std::signal(signal, SayWhere);
  allocations_left.store(point);
}

bool FailingAllocation::End() {
  const bool failed = allocations_left.exchange(kNone) < 0;
  for (const int signal : kSignals) std::signal(signal, SIG_DFL);
  return failed;
}

}  // namespace headrace
