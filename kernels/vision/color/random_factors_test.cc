// Tests RandomColor and RandomSharpness.
#include <string>
#include <utility>

#include "core/error.h"
#include "core/philox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Floats;
using fixture::Golden;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

constexpr std::pair<const char*, const char*> kKernels[] = {{"RandomColor", "AdjustSaturation"},
                                                            {"RandomSharpness", "AdjustSharpness"}};

TEST(RandomFactors, AreThoseOfTheFixedKernel) {
  const Tensor source = Golden("source");
  for (const auto& [kernel, fixed] : kKernels) {
    for (uint64_t row = 0; row < 20; ++row) {
      const RowRandom random(3, 0, {.key = row});
      const double factor = RowRandom(random).Uniform(0.2, 2.5);
      EXPECT_TRUE(TensorsEqual(*RunKernel(kernel, {{"degrees", Floats({0.2, 2.5})}}, {source}, random),
                               *RunKernel(fixed, {{"factor", ir::FloatValue(factor)}}, source)))
          << kernel << row;
    }
  }
}

TEST(RandomFactors, RefuseWhatDoesNotFit) {
  const Tensor source = Golden("source");
  for (const auto& [kernel, fixed] : kKernels) {
    EXPECT_THAT(MessageOf(RunKernel(kernel, {{"degrees", Floats({1.5, 0.5})}}, source)), HasSubstr("degrees"));
    EXPECT_THAT(MessageOf(RunKernel(kernel, {}, source.Slice(2, 0, 2))), HasSubstr("channel"));
  }
}

}  // namespace
}  // namespace headrace
