// The order in which shuffle(window) gives rows out: by keys p + u·window, u drawn from the position p, equal keys by
// position. A calendar queue (Brown, "Calendar queues", CACM 1988): keys fall into buckets one row wide, or wider where
// the window is large, so that adding a row and taking the next one cost the same whatever the window.
// Thread contract: one thread.
#ifndef HEADRACE_OPS_WINDOW_ORDER_H_
#define HEADRACE_OPS_WINDOW_ORDER_H_

#include <cstdint>
#include <vector>

namespace headrace {

class WindowOrder {
 public:
  // `window` ≥ 1, in rows.
  explicit WindowOrder(uint64_t window);

  // Positions come in rising order, without gaps; `key` is from the position to `window` more. Whoever adds a position
  // asks for all that is next before it adds another.
  void Add(uint64_t position, double key);
  // Positions to come are not below `limit`, which never falls, and neither are their keys.
  void SetLimit(uint64_t limit) { limit_ = limit; }
  // The position that is next and cannot be preceded by one to come; false: there is none. Of a window wider than
  // 2^18 rows it may come a few rows late.
  bool Next(uint64_t& position);
  bool empty() const { return size_ == 0; }
  // Forgets everything; positions go on from `position`.
  void Restart(uint64_t position);

 private:
  struct Entry {
    double key;
    uint64_t position;
    int32_t next;  // in its bucket; -1: none
  };
  uint64_t BucketOf(uint64_t key) const { return key >> width_bits_; }
  void OpenBucket(uint64_t bucket);

  int width_bits_ = 0;          // a bucket is 2^width_bits_ keys wide
  std::vector<int32_t> heads_;  // by bucket modulo their number, a power of two
  std::vector<Entry> entries_;
  std::vector<int32_t> free_;
  uint64_t size_ = 0;
  uint64_t bucket_ = 0;  // the next one to open
  uint64_t limit_ = 0;
  std::vector<Entry> open_;  // of the bucket opened last, the next one at the end
};

}  // namespace headrace

#endif  // HEADRACE_OPS_WINDOW_ORDER_H_
