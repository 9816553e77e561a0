// Tells a source which of the rows that it is asked for have come before in the epoch, so that each time may have draws
// of its own. An order makes one around its reads. Sources that draw nothing need not look.
// Thread contract: made, asked and destroyed by one thread.
#ifndef HEADRACE_OPS_RECURRING_ROWS_H_
#define HEADRACE_OPS_RECURRING_ROWS_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace headrace {

class RecurringRows {
 public:
  // `occurrences`: one for each row of the reads inside, in their order; 0, or none: the first. They must outlive it.
  // `outer`: what is known of the same rows already.
  explicit RecurringRows(absl::Span<const uint64_t> occurrences, const RecurringRows* outer = Current());
  ~RecurringRows();
  RecurringRows(const RecurringRows&) = delete;

  // Differs between the reads of a row in one epoch; 0: the first. `row`: its index in the read that runs.
  static uint64_t Mark(size_t row);

 private:
  static const RecurringRows* Current();

  const absl::Span<const uint64_t> occurrences_;
  const RecurringRows* const outer_;
  const RecurringRows* const before_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_RECURRING_ROWS_H_
