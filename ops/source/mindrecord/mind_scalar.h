// `ConvertScalar` makes a number of a field's type from the form in which MessagePack holds it. A value goes in as it
// is, or not at all: only float32 rounds, as the numbers of such fields are written as they were given.
// Threads: a pure function.
#ifndef HEADRACE_OPS_SOURCE_MINDRECORD_MIND_SCALAR_H_
#define HEADRACE_OPS_SOURCE_MINDRECORD_MIND_SCALAR_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "core/text.h"
#include "io/formats/mindrecord/msg_pack.h"

namespace headrace {

template <typename T>
bool RealToWhole(double real, T& target) {
  // Both ends are powers of two, which a double holds.
  constexpr auto kLeast = static_cast<double>(std::numeric_limits<T>::min());
  if (!(real >= kLeast && real < -kLeast) || real != std::trunc(real)) return false;
  target = static_cast<T>(real);
  return true;
}

template <typename T>
bool RealToReal(double real, T& target) {
  if (std::isfinite(real) && std::abs(real) > static_cast<double>(std::numeric_limits<T>::max())) return false;
  target = static_cast<T>(real);
  return true;
}

// False: T does not hold the value.
template <typename T>
bool ConvertWhole(const MsgPackValue& value, T& target) {
  if (value.kind == MsgPackValue::Kind::kNegative) {
    const auto whole = static_cast<int64_t>(value.whole);
    target = static_cast<T>(whole);
    return static_cast<int64_t>(target) == whole;
  }
  target = static_cast<T>(value.whole);
  if constexpr (std::is_integral_v<T>) {
    return value.whole <= static_cast<uint64_t>(std::numeric_limits<T>::max());
  } else {
    // The next power of two, which 64 bits cannot hold.
    return static_cast<double>(target) < 18446744073709551616.0 && static_cast<uint64_t>(target) == value.whole;
  }
}

template <typename T>
bool ConvertReal(double real, T& target) {
  if constexpr (std::is_integral_v<T>) {
    return RealToWhole(real, target);
  } else {
    return RealToReal(real, target);
  }
}

// False: T does not hold the value, or it is no number.
template <typename T>
bool ConvertScalar(const MsgPackValue& value, T& target) {
  using Kind = MsgPackValue::Kind;
  switch (value.kind) {
    case Kind::kUnsigned:
    case Kind::kNegative:
      return ConvertWhole(value, target);
    case Kind::kFloat32:
      return ConvertReal(static_cast<double>(value.real32), target);
    case Kind::kFloat64:
      return ConvertReal(value.real64, target);
    case Kind::kText:
    case Kind::kOther:
      return false;
  }
  return false;
}

// For messages.
inline std::string ShownScalar(const MsgPackValue& value) {
  using Kind = MsgPackValue::Kind;
  switch (value.kind) {
    case Kind::kUnsigned:
      return Cat(value.whole);
    case Kind::kNegative:
      return Cat(static_cast<int64_t>(value.whole));
    case Kind::kFloat32:
      return Cat(value.real32);
    case Kind::kFloat64:
      return Cat(value.real64);
    case Kind::kText:
      return "a text";
    case Kind::kOther:
      return "neither a number nor a text";
  }
  return "";
}

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_MINDRECORD_MIND_SCALAR_H_
