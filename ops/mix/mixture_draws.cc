#include "ops/mix/mixture_draws.h"

#include <algorithm>
#include <utility>

#include "absl/types/span.h"
#include "core/philox.h"

namespace headrace {

MixtureDraws::MixtureDraws(std::vector<double> weights) : weights_(std::move(weights)), ends_(weights_.size()) {
  Begin(0);
}

void MixtureDraws::Begin(uint64_t key) {
  key_ = key;
  filled_ = false;
  if (inputs_left_ == weights_.size()) return;
  shares_ = weights_;
  inputs_left_ = weights_.size();
  Cumulate();
}

size_t MixtureDraws::At(uint64_t draw, int attempt) {
  if (inputs_left_ == 1) return last_;
  const double point = UniformOf(draw, attempt) * ends_.back();
  // An input that is left out ends where the one before it does, and is never the first beyond the point.
  const auto found = std::upper_bound(ends_.begin(), ends_.end(), point);
  // The product may be rounded up to the sum.
  return found == ends_.end() ? last_ : static_cast<size_t>(found - ends_.begin());
}

void MixtureDraws::LeaveOut(size_t input) {
  if (!left(input)) return;
  shares_[input] = 0;
  if (--inputs_left_ > 0) Cumulate();
}

double MixtureDraws::UniformOf(uint64_t draw, int attempt) {
  if (attempt > 0) {
    RowRandom random(key_, draw);
    double number = random.Uniform();
    for (int i = 0; i < attempt; ++i) number = random.Uniform();
    return number;
  }
  const uint64_t first = draw - draw % kAtOnce;
  if (!filled_ || first != first_) {
    UniformOfRows(key_, first, absl::MakeSpan(uniform_));
    first_ = first;
    filled_ = true;
  }
  return uniform_[draw % kAtOnce];
}

void MixtureDraws::Cumulate() {
  const double largest = *std::max_element(shares_.begin(), shares_.end());
  double sum = 0;
  for (size_t i = 0; i < shares_.size(); ++i) {
    ends_[i] = sum += shares_[i] / largest;
    if (shares_[i] > 0) last_ = i;
  }
}

}  // namespace headrace
