// `VisitNumber` selects the C++ type of a DType known only at run time; its neighbours convert between types, and store
// a number given by the user.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_NUMBERS_NUMBER_H_
#define HEADRACE_KERNELS_NUMBERS_NUMBER_H_

#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "absl/status/status.h"
#include "core/dtype.h"
#include "ir/attributes.h"
#include "kernels/numbers/half.h"

namespace headrace {

template <typename T>
struct NumberType {
  using type = T;
};

// Calls `visit(NumberType<T>())` for the C++ type of a fixed-size dtype; returns false for other dtypes.
template <typename Visit>
bool VisitNumber(DType dtype, Visit visit) {
  switch (dtype) {
    case DType::kBool:
      visit(NumberType<bool>());
      return true;
    case DType::kInt8:
      visit(NumberType<int8_t>());
      return true;
    case DType::kInt16:
      visit(NumberType<int16_t>());
      return true;
    case DType::kInt32:
      visit(NumberType<int32_t>());
      return true;
    case DType::kInt64:
      visit(NumberType<int64_t>());
      return true;
    case DType::kUInt8:
      visit(NumberType<uint8_t>());
      return true;
    case DType::kUInt16:
      visit(NumberType<uint16_t>());
      return true;
    case DType::kUInt32:
      visit(NumberType<uint32_t>());
      return true;
    case DType::kUInt64:
      visit(NumberType<uint64_t>());
      return true;
    case DType::kFloat16:
      visit(NumberType<Float16>());
      return true;
    case DType::kBFloat16:
      visit(NumberType<BFloat16>());
      return true;
    case DType::kFloat32:
      visit(NumberType<float>());
      return true;
    case DType::kFloat64:
      visit(NumberType<double>());
      return true;
    case DType::kUnknown:
    case DType::kBytes:
    case DType::kString:
      return false;
  }
  return false;
}

template <typename T>
inline constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

// Integers wrap as in C and NumPy. A float that does not fit an integer type becomes the nearest value, and NaN becomes
// 0; both are undefined in C. Anything but zero is true.
template <typename To, typename From>
To ConvertNumber(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (kIsHalf<From>) {
    return ConvertNumber<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else if constexpr (kIsHalf<To>) {
    if constexpr (std::is_same_v<From, float>) return To(value);
    return To(static_cast<double>(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (value != value) return 0;
    // The limit, rounded to From, is a power of two: the first value that does not fit.
    if (value >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    if (value <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

// Writes `value` as one element. Fails with kGraph, naming `attribute`, if the dtype cannot hold it exactly (a
// floating-point dtype may round it).
absl::Status StoreNumber(std::string_view attribute, ir::Number value, DType dtype, void* target);

// Repeats one element of `item` bytes `count` times.
void RepeatElement(const void* element, size_t item, int64_t count, void* target);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_NUMBERS_NUMBER_H_
