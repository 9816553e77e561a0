// `AliasTable` draws numbers with given weights, each in constant time: Walker's alias method, with the table made as
// by Vose ("A linear algorithm for generating random numbers with a given distribution", IEEE Trans. Softw. Eng. 1991).
// Threads: immutable; any thread.
#ifndef HEADRACE_OPS_ORDER_ALIAS_TABLE_H_
#define HEADRACE_OPS_ORDER_ALIAS_TABLE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "core/philox.h"

namespace headrace {

class AliasTable {
 public:
  // Fewer than 2^32 weights, finite, 0 or more, one of them above 0.
  explicit AliasTable(absl::Span<const double> weights);

  // Number i with probability weights[i] / sum; never one whose weight is 0.
  uint32_t Draw(RowRandom& random) const {
    const auto column = static_cast<uint32_t>(random.Below(columns_.size()));
    return random.Uniform() < columns_[column].share ? column : columns_[column].other;
  }

 private:
  // A column of the table: its own number, up to `share` of it, and another number.
  struct Column {
    double share = 0;
    uint32_t other = 0;
  };
  std::vector<Column> columns_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_ORDER_ALIAS_TABLE_H_
