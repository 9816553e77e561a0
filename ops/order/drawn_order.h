// `MakeDrawnOrder` makes an order whose rows are drawn anew in each epoch, those of all positions at once. It keeps a
// table for each of two epochs: the row of every position and, where rows recur, how often each came before; 8 bytes a
// position at most.
// Threads: as RowOrder's.
#ifndef HEADRACE_OPS_ORDER_DRAWN_ORDER_H_
#define HEADRACE_OPS_ORDER_DRAWN_ORDER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/operator/operator.h"
#include "ops/order/row_order.h"

namespace headrace {

// Sets the row of the input for each position of the epoch. Called once for most epochs, by any thread. May end early
// once StopSignal is raised, when nobody reads the rows any more.
using DrawRows = std::function<void(uint64_t epoch, absl::Span<uint32_t> rows)>;

// After so many draws it looks at StopSignal.
constexpr uint64_t kDrawsAtOnce = 4096;

struct DrawnSize {
  uint64_t positions = 0;   // of every epoch
  uint64_t input_rows = 0;  // the rows drawn are below it
  int64_t memory = 0;       // the run's budget
  uint64_t run_length = 1;  // rows that stay together
};

// How often the row of each position came at earlier ones; empty: no row recurs. `rows` are below `input_rows`.
std::vector<uint32_t> CountOccurrences(absl::Span<const uint32_t> rows, uint64_t input_rows);
// Temporary memory of CountOccurrences for that many rows, in bytes, in addition to the result;
// 0: no table, only a map of the rows.
uint64_t BytesToCountOccurrences(uint64_t rows, uint64_t input_rows);

// kUnsupported for 2^32 rows of the input or more; kResource if the tables, with what a draw needs of each row of the
// input, would take more than half of the budget.
absl::Status CheckOrderFits(const DrawnSize& size);

// As CheckOrderFits.
absl::StatusOr<std::unique_ptr<RowOrder>> MakeDrawnOrder(const DrawnSize& size, DrawRows draw);

// The attribute `n`, the number of draws of an epoch: None, as many as its input has rows.
ir::Attribute DeclareDrawnRows();
// The number of draws of an epoch. Defaults to `input_rows` if the operator has no `n`.
uint64_t DrawnRows(const OpArguments& arguments, uint64_t input_rows);
// What is drawn of so many rows of the input.
std::function<absl::StatusOr<DrawnSize>(uint64_t input_rows)> DrawnSizes(const OpArguments& arguments);
std::optional<uint64_t> MostDrawnRows(const ir::Attributes& attributes,
                                      absl::Span<const std::optional<uint64_t>> inputs);

}  // namespace headrace

#endif  // HEADRACE_OPS_ORDER_DRAWN_ORDER_H_
