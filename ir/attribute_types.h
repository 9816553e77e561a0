// `FactsOf` tells what each type of attributes is called, and how the wire holds its values.
// Threads: pure functions.
#ifndef HEADRACE_IR_ATTRIBUTE_TYPES_H_
#define HEADRACE_IR_ATTRIBUTE_TYPES_H_

#include <string_view>

#include "ir/declaration.h"
#include "ir/graph.pb.h"

namespace headrace::ir {

struct AttributeTypeFacts {
  std::string_view id;        // in the reference: "ints"
  std::string_view python;    // as in Python's signatures: "int", "Sequence[float]", "Expression"
  std::string_view in_words;  // for messages: "a whole number", "a list of numbers"
  proto::Value::KindCase kind;
};

AttributeTypeFacts FactsOf(AttributeType type);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_ATTRIBUTE_TYPES_H_
