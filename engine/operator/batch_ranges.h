// `BatchRanges` is the list of ranges of result batches that a run makes of one epoch, in the order asked. A run
// numbers its ranges as other runs number their epochs: the first has the epoch's own number, each later one the next.
// Rows, draws and messages to users have the one epoch of the data. Threads: any.
#ifndef HEADRACE_ENGINE_OPERATOR_BATCH_RANGES_H_
#define HEADRACE_ENGINE_OPERATOR_BATCH_RANGES_H_

#include <cstdint>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>

namespace headrace {

// Rows of the result, usually batches, from `first` on and before `end`, counted within the rank's part of the epoch;
// empty if `end` is not above `first`.
struct BatchRange {
  uint64_t first = 0;
  uint64_t end = 0;

  friend bool operator==(const BatchRange&, const BatchRange&) = default;
};

// The rows in so many batches of `batch_rows` each, but at most `rows`.
inline uint64_t RowsOfBatches(uint64_t batches, uint64_t batch_rows, uint64_t rows) {
  return batches > rows / batch_rows ? rows : batches * batch_rows;
}

class BatchRanges {
 public:
  explicit BatchRanges(uint64_t epoch) : epoch_(epoch), kept_from_(epoch) {}
  BatchRanges(const BatchRanges&) = delete;

  // The epoch of the data.
  uint64_t epoch() const { return epoch_; }
  // Returns its number.
  uint64_t Add(BatchRange range) { return *AddUpTo(std::numeric_limits<uint64_t>::max(), range); }
  // The same; nullopt, and nothing is added, if the number would be above `last`.
  std::optional<uint64_t> AddUpTo(uint64_t last, BatchRange range);
  // Whether so many were added that one has this number.
  bool Has(uint64_t number) const;
  // One that was added and is not forgotten.
  BatchRange At(uint64_t number) const;
  // Forgets those below `number`, which the run has made.
  void ForgetBelow(uint64_t number);

 private:
  const uint64_t epoch_;
  mutable std::mutex mutex_;
  std::deque<BatchRange> ranges_;
  uint64_t kept_from_;  // the number of the first in ranges_
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_BATCH_RANGES_H_
