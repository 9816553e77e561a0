// `ReadRowsOfInputs` reads rows of several indexed inputs in one order.
// Threads: pure functions.
#ifndef HEADRACE_OPS_ROWS_READ_INPUTS_H_
#define HEADRACE_OPS_ROWS_READ_INPUTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/operator/operator.h"

namespace headrace {

struct RowOfInput {
  size_t input = 0;
  RowPosition row;
};

// As IndexedSource::ReadRows of that input.
using ReadInput = absl::FunctionRef<absl::Status(size_t input, const RowPositions& wanted, Block& block)>;

// Puts the rows, at least one, into a block that has none, with one call of `read` for each input and epoch. Of the
// rows that fail, the first one's error counts, and the rows before it are in the block.
absl::Status ReadRowsOfInputs(absl::Span<const RowOfInput> rows, ReadInput read, Block& block);

// As IndexedSource::StartRows of the inputs.
void StartRowsOfInputs(const IndexedSources& inputs, absl::Span<const RowOfInput> rows);
// As IndexedSource::CheckUnchanged, of all inputs.
absl::Status CheckInputsUnchanged(const IndexedSources& inputs);

// The numbers that rows of several inputs have together (IndexedSource::numbers): those of one follow those of the
// input before. It is made for inputs that outlive it.
class NumbersOfInputs {
 public:
  explicit NumbersOfInputs(const IndexedSources& inputs);
  uint64_t count() const { return ends_.back(); }
  // Sets the number of each of the rows.
  void Find(absl::Span<const RowOfInput> rows, absl::Span<uint64_t> numbers) const;

 private:
  const IndexedSources& inputs_;
  std::vector<uint64_t> ends_;
};

// Of a source that gives the rows of all inputs, each by itself.
IndexedProperties PropertiesTogether(const IndexedSources& inputs);

// Appends the only row of `row` to the block.
void AppendReadRow(Block& row, Block& block);

}  // namespace headrace

#endif  // HEADRACE_OPS_ROWS_READ_INPUTS_H_
