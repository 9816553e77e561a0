#include "ops/window_order.h"

#include <algorithm>

namespace headrace {
namespace {

// Buckets of larger windows are wider than one row instead.
constexpr uint64_t kMostBuckets = uint64_t{1} << 18;

}  // namespace

WindowOrder::WindowOrder(uint64_t window) {
  // Keys reach from the bucket of the next position to that of window + 1 more, which a ring must tell apart.
  while ((window >> width_bits_) + 3 > kMostBuckets) ++width_bits_;
  size_t buckets = 4;
  while (buckets < (window >> width_bits_) + 3) buckets *= 2;
  heads_.assign(buckets, -1);
}

void WindowOrder::Add(uint64_t position, double key) {
  int32_t at = static_cast<int32_t>(entries_.size());
  if (free_.empty()) {
    entries_.emplace_back();
  } else {
    at = free_.back();
    free_.pop_back();
  }
  int32_t& head = heads_[BucketOf(static_cast<uint64_t>(key)) & (heads_.size() - 1)];
  entries_[static_cast<size_t>(at)] = {key, position, head};
  head = at;
  ++size_;
}

void WindowOrder::OpenBucket(uint64_t bucket) {
  int32_t& head = heads_[bucket & (heads_.size() - 1)];
  for (int32_t at = head; at >= 0; at = entries_[static_cast<size_t>(at)].next) {
    open_.push_back(entries_[static_cast<size_t>(at)]);
    free_.push_back(at);
  }
  head = -1;
  if (open_.size() < 2) return;
  std::sort(open_.begin(), open_.end(),
            [](const Entry& a, const Entry& b) { return a.key != b.key ? a.key > b.key : a.position > b.position; });
}

bool WindowOrder::Next(uint64_t& position) {
  while (open_.empty()) {
    if (size_ == 0 || bucket_ >= BucketOf(limit_)) return false;
    int32_t& head = heads_[bucket_ & (heads_.size() - 1)];
    // Gives the only one of a bucket at once, as is usual.
    if (head >= 0 && entries_[static_cast<size_t>(head)].next < 0) {
      position = entries_[static_cast<size_t>(head)].position;
      free_.push_back(head);
      head = -1;
      ++bucket_;
      --size_;
      return true;
    }
    OpenBucket(bucket_++);
  }
  position = open_.back().position;
  open_.pop_back();
  --size_;
  return true;
}

void WindowOrder::Restart(uint64_t position) {
  std::fill(heads_.begin(), heads_.end(), -1);
  entries_.clear();
  free_.clear();
  open_.clear();
  size_ = 0;
  bucket_ = BucketOf(position);
  limit_ = position;
}

}  // namespace headrace
