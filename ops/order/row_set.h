// `RowSet` is a set of rows of 0 … size-1 that gives its rows by rank, in rising order: a bit for each row, and a count
// for every 512 of them.
// Threads: built by one thread; then any.
#ifndef HEADRACE_OPS_ORDER_ROW_SET_H_
#define HEADRACE_OPS_ORDER_ROW_SET_H_

#include <cstdint>
#include <vector>

namespace headrace {

class RowSet {
 public:
  explicit RowSet(uint64_t size);

  void Add(uint64_t row) { words_[row / 64] |= uint64_t{1} << row % 64; }
  // Replaces the set by its complement.
  void Invert();
  // Called after the last change.
  void Count();

  uint64_t count() const { return before_.back(); }
  // The row with so many smaller ones in the set; rank < count().
  uint64_t At(uint64_t rank) const;
  // The row of the next rank; `row` is not the last one.
  uint64_t Next(uint64_t row) const;

 private:
  static constexpr uint64_t kWordsCounted = 8;

  uint64_t size_;
  std::vector<uint64_t> words_;
  std::vector<uint64_t> before_;  // rows before each run of words, and all
};

}  // namespace headrace

#endif  // HEADRACE_OPS_ORDER_ROW_SET_H_
