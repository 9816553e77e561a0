#include "kernels/tensor/convert.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/cpu_target.h"
#include "kernels/tensor/number.h"

namespace headrace {
namespace {

template <typename To, typename From>
constexpr auto kConvert = [](const From* __restrict source, int64_t count, To* __restrict target) HEADRACE_LOOP {
  for (int64_t i = 0; i < count; ++i) target[i] = ConvertNumber<To>(source[i]);
};

// The type that holds every value of T: conversions go through it, so that there are three loops a type and not one
// for each pair of types.
template <typename T>
using WideOf = std::conditional_t<kIsHalf<T> || std::is_floating_point_v<T>, double,
                                  std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>>;

constexpr int64_t kBlock = 512;  // elements that stay in the first cache

template <typename Wide>
void StoreBlock(const Wide* wide, int64_t count, DType dtype, uint8_t* target) {
  VisitNumber(dtype, [&](auto to) {
    using To = typename decltype(to)::type;
    RunOnCpu(kConvert<To, Wide>, wide, count, reinterpret_cast<To*>(target));
  });
}

template <typename From>
void Convert(const From* source, int64_t count, DType dtype, uint8_t* target) {
  WideOf<From> wide[kBlock];
  for (int64_t done = 0; done < count; done += kBlock) {
    const int64_t size = std::min(kBlock, count - done);
    RunOnCpu(kConvert<WideOf<From>, From>, source + done, size, wide);
    StoreBlock(wide, size, dtype, target + done * static_cast<int64_t>(ItemSize(dtype)));
  }
}

}  // namespace

void ConvertValues(const uint8_t* source, DType from, int64_t count, DType to, uint8_t* target) {
  if (from == to) {
    std::memcpy(target, source, static_cast<size_t>(count) * ItemSize(to));
    return;
  }
  if (from == DType::kUInt8 && to == DType::kFloat32) {
    // Takes the one way that every picture goes at once.
    RunOnCpu(kConvert<float, uint8_t>, source, count, reinterpret_cast<float*>(target));
    return;
  }
  VisitNumber(from, [&](auto type) {
    using From = typename decltype(type)::type;
    Convert(reinterpret_cast<const From*>(source), count, to, target);
  });
}

}  // namespace headrace
