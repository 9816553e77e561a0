#include "engine/plan/epoch_limit.h"

#include <algorithm>

#include "core/error.h"
#include "core/text.h"

namespace headrace {

std::optional<uint64_t> LastEpochOf(const PlanNode& node) {
  uint64_t inputs = EpochRange::kMost;
  for (const auto& input : node.inputs) {
    const std::optional<uint64_t> last = LastEpochOf(*input);
    if (!last.has_value()) return std::nullopt;
    inputs = std::min(inputs, *last);
  }
  const auto fits = [&](uint64_t epoch) { return node.properties.epochs.LastInput(epoch) <= inputs; };
  if (!fits(0)) return std::nullopt;
  uint64_t low = 0;
  uint64_t high = node.properties.epochs.Last();
  while (low < high) {
    const uint64_t middle = high - (high - low) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

absl::Status UncountedEpoch(uint64_t epoch, std::optional<uint64_t> last) {
  return UnsupportedError(
      "epoch ", epoch, " cannot be counted: repeat(), and a mixture whose inputs begin again, number ",
      "the passes of all epochs one after the other, and a nested one the passes of those, in 64 ",
      "bits, which are enough ", last.has_value() ? Cat("up to epoch ", *last, " here") : "for none here",
      "; give an endless repeat() a count, such as repeat(1000)");
}

}  // namespace headrace
