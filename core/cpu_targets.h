// `TargetsOf` says which of Highway's targets a CPU runs. Its source defines the functions that Highway's headers call,
// which choose among the loops compiled for each target, so that Highway's library is not needed: that one measures its
// timer for milliseconds whenever it is loaded.
// Threads: any thread; `hwy::SetSupportedTargetsForTest` only while no other thread runs such a loop.
#ifndef HEADRACE_CORE_CPU_TARGETS_H_
#define HEADRACE_CORE_CPU_TARGETS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace headrace {

// What the instructions cpuid and xgetbv say.
struct CpuFeatures {
  uint32_t leaf_1_ecx = 0;
  uint32_t leaf_1_edx = 0;
  uint32_t leaf_7_ebx = 0;
  uint32_t leaf_7_ecx = 0;
  uint32_t leaf_80000001_ecx = 0;
  uint32_t saved_registers = 0;  // XCR0: those that the operating system saves for each thread
};

CpuFeatures FeaturesOfCpu();

// A mask of HWY_AVX2 and so on (hwy/detect_targets.h). The targets without vectors are always in it.
int64_t TargetsOf(const CpuFeatures& features);

// Of those that loops are compiled for and this CPU runs, the one that is used first: {"AVX2", "SSE4", …}.
std::vector<std::string> NamesOfCpuTargets();

}  // namespace headrace

#endif  // HEADRACE_CORE_CPU_TARGETS_H_
