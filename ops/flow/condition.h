// `Condition` decides for one row whether an operator takes it: by a column expression, or by a user function. Use it
// for operators that have the attributes of ConditionAttributes(), such as filter.
// Threads: Holds is called from many threads at once.
#ifndef HEADRACE_OPS_FLOW_CONDITION_H_
#define HEADRACE_OPS_FLOW_CONDITION_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/operator/block.h"
#include "engine/operator/operator.h"
#include "ir/declaration.h"

namespace headrace {

class Condition {
 public:
  virtual ~Condition() = default;
  virtual absl::StatusOr<bool> Holds(const Block& block, int row) const = 0;
};

// `of`: the operator, for messages.
absl::StatusOr<std::unique_ptr<Condition>> MakeCondition(std::string_view of, const OpArguments& arguments);

// `predicate`, `function`, `columns` and `random`. `rows`: those for which it holds, as in "the rows to keep".
std::vector<ir::Attribute> ConditionAttributes(std::string_view rows);
// The Python parameters that stand for them, with what they mean for these rows.
ir::PythonSignature ConditionSignature(std::string_view rows, std::string_view example);
// kGraph unless there is one condition that a row of these columns can be tried for.
absl::Status CheckCondition(std::string_view of, const ir::Attributes& attributes, const ir::Schema& input);
// The columns wanted and those that the condition reads.
std::vector<ir::ColumnSet> ReadsCondition(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs,
                                          const ir::ColumnSet& wanted);
// Whether it is the expression True.
bool AlwaysHolds(const ir::Attributes& attributes);
bool CallsFunction(const ir::Attributes& attributes);

}  // namespace headrace

#endif  // HEADRACE_OPS_FLOW_CONDITION_H_
