// `DeclarationsJson` writes all declarations as JSON, from which the Python generator makes classes and the reference
// page. They are sorted by name; the same declarations give the same text.
// Threads: a pure function over the registry.
#ifndef HEADRACE_IR_REFERENCE_H_
#define HEADRACE_IR_REFERENCE_H_

#include <string>

#include "ir/declaration.h"

namespace headrace::ir {

// {"format": 1, "operators": [{"name", "version", "role", "summary", "doc", "python_module", "python_name", "python":
//   {"parameters", "docs": {name: text (null: the attribute's)}, "returns"} (null: one parameter an attribute),
//   "example", "sample": {"attributes": {name: Python text}, "inputs": [kind]}, "inputs": {"least", "most" (null: any
//   number)}, "attributes": [{"name", "type", "python_type", "doc", "default" (Python text as declared; null:
//   required), "nullable", "minimum", "maximum", "exclusive_minimum", "choices", "lengths", "length" ([least,
//   most (null: any number)]; null: any), "broadcast", "tuning", "path", "hidden"}], "traits": {...}}], "passes":
//   [{"name", "doc"}]}
std::string DeclarationsJson(const Registry& registry = Registry::Global());

// "kernel", "source", "row", "stream".
std::string_view RoleName(Role role);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_REFERENCE_H_
