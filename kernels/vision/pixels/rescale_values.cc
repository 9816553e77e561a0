#include "kernels/vision/pixels/rescale_values.h"

#include <algorithm>

#include "core/error.h"
#include "kernels/numbers/convert.h"
#include "kernels/numbers/number.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vision/pixels/rescale_values.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headrace {
namespace HWY_NAMESPACE {
namespace {

// A plain loop for every type: compilers vectorize it well.
template <typename T>
HWY_INLINE void Loop(const T* HWY_RESTRICT source, int64_t count, float scale, float shift,
                     float* HWY_RESTRICT target) {
  for (int64_t i = 0; i < count; ++i) target[i] = static_cast<float>(source[i]) * scale + shift;
}

}  // namespace

void Rescale(const uint8_t* source, DType dtype, int64_t count, float scale, float shift, float* target) {
  VisitNumber(dtype, [&](auto type) HWY_ATTR {
    using T = typename decltype(type)::type;
    Loop(reinterpret_cast<const T*>(source), count, scale, shift, target);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace {

HWY_EXPORT(Rescale);

void RescaleValues(const uint8_t* source, DType dtype, int64_t count, float scale, float shift, float* target) {
  if (dtype != DType::kFloat16 && dtype != DType::kBFloat16) {
    return HWY_DYNAMIC_DISPATCH(Rescale)(source, dtype, count, scale, shift, target);
  }
  // Halves become floats in vectors, a part at a time that fits in the L1 cache.
  constexpr int64_t kPart = 512;
  float floats[kPart];
  for (int64_t done = 0; done < count; done += kPart) {
    const int64_t part = std::min(kPart, count - done);
    ConvertValues(source + done * 2, dtype, part, DType::kFloat32, reinterpret_cast<uint8_t*>(floats));
    HWY_DYNAMIC_DISPATCH(Rescale)
    (reinterpret_cast<const uint8_t*>(floats), DType::kFloat32, part, scale, shift, target + done);
  }
}

absl::StatusOr<std::vector<ir::ColumnType>> InferRescaled(absl::Span<const ir::ColumnType> inputs) {
  ir::ColumnType type = inputs[0];
  if (IsVariableLength(type.dtype) || !type.fields.empty()) {
    return GraphError("needs numbers; got ", ir::TypeName(type));
  }
  type.dtype = DType::kFloat32;
  return std::vector{type};
}

}  // namespace headrace
#endif  // HWY_ONCE
