// `ListedValues` finds a value in a list of an expression, in a time that does not depend on the list's length. Numbers
// are compared exactly, whole numbers with reals too, as the operator == of expressions does.
// Threads: const methods from any thread. The list must outlive it.
#ifndef HEADRACE_IR_LISTED_VALUES_H_
#define HEADRACE_IR_LISTED_VALUES_H_

#include <cstdint>
#include <string_view>
#include <unordered_set>

#include "core/seeded_hash.h"
#include "ir/messages.h"

namespace headrace::ir {

class ListedValues {
 public:
  // `list`: whole numbers, reals or texts.
  explicit ListedValues(const proto::Value& list);

  // `number`: of at most 65 bits with its sign.
  bool HasWhole(__int128 number) const;
  bool HasReal(double number) const;
  // For a number of a type smaller than float64: listed reals count as float32.
  bool HasNarrow(double number) const;
  bool HasText(std::string_view text) const { return texts_.count(text) > 0; }

 private:
  std::unordered_set<int64_t, SeededHash> wholes_;
  std::unordered_set<double, SeededHash> reals_;
  std::unordered_set<double, SeededHash> narrow_;  // reals_ rounded to float32
  std::unordered_set<std::string_view, SeededHash> texts_;
};

}  // namespace headrace::ir

#endif  // HEADRACE_IR_LISTED_VALUES_H_
