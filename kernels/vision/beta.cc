#include "kernels/vision/beta.h"

#include <cmath>

namespace headrace {
namespace {

// In (0, 1], so that its logarithm is finite.
double Positive(RowRandom& random) { return 1 - random.Uniform(); }

double Johnk(double alpha, RowRandom& random) {
  while (true) {
    const double log_x = std::log(Positive(random)) / alpha;
    const double log_y = std::log(Positive(random)) / alpha;
    if (std::exp(log_x) + std::exp(log_y) > 1) continue;
    // x / (x + y), of which both may be too small for a double.
    return 1 / (1 + std::exp(log_y - log_x));
  }
}

// alpha ≥ 1.
double Gamma(double alpha, RowRandom& random) {
  const double d = alpha - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double normal = random.Normal();
    const double root = 1 + c * normal;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(Positive(random)) < 0.5 * normal * normal + d - d * v + d * std::log(v)) return d * v;
  }
}

}  // namespace

double DrawBeta(double alpha, RowRandom& random) {
  if (alpha <= 1) return Johnk(alpha, random);
  const double x = Gamma(alpha, random);
  const double y = Gamma(alpha, random);
  return x / (x + y);
}

}  // namespace headrace
