// `ValueText` writes values and expressions in Python's notation, for the defaults of declarations, messages and dumps.
// Threads: pure functions.
#ifndef HEADRACE_IR_VALUE_TEXT_H_
#define HEADRACE_IR_VALUE_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/messages.h"

namespace headrace::ir {

// "None", "True", "1", "0.5", "'bilinear'", "(1, 2)", "{'a': 'b'}", "<function train.py:augment#0>"; of a list of more
// than 64 values the first and their number: "(0, 1, 2, 3, 4, 5, 6, 7, … 1000 values)".
std::string ValueText(const proto::Value& value);
// `(col("label") < 10) & ~col("hard")`.
std::string ExpressionText(const proto::Expression& expression);
// As Python's repr: "0.1", "1e-05", "float('inf')".
std::string FloatText(double value);
// In single quotes, with Python's escapes.
std::string StringText(std::string_view text);

// Reads what ValueText writes, except references, expressions, columns and long lists; also lists in square brackets. A
// list of whole numbers and reals is a list of reals; an empty list is one of whole numbers until it is fitted to a
// type.
absl::StatusOr<proto::Value> ParseValue(std::string_view text);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_VALUE_TEXT_H_
