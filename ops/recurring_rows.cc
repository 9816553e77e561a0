#include "ops/recurring_rows.h"

#include "core/row_id.h"

namespace headrace {
namespace {

thread_local const RecurringRows* current = nullptr;

}  // namespace

RecurringRows::RecurringRows(absl::Span<const uint64_t> occurrences, const RecurringRows* outer)
    : occurrences_(occurrences), outer_(outer), before_(current) {
  current = this;
}

RecurringRows::~RecurringRows() { current = before_; }

const RecurringRows* RecurringRows::Current() { return current; }

uint64_t RecurringRows::Mark(size_t row) {
  uint64_t mark = 0;
  uint64_t level = 0;
  for (const RecurringRows* each = current; each != nullptr; each = each->outer_) {
    ++level;
    // The second time at one level is not the second time at another.
    const uint64_t occurrence = row < each->occurrences_.size() ? each->occurrences_[row] : 0;
    if (occurrence > 0) mark = MixKey(MixKey(mark, level), occurrence);
  }
  return mark;
}

}  // namespace headrace
