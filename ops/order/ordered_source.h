// `OrderFactories` makes an operator on indices of an order: it gives the rows of its input in that order. A row keeps
// its key, with which later occurrences in the epoch mix theirs; where an order stands on another one, also its level,
// as the second time of the first row must differ from the first time of a second. Operators that leave keys alone may
// stand between.
// Threads: as IndexedSource's.
#ifndef HEADRACE_OPS_ORDER_ORDERED_SOURCE_H_
#define HEADRACE_OPS_ORDER_ORDERED_SOURCE_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "engine/operator/operator.h"
#include "ops/order/row_order.h"

namespace headrace {

// The order of an operator over `rows` rows.
using MakeOrder = std::function<absl::StatusOr<std::unique_ptr<RowOrder>>(const OpArguments& arguments, uint64_t rows)>;

// The order of an operator that takes a value for each row, from its second input. `input`, the first
// one, outlives it.
using MakeOrderFromValues = std::function<absl::StatusOr<std::unique_ptr<RowOrder>>(
    const OpArguments& arguments, const IndexedSource& input, const IndexedSource& values)>;

struct OrderTraits {
  bool new_each_epoch = false;  // it is another one in each epoch
  bool of_any_size = false;     // its input may have other numbers of rows in other epochs
};

OpFactories OrderFactories(MakeOrder make, OrderTraits traits = {});
OpFactories OrderFactories(MakeOrderFromValues make, OrderTraits traits = {});

}  // namespace headrace

#endif  // HEADRACE_OPS_ORDER_ORDERED_SOURCE_H_
