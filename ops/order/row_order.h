// `RowOrder` is an order of rows: it tells which row of its input an operator gives at each position of an epoch. Use
// it for a new shuffle, choice of rows or sampler, one file each; ordered_source.h makes operators of orders. Python
// calls the orders of `sample` samplers.
// Threads: any thread.
#ifndef HEADRACE_OPS_ORDER_ROW_ORDER_H_
#define HEADRACE_OPS_ORDER_ROW_ORDER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/operator/operator.h"

namespace headrace {

class RowOrder {
 public:
  virtual ~RowOrder() = default;
  // Rows of every epoch; where it or its input `begins` (IndexedProperties), of the run's first, then of the one begun.
  virtual uint64_t size() const = 0;
  // What it adds to the properties of its input.
  virtual bool begins() const { return false; }
  virtual bool asks_user() const { return false; }
  virtual uint64_t run_length() const { return 1; }
  // As IndexedSource::Begin, over an input that has so many rows in the epoch.
  virtual absl::StatusOr<BegunEpoch> Begin(uint64_t /*epoch*/, uint64_t /*input_rows*/) {
    return BegunEpoch{size(), 0};
  }
  // Whether a row of the input may come several times in an epoch.
  virtual bool recurs() const { return false; }
  // Replaces each position of the epoch, below size(), by the position of its row in the input. `occurrences`, one for
  // each position, holds zeros; where the same row of the input came at earlier positions of the epoch, too, sets how
  // often.
  virtual void Find(uint64_t epoch, absl::Span<uint64_t> positions, absl::Span<uint64_t> occurrences) const = 0;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_ORDER_ROW_ORDER_H_
