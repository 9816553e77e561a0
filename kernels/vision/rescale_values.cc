#include "kernels/vision/rescale_values.h"

#include "kernels/cpu_target.h"
#include "kernels/tensor/number.h"

namespace headrace {
namespace {

template <typename T>
constexpr auto kRescale =
    [](const T* __restrict source, int64_t count, float scale, float shift, float* __restrict target) HEADRACE_LOOP {
      for (int64_t i = 0; i < count; ++i) target[i] = static_cast<float>(source[i]) * scale + shift;
    };

}  // namespace

void RescaleValues(const uint8_t* source, DType dtype, int64_t count, float scale, float shift, float* target) {
  VisitNumber(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    RunOnCpu(kRescale<T>, reinterpret_cast<const T*>(source), count, scale, shift, target);
  });
}

}  // namespace headrace
