// `MakeOrderByValues` makes an order that is drawn by a value of each row: its weight, or the number of its class. The
// values are by positions in the input, the same in each epoch, or by the rows' numbers (IndexedSource::numbers), which
// they then follow through the orders below: each epoch has the values of the rows that come in it.
// Threads: as RowOrder's.
#ifndef HEADRACE_OPS_ORDER_DRAWN_BY_VALUES_H_
#define HEADRACE_OPS_ORDER_DRAWN_BY_VALUES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/operator/operator.h"
#include "ops/order/drawn_order.h"
#include "ops/order/row_order.h"

namespace headrace {

template <typename Value>
struct DrawnByValues {
  // For so many rows of the input, at least one.
  std::function<absl::StatusOr<DrawnSize>(uint64_t rows)> size;
  // Draws `size.positions` of the rows with these values, of which there are `size.input_rows`.
  std::function<absl::StatusOr<DrawRows>(absl::Span<const Value> values, const DrawnSize& size)> draws;
};

// `values`: as ReadNumbers and ReadClasses give them, by position, or, if FollowsRows, by number; of double or
// uint32_t.
template <typename Value>
absl::StatusOr<std::unique_ptr<RowOrder>> MakeOrderByValues(const OpArguments& arguments, const IndexedSource& input,
                                                            std::vector<Value> values, DrawnByValues<Value> drawn);

}  // namespace headrace

#endif  // HEADRACE_OPS_ORDER_DRAWN_BY_VALUES_H_
