// `RisingNumbers` is an ordered set of increasing numbers with removal in amortized O(log n).
// Threads: a value.
#ifndef HEADRACE_OPS_GROUP_RISING_NUMBERS_H_
#define HEADRACE_OPS_GROUP_RISING_NUMBERS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "absl/types/span.h"
#include "engine/operator/block.h"

namespace headrace {

class RisingNumbers {
 public:
  // Above all others, and below 2⁶³.
  void Add(uint64_t number) { numbers_.push_back(number); }
  // It may be gone already.
  void Remove(uint64_t number) {
    const auto below = [](uint64_t each, uint64_t wanted) { return (each & ~kGone) < wanted; };
    const auto found = std::lower_bound(numbers_.begin(), numbers_.end(), number, below);
    if (found == numbers_.end() || *found != number) return;
    *found |= kGone;
    if (++gone_ <= numbers_.size() / 2) return;
    numbers_.erase(std::remove_if(numbers_.begin(), numbers_.end(), IsGone), numbers_.end());
    gone_ = 0;
  }
  void Assign(absl::Span<const uint64_t> numbers) {
    numbers_.assign(numbers.begin(), numbers.end());
    gone_ = 0;
  }
  void Clear() { Assign({}); }

  size_t size() const { return numbers_.size() - gone_; }
  void AppendTo(Checkpoint& checkpoint) const {
    checkpoint.reserve(checkpoint.size() + size() + 1);
    std::remove_copy_if(numbers_.begin(), numbers_.end(), std::back_inserter(checkpoint), IsGone);
  }

 private:
  static constexpr uint64_t kGone = uint64_t{1} << 63;
  static bool IsGone(uint64_t number) { return (number & kGone) != 0; }

  std::vector<uint64_t> numbers_;
  size_t gone_ = 0;  // of them
};

}  // namespace headrace

#endif  // HEADRACE_OPS_GROUP_RISING_NUMBERS_H_
