// `WindowOrder` is the order in which shuffle(window) returns rows: by keys p + u·window, u drawn from the position p,
// equal keys by position. It is a calendar queue (Brown, "Calendar queues", CACM 1988): buckets are one row wide, or
// wider for large windows, so that adding and taking a row cost the same whatever the window.
// Threads: one thread.
#ifndef HEADRACE_OPS_FLOW_WINDOW_ORDER_H_
#define HEADRACE_OPS_FLOW_WINDOW_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace headrace {

class WindowOrder {
 public:
  // Rows that may be added before rows are taken.
  static constexpr size_t kMostAtOnce = 256;

  // `window` ≥ 1, in rows.
  explicit WindowOrder(uint64_t window);

  // Adds the positions first, first + 1, …, which follow those added before. Each key lies between its position and
  // `window` beyond it. The caller takes all positions that are ready before it adds more.
  void Add(uint64_t first, absl::Span<const double> keys);
  // Appends to `taken`, in order, the positions whose keys are below `limit`, and which no position from `limit` on can
  // precede. Stops after `most` of them or a few more. `limit` never falls. With a window wider than 2^18 rows they may
  // come a few rows late.
  void TakeBelow(uint64_t limit, size_t most, std::vector<uint64_t>& taken);
  bool empty() const { return size_ == 0; }
  // Forgets everything; positions go on from `position`.
  void Restart(uint64_t position);

 private:
  struct Entry {
    double key;
    uint64_t next;  // position in the same bucket, or kNone
  };
  static constexpr uint64_t kNone = ~uint64_t{0};

  uint64_t BucketOf(uint64_t key) const { return key >> width_bits_; }
  Entry& EntryOf(uint64_t position) { return entries_[position & (entries_.size() - 1)]; }
  void ReserveEntries(uint64_t end);
  void Sort(absl::Span<uint64_t> positions);

  const uint64_t window_;
  int width_bits_ = 0;           // a bucket is 2^width_bits_ keys wide
  std::vector<uint64_t> heads_;  // positions by bucket modulo their number, a power of two
  std::vector<Entry> entries_;   // by position modulo their number, a power of two
  uint64_t size_ = 0;
  uint64_t bucket_ = 0;  // the next bucket to open
  uint64_t start_ = 0;   // positions before it are gone
};

}  // namespace headrace

#endif  // HEADRACE_OPS_FLOW_WINDOW_ORDER_H_
