// Pearson's chi-square test, for tests of random numbers: how far counts lie from what chance would give.
// Pure functions.
#ifndef HEADRACE_CORE_TESTING_CHI_SQUARE_H_
#define HEADRACE_CORE_TESTING_CHI_SQUARE_H_

#include <cstdint>

#include "absl/types/span.h"

namespace headrace {

// A test fails beyond so many standard deviations on either side: chance goes there once in 15,000 tests, and a test
// with fixed seeds always gives the same answer.
inline constexpr double kMostDeviation = 4.0;

// Chances are counted on one thread and come out the same under a sanitizer, where they would take minutes:
// `if (!kCountsChances) GTEST_SKIP();`.
#ifdef HEADRACE_SANITIZER
inline constexpr bool kCountsChances = false;
#else
inline constexpr bool kCountsChances = true;
#endif

// In standard deviations of a normal distribution, to which chi-square is brought by Wilson and Hilferty's cube root
// ("The distribution of chi-square", PNAS 1931). Above 0: counts are further from the expectation than chance makes
// them; below 0: nearer. `freedom`: how many counts are free.
double ChiSquareDeviationOf(double chi_square, double freedom);
// Of counts that add up to what is expected: all but one are free.
double ChiSquareDeviation(absl::Span<const int64_t> counts, absl::Span<const double> expected);
// All counts are equally likely.
double ChiSquareDeviation(absl::Span<const int64_t> counts);

}  // namespace headrace

#endif  // HEADRACE_CORE_TESTING_CHI_SQUARE_H_
