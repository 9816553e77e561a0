#include "engine/exec/group_size.h"

#include <algorithm>

namespace headrace {
namespace {

constexpr uint64_t kGroupNs = 20'000;
constexpr uint64_t kLeast = 4;
constexpr uint64_t kMost = 256;
constexpr uint64_t kBatchNs = 400'000;
constexpr int64_t kBatchBytes = 32;  // times those of other messages

}  // namespace

int GroupSize(uint64_t row_ns, int64_t row_bytes, int64_t most_bytes) {
  const auto fit = static_cast<uint64_t>(std::max<int64_t>(0, most_bytes) / std::max<int64_t>(1, row_bytes));
  if (row_ns > kGroupNs || fit < kLeast) return 1;
  return static_cast<int>(std::clamp(kGroupNs / std::max<uint64_t>(1, row_ns), kLeast, std::min(fit, kMost)));
}

int GroupSizeBelowBatch(uint64_t row_ns, int64_t row_bytes, int64_t most_bytes, int64_t joined) {
  const int rows = GroupSize(row_ns, row_bytes, most_bytes);
  if (joined <= 0 || rows == 1) return rows;
  if (rows >= joined) return rows - rows % static_cast<int>(joined);
  const bool soon = static_cast<uint64_t>(joined) <= kBatchNs / std::max<uint64_t>(1, row_ns);
  const bool small = joined <= kBatchBytes * most_bytes / std::max<int64_t>(1, row_bytes);
  return soon && small ? static_cast<int>(joined) : rows;
}

int EndAtBatch(int rows, uint64_t given, int64_t joined) {
  if (joined <= 0) return rows;
  const auto beyond = static_cast<int64_t>((given + static_cast<uint64_t>(rows)) % static_cast<uint64_t>(joined));
  return beyond < rows ? rows - static_cast<int>(beyond) : rows;
}

}  // namespace headrace
