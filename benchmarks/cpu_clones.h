// `HEADRACE_CPU_CLONES` compiles a loop once for CPUs with AVX2 and FMA and once for all, the usual way without
// intrinsics.
#ifndef HEADRACE_BENCHMARKS_CPU_CLONES_H_
#define HEADRACE_BENCHMARKS_CPU_CLONES_H_

// The CPU is detected before main, which is too early for ThreadSanitizer.
#ifdef __SANITIZE_THREAD__
#define HEADRACE_CPU_CLONES
#else
#define HEADRACE_CPU_CLONES __attribute__((target_clones("arch=haswell", "default"), optimize("O3")))
#endif

#endif  // HEADRACE_BENCHMARKS_CPU_CLONES_H_
