// `DrawBeta` and `DrawDirichlet` draw from the symmetric beta and Dirichlet distributions.
// Threads: pure; safe from any thread with a stream of its own.
#ifndef HEADRACE_KERNELS_NUMBERS_BETA_H_
#define HEADRACE_KERNELS_NUMBERS_BETA_H_

#include "absl/types/span.h"
#include "core/philox.h"

namespace headrace {

// Beta(alpha, alpha), alpha > 0; in [0, 1]. Up to alpha = 1 by Jöhnk's rejection (1964), in logarithms where the powers
// underflow; above, X / (X + Y) of two gamma variates by Marsaglia and Tsang's method (ACM TOMS 26, 2000).
double DrawBeta(double alpha, RowRandom& random);

// Dirichlet(alpha, …, alpha), alpha > 0, of as many weights as there are: in [0, 1], with the sum 1. Gamma variates
// over their sum, in logarithms, as for small alpha they are too small for a double.
void DrawDirichlet(double alpha, absl::Span<double> weights, RowRandom& random);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_NUMBERS_BETA_H_
