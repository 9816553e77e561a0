// `Float16` and `BFloat16` are the two 16-bit floating-point types as plain values that convert from and to float and
// double, rounding to the nearest even as NumPy does.
#ifndef HEADRACE_KERNELS_NUMBERS_HALF_H_
#define HEADRACE_KERNELS_NUMBERS_HALF_H_

#include <bit>
#include <cmath>
#include <cstdint>

namespace headrace {

namespace half_internal {

// Rounds to float such that a second rounding to fewer bits gives the same as a single rounding: inexact results get an
// odd last bit ("round to odd", Boldo and Melquiond 2008).
inline float ToOdd(double value) {
  const float nearest = static_cast<float>(value);
  if (!std::isfinite(nearest) || static_cast<double>(nearest) == value) return nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(value)) --bits;
  return std::bit_cast<float>(bits | 1);
}

inline uint16_t HalfBits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);   // not a number
  if (magnitude >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);  // rounds beyond 65504: infinity
  if (magnitude < 0x38800000) {
    // Adds a number whose last bit is the smallest half's, so that the hardware rounds at that bit.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000));
  }
  const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000) >> 13));
}

inline float HalfValue(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t magnitude = bits & 0x7fff;
  if (magnitude >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  if (magnitude >= 0x400) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000));
  const float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(subnormal));
}

inline uint16_t BFloatBits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace half_internal

struct Float16 {
  uint16_t bits = 0;
  Float16() = default;
  explicit Float16(float value) : bits(half_internal::HalfBits(value)) {}
  explicit Float16(double value) : bits(half_internal::HalfBits(half_internal::ToOdd(value))) {}
  explicit operator float() const { return half_internal::HalfValue(bits); }
};

struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value) : bits(half_internal::BFloatBits(value)) {}
  explicit BFloat16(double value) : bits(half_internal::BFloatBits(half_internal::ToOdd(value))) {}
  explicit operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_NUMBERS_HALF_H_
