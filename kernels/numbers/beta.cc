#include "kernels/numbers/beta.h"

#include <algorithm>
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

// The logarithm of a gamma variate; below 1, of that of alpha + 1 times U^(1 / alpha) (Marsaglia and Tsang).
double LogGamma(double alpha, RowRandom& random) {
  if (alpha >= 1) return std::log(Gamma(alpha, random));
  const double larger = std::log(Gamma(alpha + 1, random));
  return larger + std::log(Positive(random)) / alpha;
}

}  // namespace

double DrawBeta(double alpha, RowRandom& random) {
  if (alpha <= 1) return Johnk(alpha, random);
  const double x = Gamma(alpha, random);
  const double y = Gamma(alpha, random);
  return x / (x + y);
}

void DrawDirichlet(double alpha, absl::Span<double> weights, RowRandom& random) {
  for (double& weight : weights) weight = LogGamma(alpha, random);
  const double most = *std::max_element(weights.begin(), weights.end());
  double sum = 0;
  for (double& weight : weights) {
    weight = std::exp(weight - most);
    sum += weight;
  }
  for (double& weight : weights) weight /= sum;
}

}  // namespace headrace
