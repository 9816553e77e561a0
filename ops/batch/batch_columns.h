// `BatchColumns` says how a batch joins each of its columns, from the attributes of the operator and the types of its
// rows, and which columns it gives.
// Threads: pure functions.
#ifndef HEADRACE_OPS_BATCH_BATCH_COLUMNS_H_
#define HEADRACE_OPS_BATCH_BATCH_COLUMNS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "ir/type.h"

namespace headrace {

enum class Joining : uint8_t {
  kStack,   // along a new first axis; rows must agree
  kPad,     // likewise, each axis padded at its end to the largest row
  kSplits,  // along the first axis, with a column of splits
  kList,    // likewise, for users a list of rows
};

struct BatchColumn {
  std::string name = {};
  Joining joining = Joining::kStack;
  ir::Number padding = int64_t{0};  // for kPad
  int64_t least = 0;                // for kPad: the least length that the first axis is padded to
};

inline bool IsRagged(Joining joining) { return joining == Joining::kSplits || joining == Joining::kList; }

// kGraph if columns are named that are not there or cannot be joined so.
absl::StatusOr<std::vector<BatchColumn>> BatchColumns(const ir::Attributes& attributes, const ir::Schema& input);

// The columns of a batch of `rows` rows, or ir::kUnknownDim. kGraph if splits have the name of another column.
absl::StatusOr<ir::Schema> BatchSchema(const std::vector<BatchColumn>& columns, int64_t rows, const ir::Schema& input);

// All columns, each axis of them padded to the largest row, with what `AddPadValues` declares. kGraph as BatchColumns.
absl::StatusOr<std::vector<BatchColumn>> PaddedColumns(const ir::Attributes& attributes, const ir::Schema& input);

// For the column of splits as for its values; columns that the attributes name are kept.
std::vector<ir::ColumnSet> BatchReads(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs,
                                      const ir::ColumnSet& wanted);

// Adds the attributes that say what columns are padded with.
void AddPadValues(std::vector<ir::Attribute>& attributes);
// Adds the attributes by which columns are joined.
void AddJoiningAttributes(std::vector<ir::Attribute>& attributes);

// kGraph if a function that makes the batch is to pad or join ragged rows, too.
absl::Status RefuseJoining(const ir::Attributes& attributes);

}  // namespace headrace

#endif  // HEADRACE_OPS_BATCH_BATCH_COLUMNS_H_
