// `IntValue` and its neighbours make attribute values; `FitValue` fits one to its declaration.
// Threads: pure functions.
#ifndef HEADRACE_IR_VALUE_H_
#define HEADRACE_IR_VALUE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/declaration.h"
#include "ir/messages.h"

namespace headrace::ir {

proto::Value NoneValue();
proto::Value BoolValue(bool value);
proto::Value IntValue(int64_t value);
proto::Value FloatValue(double value);
proto::Value StringValue(std::string_view value);  // also for dtypes, by name
proto::Value IntsValue(absl::Span<const int64_t> values);
proto::Value FloatsValue(absl::Span<const double> values);
proto::Value StringsValue(absl::Span<const std::string> values);
proto::Value PairsValue(absl::Span<const std::pair<std::string, std::string>> pairs);
proto::Value ExpressionValue(proto::Expression expression);
proto::Value ReferenceValue(std::string_view name);
proto::Value ColumnsValue(const Schema& schema);

// Converts a value to the declared type if that loses nothing: a whole number to a real one, a single number to a list.
// Leaves other values unchanged; CheckValue reports them.
void FitValue(const Attribute& attribute, proto::Value& value);

// All mistakes of a fitted value: type, None, bounds, length, choices, dtype names. Each message continues a sentence
// that begins with the attribute's name: "is 0; it must be at least 1".
std::vector<std::string> CheckValue(const Attribute& attribute, const proto::Value& value);

// The declared default, fitted; kInternal if it does not parse or fit.
absl::StatusOr<proto::Value> DefaultValue(const Attribute& attribute);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_VALUE_H_
