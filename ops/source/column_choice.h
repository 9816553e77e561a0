// The columns that a source can give, of which the attribute `columns` chooses some, in its order: those that nothing
// reads are not made. A value; safe from any thread.
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
  // The first `given` columns are what a user gets who does not choose.
  ColumnChoice(ir::Columns columns, size_t given) : all_{std::move(columns)}, given_(given) {}

  ir::Attribute Declare() const;
  absl::StatusOr<ir::Schema> Infer(const ir::Attributes& attributes) const;
  // For each column of `output`, its number among all.
  std::vector<int> Fields(const ir::Schema& output) const;

 private:
  const ir::Schema all_;
  const size_t given_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_COLUMN_CHOICE_H_
