// `ListedRows` reads the end of an operator's counters in a checkpoint, where the operator lists rows of its input that
// it holds. The input can read these by number, so after a restart they come first, and then what follows the
// checkpoint. The counters are the numbers of these rows among the input's of this rank, rising, and then how many
// there are. An operator that holds too many of them has `kFromStart` for their number and one counter of its own
// before it: the input begins the epoch anew.
// Threads: pure functions.
#ifndef HEADRACE_ENGINE_OPERATOR_LISTED_ROWS_H_
#define HEADRACE_ENGINE_OPERATOR_LISTED_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/types/span.h"

namespace headrace {

inline constexpr uint64_t kFromStart = std::numeric_limits<uint64_t>::max();

// How many counters stand between the operator's fixed ones and the last; nullopt: fewer are there than it says.
inline std::optional<size_t> CountListed(absl::Span<const uint64_t> counters) {
  if (counters.empty()) return std::nullopt;
  const uint64_t count = counters.back() == kFromStart ? 1 : counters.back();
  return count < counters.size() ? std::optional<size_t>(count) : std::nullopt;
}

// The numbers of the rows; none where the input begins anew.
inline absl::Span<const uint64_t> ListedRows(absl::Span<const uint64_t> counters) {
  if (counters.back() == kFromStart) return {};
  return counters.subspan(counters.size() - 1 - counters.back(), counters.back());
}

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_LISTED_ROWS_H_
