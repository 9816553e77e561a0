#include "core/testing/chi_square.h"

#include <cmath>
#include <numeric>
#include <vector>

namespace headrace {

double ChiSquareDeviationOf(double chi_square, double freedom) {
  const double variance = 2 / (9 * freedom);
  return (std::cbrt(chi_square / freedom) - (1 - variance)) / std::sqrt(variance);
}

double ChiSquareDeviation(absl::Span<const int64_t> counts, absl::Span<const double> expected) {
  double chi_square = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    const double off = static_cast<double>(counts[i]) - expected[i];
    chi_square += off * off / expected[i];
  }
  return ChiSquareDeviationOf(chi_square, static_cast<double>(counts.size()) - 1);
}

double ChiSquareDeviation(absl::Span<const int64_t> counts) {
  const auto all = static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
  return ChiSquareDeviation(counts, std::vector<double>(counts.size(), all / static_cast<double>(counts.size())));
}

}  // namespace headrace
