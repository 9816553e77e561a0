#include "engine/operator/batch_ranges.h"

namespace headrace {

std::optional<uint64_t> BatchRanges::AddUpTo(uint64_t last, BatchRange range) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (kept_from_ > last || ranges_.size() > last - kept_from_) return std::nullopt;
  ranges_.push_back(range);
  return kept_from_ + ranges_.size() - 1;
}

bool BatchRanges::Has(uint64_t number) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return number < kept_from_ + ranges_.size();
}

BatchRange BatchRanges::At(uint64_t number) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return ranges_[number - kept_from_];
}

void BatchRanges::ForgetBelow(uint64_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (; kept_from_ < number && !ranges_.empty(); ++kept_from_) ranges_.pop_front();
}

}  // namespace headrace
