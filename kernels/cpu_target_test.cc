// What a kernel computes must not depend on the CPU: each is run with and without the vectors of this one.
#include "kernels/cpu_target.h"

#include <vector>

#include "gtest/gtest.h"
#include "kernels/fixture/golden.h"
#include "kernels/fixture/run_kernel.h"

namespace headrace {
namespace {

#if defined(__x86_64__)

using fixture::Floats;
using fixture::Golden;
using fixture::Ints;

void ExpectSameBits(std::string_view kernel, const fixture::Given& given, const Tensor& input) {
  const Tensor with = *fixture::RunKernel(kernel, given, input);
  avx2_is_ignored = true;
  const Tensor without = *fixture::RunKernel(kernel, given, input);
  avx2_is_ignored = false;
  EXPECT_TRUE(TensorsEqual(with, without)) << kernel << " of " << input.TypeName();
}

TEST(CpuTarget, LeavesTheBitsOfEveryKernelWithLoopsOfItsOwn) {
  if (!CpuHasAvx2()) GTEST_SKIP() << "this CPU has no AVX2";
  for (const Tensor& image : {Golden("source"), Golden("source.float32"), Golden("pad.source")}) {
    for (const char* interpolation : {"bilinear", "bicubic", "area"}) {
      for (const auto& [height, width] : {std::pair{23, 31}, {97, 111}, {40, 100}, {5, 80}}) {
        ExpectSameBits("Resize", {{"size", Ints({height, width})}, {"interpolation", ir::StringValue(interpolation)}},
                       image);
      }
    }
    ExpectSameBits("RandomHorizontalFlip", {{"p", ir::FloatValue(1)}}, image);
    ExpectSameBits("Normalize", {{"mean", Floats({1.5, 20.25, 3})}, {"std", Floats({57.1, 0.3, 11})}}, image);
    ExpectSameBits("Rescale", {{"scale", ir::FloatValue(0.37)}, {"shift", ir::FloatValue(0.11)}}, image);
    ExpectSameBits("HWC2CHW", {}, image);
    for (const char* dtype : {"float16", "bfloat16", "int32", "uint8", "float64", "bool"}) {
      ExpectSameBits("TypeCast", {{"dtype", ir::StringValue(dtype)}}, image);
    }
  }
  for (const char* name : {"cast.float32", "cast.float64", "cast.int64"}) {
    for (const char* dtype : {"float16", "bfloat16", "int32", "uint8", "float32", "int64", "uint64"}) {
      ExpectSameBits("TypeCast", {{"dtype", ir::StringValue(dtype)}}, Golden(name));
    }
  }
}

#endif

}  // namespace
}  // namespace headrace
