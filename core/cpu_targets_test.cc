#include "core/cpu_targets.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "core/testing/dispatched_target.h"
#include "hwy/targets.h"

namespace headrace {
namespace {

constexpr int64_t kWithoutVectors = HWY_SCALAR | HWY_EMU128;
constexpr int64_t kAll = kWithoutVectors | HWY_SSSE3 | HWY_SSE4 | HWY_AVX2 | HWY_AVX3 | HWY_AVX3_DL;
constexpr uint32_t kEverything = 0xFFFFFFFF;

CpuFeatures EveryFeature() { return {kEverything, kEverything, kEverything, kEverything, kEverything, kEverything}; }

int64_t Best(int64_t targets) { return targets & -targets; }

TEST(CpuTargets, AreThoseWhoseEveryFeatureIsThere) {
  EXPECT_EQ(TargetsOf({}), kWithoutVectors);
  EXPECT_EQ(TargetsOf(EveryFeature()), kAll);
  CpuFeatures without_avx2 = EveryFeature();
  without_avx2.leaf_7_ebx &= ~(1U << 5);
  EXPECT_EQ(TargetsOf(without_avx2), kWithoutVectors | HWY_SSSE3 | HWY_SSE4);
  CpuFeatures without_lzcnt = EveryFeature();
  without_lzcnt.leaf_80000001_ecx = 0;
  EXPECT_EQ(TargetsOf(without_lzcnt), kWithoutVectors | HWY_SSSE3 | HWY_SSE4);
  CpuFeatures without_aes = EveryFeature();
  without_aes.leaf_1_ecx &= ~(1U << 25);
  EXPECT_EQ(TargetsOf(without_aes), kWithoutVectors | HWY_SSSE3);
  CpuFeatures without_vnni = EveryFeature();
  without_vnni.leaf_7_ecx &= ~(1U << 11);
  EXPECT_EQ(TargetsOf(without_vnni), kAll & ~HWY_AVX3_DL);
}

TEST(CpuTargets, UseNoRegistersThatTheSystemDoesNotSave) {
  CpuFeatures features = EveryFeature();
  features.saved_registers = 0xE7 & ~0x80U;
  EXPECT_EQ(TargetsOf(features), kAll & ~(HWY_AVX3 | HWY_AVX3_DL));
  features.saved_registers = 0x2;
  EXPECT_EQ(TargetsOf(features), kWithoutVectors | HWY_SSSE3 | HWY_SSE4);
  features.saved_registers = 0;
  EXPECT_EQ(TargetsOf(features), kWithoutVectors);
  features = EveryFeature();
  features.leaf_1_ecx &= ~(1U << 27);
  EXPECT_EQ(TargetsOf(features), kWithoutVectors | HWY_SSSE3 | HWY_SSE4);
}

TEST(CpuTargets, AreThoseOfThisCpu) {
  const int64_t targets = hwy::SupportedTargets();
  EXPECT_EQ(targets, TargetsOf(FeaturesOfCpu()));
  EXPECT_EQ((targets & HWY_SSSE3) != 0, __builtin_cpu_supports("ssse3") != 0);
  EXPECT_EQ((targets & HWY_SSE4) != 0,
            __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul"));
  EXPECT_EQ((targets & HWY_AVX2) != 0,
            __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"));
  EXPECT_EQ((targets & HWY_AVX3) != 0, __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                                           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"));
}

TEST(CpuTargets, AreChosenByTests) {
  const std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  ASSERT_GT(targets.size(), 1U);
  for (const int64_t target : targets) {
    hwy::SetSupportedTargetsForTest(target);
    EXPECT_EQ(hwy::SupportedTargets(), target);
    EXPECT_EQ(DispatchedTarget(), target) << hwy::TargetName(target);
  }
  hwy::SetSupportedTargetsForTest(0);
  EXPECT_EQ(DispatchedTarget(), Best(hwy::SupportedTargets() & HWY_TARGETS));
}

TEST(CpuTargets, AreNamedTheOneInUseFirst) {
  hwy::SetSupportedTargetsForTest(0);
  const std::vector<std::string> names = NamesOfCpuTargets();
  ASSERT_EQ(names.size(), hwy::SupportedAndGeneratedTargets().size());
  EXPECT_EQ(names.front(), hwy::TargetName(DispatchedTarget()));
}

TEST(CpuTargets, AreTheSameOnEveryThread) {
  hwy::SetSupportedTargetsForTest(0);
  std::vector<int64_t> found(8);
  std::vector<std::thread> threads;
  for (int64_t& each : found) threads.emplace_back([&each] { each = DispatchedTarget(); });
  for (std::thread& thread : threads) thread.join();
  for (const int64_t each : found) EXPECT_EQ(each, Best(hwy::SupportedTargets() & HWY_TARGETS));
}

TEST(CpuTargetsDeathTest, NameTheLineWhoseConditionDoesNotHold) {
  EXPECT_DEATH(hwy::Abort("loop.cc", 7, "Assert %s", "n > 0"), "loop.cc:7: a condition of Highway's does not hold");
}

}  // namespace
}  // namespace headrace
