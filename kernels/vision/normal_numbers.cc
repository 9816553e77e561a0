#include "kernels/vision/normal_numbers.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

namespace headrace {
namespace {

// Of a positive normal number, to 13 digits: the exponent, and a series for the rest, which is in [√½, √2).
double Log(double x) {
  constexpr uint64_t kRootOfHalf = 0x3FE6A09E667F3BCD;
  const auto bits = std::bit_cast<uint64_t>(x);
  const int64_t exponent = static_cast<int64_t>(bits - kRootOfHalf) >> 52;
  const auto rest = std::bit_cast<double>(bits - (static_cast<uint64_t>(exponent) << 52));
  const double s = (rest - 1) / (rest + 1);
  const double z = s * s;
  double series = 1.0 / 15;
  for (const double term : {1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1.0}) series = series * z + term;
  return static_cast<double>(exponent) * std::numbers::ln2 + 2 * s * series;
}

struct Direction {
  double x;
  double y;
};

// A point of the unit circle, to 10 digits: the first bits choose a quarter of it, the others an angle within ±π / 4.
Direction DirectionOf(uint32_t word) {
  constexpr double kStep = std::numbers::pi / 2 / (1 << 30);
  const auto part = static_cast<int32_t>(word & 0x3FFFFFFF) - (1 << 29);
  const double angle = (static_cast<double>(part) + 0.5) * kStep;
  const double z = angle * angle;
  double sine = -1.0 / 39916800;
  for (const double term : {1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6, 1.0}) sine = sine * z + term;
  sine *= angle;
  double cosine = 1.0 / 479001600;
  for (const double term : {-1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -0.5, 1.0}) cosine = cosine * z + term;
  const uint32_t quarter = word >> 30;
  const double along = quarter % 2 == 0 ? cosine : sine;
  const double across = quarter % 2 == 0 ? sine : cosine;
  return {quarter == 1 || quarter == 2 ? -along : along, quarter >= 2 ? -across : across};
}

// In (0, 1], so that its logarithm is finite.
double Positive(uint32_t word) { return (static_cast<double>(word) + 1) * 0x1.0p-32; }

std::array<float, 2> Pair(uint32_t of_radius, uint32_t of_direction) {
  const double radius = std::sqrt(-2 * Log(Positive(of_radius)));
  const Direction direction = DirectionOf(of_direction);
  return {static_cast<float>(radius * direction.x), static_cast<float>(radius * direction.y)};
}

}  // namespace

void FillNormal(RowRandom& random, absl::Span<float> numbers) {
  for (size_t i = 0; i < numbers.size(); i += 2) {
    const uint32_t of_radius = random.Next32();
    const std::array<float, 2> pair = Pair(of_radius, random.Next32());
    numbers[i] = pair[0];
    if (i + 1 < numbers.size()) numbers[i + 1] = pair[1];
  }
}

}  // namespace headrace
