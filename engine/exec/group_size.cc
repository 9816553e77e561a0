#include "engine/exec/group_size.h"

#include <algorithm>

namespace headrace {
namespace {

constexpr uint64_t kGroupNs = 20'000;
constexpr uint64_t kLeast = 4;
constexpr uint64_t kMost = 256;
constexpr uint64_t kBatchNs = 400'000;
constexpr int64_t kBatchBytes = 32;  // times those of other messages
// Rows that take longer gain little by it.
constexpr int64_t kMostParts = 4;

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
  const auto soon = static_cast<int64_t>(kBatchNs / std::max<uint64_t>(1, row_ns));
  const int64_t most = std::min(soon, kBatchBytes * most_bytes / std::max<int64_t>(1, row_bytes));
  for (int64_t parts = 1; parts <= kMostParts; parts *= 2) {
    const int64_t part = (joined + parts - 1) / parts;
    if (part <= most) return static_cast<int>(part);
  }
  return rows;
}

int EndAtBatch(int rows, uint64_t given, int64_t joined) {
  if (joined <= 0) return rows;
  const auto beyond = static_cast<int64_t>((given + static_cast<uint64_t>(rows)) % static_cast<uint64_t>(joined));
  return beyond < rows ? rows - static_cast<int>(beyond) : rows;
}

}  // namespace headrace
