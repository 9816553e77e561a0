#include "engine/exec/group_size.h"

#include <algorithm>

namespace headrace {
namespace {

constexpr uint64_t kGroupNs = 20'000;
constexpr uint64_t kLeast = 4;
constexpr uint64_t kMost = 256;

}  // namespace

int GroupSize(uint64_t row_ns, int64_t row_bytes, int64_t most_bytes) {
  const auto fit = static_cast<uint64_t>(std::max<int64_t>(0, most_bytes) / std::max<int64_t>(1, row_bytes));
  if (row_ns > kGroupNs || fit < kLeast) return 1;
  return static_cast<int>(std::clamp(kGroupNs / std::max<uint64_t>(1, row_ns), kLeast, std::min(fit, kMost)));
}

}  // namespace headrace
