// Runs a loop compiled for the CPU it meets: a lambda marked HEADRACE_LOOP is inlined into one function per target, and
// the compiler vectorises each. Integer work and (with -ffp-contract=off) floating-point work give the same bits on
// all. Safe from any thread.
#ifndef HEADRACE_KERNELS_CPU_TARGET_H_
#define HEADRACE_KERNELS_CPU_TARGET_H_

#include <atomic>

#define HEADRACE_LOOP __attribute__((always_inline))

namespace headrace {

#if defined(__x86_64__)

// For functions that use intrinsics: GCC lowers vectors of its own before it inlines, so a HEADRACE_LOOP cannot hold
// them. Call them where HasAvx2().
#define HEADRACE_AVX2 __attribute__((target("avx2")))

inline bool CpuHasAvx2() {
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
}

// Set by tests, which show that the bits stay.
inline std::atomic<bool> avx2_is_ignored = false;

inline bool HasAvx2() { return CpuHasAvx2() && !avx2_is_ignored.load(std::memory_order_relaxed); }

namespace cpu_target_internal {
template <typename Loop, typename... Arguments>
__attribute__((target("avx2"))) void RunAvx2(const Loop& loop, Arguments... arguments) {
  loop(arguments...);
}
template <typename Loop, typename... Arguments>
void RunBaseline(const Loop& loop, Arguments... arguments) {
  loop(arguments...);
}
}  // namespace cpu_target_internal

// `loop` captures nothing; it takes pointers and numbers by value.
template <typename Loop, typename... Arguments>
void RunOnCpu(const Loop& loop, Arguments... arguments) {
  if (HasAvx2()) {
    cpu_target_internal::RunAvx2(loop, arguments...);
  } else {
    cpu_target_internal::RunBaseline(loop, arguments...);
  }
}

#else

template <typename Loop, typename... Arguments>
void RunOnCpu(const Loop& loop, Arguments... arguments) {
  loop(arguments...);
}

#endif

}  // namespace headrace

#endif  // HEADRACE_KERNELS_CPU_TARGET_H_
