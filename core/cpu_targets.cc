#include "core/cpu_targets.h"

#include <cpuid.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "core/text.h"
#include "hwy/targets.h"

namespace headrace {
namespace {

constexpr uint32_t Bits() { return 0; }
template <typename... More>
constexpr uint32_t Bits(int first, More... more) {
  return uint32_t{1} << first | Bits(more...);
}

// Bits of XCR0: XMM, the upper halves of YMM, and the three parts of AVX-512's registers.
constexpr uint32_t kXmm = Bits(1);
constexpr uint32_t kYmm = kXmm | Bits(2);
constexpr uint32_t kZmm = kYmm | Bits(5, 6, 7);
// Of leaf 1: the operating system lets programs use xgetbv.
constexpr uint32_t kXgetbv = Bits(27);

// What code compiled for a target may use, as hwy/ops/set_macros-inl.h says it to the compiler.
struct Requirement {
  int64_t target;
  CpuFeatures features;
};
constexpr uint32_t kSse3Ecx = Bits(0, 9);
constexpr uint32_t kSseEdx = Bits(25, 26);
constexpr uint32_t kSse4Ecx = kSse3Ecx | Bits(1, 19, 20, 25);         // and PCLMUL, AES
constexpr uint32_t kAvx2Ecx = kSse4Ecx | Bits(12, 28, 29) | kXgetbv;  // FMA, AVX, F16C
constexpr uint32_t kAvx2Ebx = Bits(3, 5, 8);                          // BMI, AVX2, BMI2
constexpr uint32_t kLzcnt = Bits(5);
constexpr uint32_t kAvx3Ebx = kAvx2Ebx | Bits(16, 17, 30, 31);  // AVX-512 F, DQ, BW, VL
// AVX-512 VBMI, VBMI2, VAES, VPCLMULQDQ, VNNI, BITALG, VPOPCNTDQ.
constexpr uint32_t kAvx3DlEcx = Bits(1, 6, 9, 10, 11, 12, 14);
constexpr Requirement kRequirements[] = {
    {HWY_SSSE3, {kSse3Ecx, kSseEdx, 0, 0, 0, kXmm}},
    {HWY_SSE4, {kSse4Ecx, kSseEdx, 0, 0, 0, kXmm}},
    {HWY_AVX2, {kAvx2Ecx, kSseEdx, kAvx2Ebx, 0, kLzcnt, kYmm}},
    {HWY_AVX3, {kAvx2Ecx, kSseEdx, kAvx3Ebx, 0, kLzcnt, kZmm}},
    {HWY_AVX3_DL, {kAvx2Ecx, kSseEdx, kAvx3Ebx, kAvx3DlEcx, kLzcnt, kZmm}},
};

bool Has(uint32_t given, uint32_t needed) { return (given & needed) == needed; }

bool HasAll(const CpuFeatures& given, const CpuFeatures& needed) {
  return Has(given.leaf_1_ecx, needed.leaf_1_ecx) && Has(given.leaf_1_edx, needed.leaf_1_edx) &&
         Has(given.leaf_7_ebx, needed.leaf_7_ebx) && Has(given.leaf_7_ecx, needed.leaf_7_ecx) &&
         Has(given.leaf_80000001_ecx, needed.leaf_80000001_ecx) && Has(given.saved_registers, needed.saved_registers);
}

// Those that tests ask for; 0: all that the CPU has.
std::atomic<int64_t> tested_targets{0};

}  // namespace

CpuFeatures FeaturesOfCpu() {
  CpuFeatures features;
  uint32_t unused = 0;
  uint32_t also_unused = 0;
  __get_cpuid(1, &unused, &also_unused, &features.leaf_1_ecx, &features.leaf_1_edx);
  __get_cpuid_count(7, 0, &unused, &features.leaf_7_ebx, &features.leaf_7_ecx, &also_unused);
  __get_cpuid(0x80000001, &unused, &also_unused, &features.leaf_80000001_ecx, &also_unused);
  // Where xgetbv is missing, XMM is saved in the way of 1999.
  features.saved_registers = kXmm;
  if (Has(features.leaf_1_ecx, kXgetbv)) {
    uint32_t upper = 0;
    __asm__("xgetbv" : "=a"(features.saved_registers), "=d"(upper) : "c"(0));
  }
  return features;
}

int64_t TargetsOf(const CpuFeatures& features) {
  int64_t targets = HWY_SCALAR | HWY_EMU128;
  for (const Requirement& each : kRequirements) {
    if (HasAll(features, each.features)) targets |= each.target;
  }
  return targets;
}

std::vector<std::string> NamesOfCpuTargets() {
  std::vector<std::string> names;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) names.emplace_back(hwy::TargetName(target));
  return names;
}

}  // namespace headrace

namespace hwy {

int64_t SupportedTargets() {
  const int64_t tested = headrace::tested_targets.load(std::memory_order_relaxed);
  return tested != 0 ? tested : headrace::TargetsOf(headrace::FeaturesOfCpu());
}

void SetSupportedTargetsForTest(int64_t targets) {
  headrace::tested_targets.store(targets, std::memory_order_relaxed);
  // The next loop chooses again.
  GetChosenTarget().DeInit();
}

ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

// Of HWY_ASSERT, which unoptimized builds and sanitizers check; the line says what was expected.
void Abort(const char* file, int line, const char* /*format*/, ...) {
  std::fputs(headrace::Cat(file, ":", line, ": a condition of Highway's does not hold\n").c_str(), stderr);
  std::abort();
}

}  // namespace hwy
