// These functions declare operators on indices that take a value for each row of their input, such as a weight or a
// label: the second input has the values, by the positions of the rows, or by their numbers (IndexedSource::numbers).
// The optimizer always drops the other columns of that input, so no file is read for it where a listing has the values.
// Threads: pure functions.
#ifndef HEADRACE_OPS_ORDER_VALUES_BY_NUMBER_H_
#define HEADRACE_OPS_ORDER_VALUES_BY_NUMBER_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/operator/operator.h"

namespace headrace {

// The attributes that name the column and that say whether values are by the rows' numbers. The front end sets them.
ir::Attribute DeclareValuesColumn();
ir::Attribute DeclareFollowsRows();
bool FollowsRows(const OpArguments& arguments);

// The schema of the first input, if the second has the column, of scalars: numbers, and with `or_texts` also byte
// strings and texts. `what`: "weights".
absl::StatusOr<ir::Schema> InferWithValues(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs,
                                           std::string_view what, bool or_texts);
// The columns wanted of the first input, and the column of values of the second.
std::vector<ir::ColumnSet> ReadsValues(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs,
                                       const ir::ColumnSet& wanted);

// The value of each row of `values`, the second input; 0 for a row that fails, if such rows are left out. kGraph if
// `input`, the first one, has no rows, or, by positions, other than as many; kResource if what is made of the values
// would not fit the budget; kClosed after an interrupt.
absl::StatusOr<std::vector<double>> ReadNumbers(const OpArguments& arguments, const IndexedSource& input,
                                                const IndexedSource& values, std::string_view what);

// Calls `take` with these values one after the other, until it fails; checks neither their number nor the budget.
absl::Status ReadEachNumber(const OpArguments& arguments, const IndexedSource& values,
                            absl::FunctionRef<absl::Status(double number)> take);

// Rows by their classes, those that have rows.
class Classes {
 public:
  static constexpr uint32_t kNoClass = 0xFFFFFFFF;

  // The class of each row, or kNoClass; fewer than 2^32 rows.
  explicit Classes(absl::Span<const uint32_t> class_of);

  uint64_t count() const { return ends_.size(); }
  // In rising order; at least one.
  absl::Span<const uint32_t> rows(uint64_t number) const {
    const uint64_t begin = number == 0 ? 0 : ends_[number - 1];
    return absl::MakeConstSpan(members_).subspan(begin, ends_[number] - begin);
  }

 private:
  std::vector<uint64_t> ends_;  // of each class in members_
  std::vector<uint32_t> members_;
};

// As ReadNumbers, the class of each row; a row that fails has none. Classes are numbered as their labels first occur.
// kGraph for a label of more than a few KiB, as of a column of file contents.
absl::StatusOr<std::vector<uint32_t>> ReadClasses(const OpArguments& arguments, const IndexedSource& input,
                                                  const IndexedSource& values);

}  // namespace headrace

#endif  // HEADRACE_OPS_ORDER_VALUES_BY_NUMBER_H_
