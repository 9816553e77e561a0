#include "ops/flow/window_order.h"

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

// For larger windows buckets are wider than one row instead.
constexpr uint64_t kMostBuckets = uint64_t{1} << 18;
constexpr size_t kFewestEntries = 64;

}  // namespace

WindowOrder::WindowOrder(uint64_t window) : window_(window), entries_(kFewestEntries) {
  // Keys reach from the bucket of the first position added at once to that of window + 1 beyond the last; the ring must
  // keep these apart.
  const auto reach = [this] { return ((window_ + kMostAtOnce) >> width_bits_) + 3; };
  while (reach() > kMostBuckets) ++width_bits_;
  size_t buckets = 4;
  while (buckets < reach()) buckets *= 2;
  heads_.assign(buckets, kNone);
}

// Makes room for positions before `end`.
void WindowOrder::ReserveEntries(uint64_t end) {
  const uint64_t opened = bucket_ << width_bits_;
  if (opened > window_) start_ = std::max(start_, opened - window_);
  if (end - start_ <= entries_.size()) return;
  std::vector<Entry> old(entries_.size());
  while (old.size() < end - start_) old.resize(2 * old.size());
  old.swap(entries_);
  for (uint64_t p = start_; p < start_ + old.size(); ++p) EntryOf(p) = old[p & (old.size() - 1)];
}

void WindowOrder::Add(uint64_t first, absl::Span<const double> keys) {
  ReserveEntries(first + keys.size());
  const uint64_t buckets = heads_.size() - 1;
  for (size_t i = 0; i < keys.size(); ++i) {
    uint64_t& head = heads_[BucketOf(static_cast<uint64_t>(keys[i])) & buckets];
    EntryOf(first + i) = {keys[i], head};
    head = first + i;
  }
  size_ += keys.size();
}

void WindowOrder::Sort(absl::Span<uint64_t> positions) {
  const auto before = [this](uint64_t a, uint64_t b) {
    const double key_a = EntryOf(a).key;
    const double key_b = EntryOf(b).key;
    return key_a != key_b ? key_a < key_b : a < b;
  };
  if (positions.size() > 2) {
    std::sort(positions.begin(), positions.end(), before);
  } else if (before(positions[1], positions[0])) {
    std::swap(positions[0], positions[1]);
  }
}

void WindowOrder::TakeBelow(uint64_t limit, size_t most, std::vector<uint64_t>& taken) {
  const uint64_t end = BucketOf(limit);
  const uint64_t buckets = heads_.size() - 1;
  const size_t before = taken.size();
  while (bucket_ < end && size_ > 0 && taken.size() - before < most) {
    uint64_t& head = heads_[bucket_++ & buckets];
    if (head == kNone) continue;
    const size_t first = taken.size();
    for (uint64_t p = std::exchange(head, kNone); p != kNone; p = EntryOf(p).next) taken.push_back(p);
    const size_t found = taken.size() - first;
    size_ -= found;
    if (found > 1) Sort(absl::MakeSpan(taken).subspan(first));
  }
  if (size_ == 0) bucket_ = std::max(bucket_, end);
}

void WindowOrder::Restart(uint64_t position) {
  std::fill(heads_.begin(), heads_.end(), kNone);
  size_ = 0;
  bucket_ = BucketOf(position);
  start_ = position;
}

}  // namespace headrace
