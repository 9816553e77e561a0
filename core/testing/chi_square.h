// `ChiSquareDeviation` is Pearson's chi-square test for random numbers: it measures how far counts deviate from their
// expectation.
// Threads: pure functions.
#ifndef HEADRACE_CORE_TESTING_CHI_SQUARE_H_
#define HEADRACE_CORE_TESTING_CHI_SQUARE_H_

#include <cstdint>

#include "absl/types/span.h"

namespace headrace {

// A test fails beyond so many standard deviations on either side: by chance once in 15,000 tests, and a test with fixed
// seeds always has the same result.
inline constexpr double kMostDeviation = 4.0;

// Statistical tests run on one thread, give the same results under a sanitizer, and would take minutes there:
// `if (!kCountsChances) GTEST_SKIP();`.
#ifdef HEADRACE_SANITIZER
inline constexpr bool kCountsChances = false;
#else
inline constexpr bool kCountsChances = true;
#endif

// In standard deviations of a normal distribution, to which chi-square is converted by Wilson and Hilferty's cube root
// ("The distribution of chi-square", PNAS 1931). Above 0: counts deviate more from the expectation than by chance;
// below 0: less. `freedom`: the number of independent counts.
double ChiSquareDeviationOf(double chi_square, double freedom);
// For counts whose sum equals the expected one: all but one are independent.
double ChiSquareDeviation(absl::Span<const int64_t> counts, absl::Span<const double> expected);
// For counts that are expected to be equal.
double ChiSquareDeviation(absl::Span<const int64_t> counts);

}  // namespace headrace

#endif  // HEADRACE_CORE_TESTING_CHI_SQUARE_H_
