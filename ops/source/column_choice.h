// `ColumnChoice` holds the columns that a source offers, and declares the attribute `columns`, which chooses some of
// them, in its order. Columns that nothing reads are not made.
// Threads: a value; safe from any thread.
#ifndef HEADRACE_OPS_SOURCE_COLUMN_CHOICE_H_
#define HEADRACE_OPS_SOURCE_COLUMN_CHOICE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "ir/type.h"

namespace headrace {

class ColumnChoice {
 public:
  // The first `given` columns are the default choice.
  ColumnChoice(ir::Columns columns, size_t given) : all_{std::move(columns)}, given_(given) {}

  ir::Attribute Declare() const;
  absl::StatusOr<ir::Schema> Infer(const ir::Attributes& attributes) const;
  // For each column of `output`, its index among all columns.
  std::vector<int> Fields(const ir::Schema& output) const;

 private:
  const ir::Schema all_;
  const size_t given_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_COLUMN_CHOICE_H_
