#include "core/philox.h"

#include <cmath>
#include <numbers>

namespace headrace {

uint64_t RowRandom::Below(uint64_t bound) {
  // Rejects the few values that would make the low results more likely.
  while (true) {
    const unsigned __int128 product = static_cast<unsigned __int128>(Next64()) * bound;
    const uint64_t low = static_cast<uint64_t>(product);
    if (low >= bound || low >= -bound % bound) return static_cast<uint64_t>(product >> 64);
  }
}

double RowRandom::Normal() {
  const double radius = std::sqrt(-2.0 * std::log1p(-Uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * Uniform());
}

}  // namespace headrace
