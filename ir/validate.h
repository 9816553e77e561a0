// `FindMistakes` finds all mistakes in a pipeline before it runs: structure, attributes, columns and types. `Validate`
// makes one error of them.
// Threads: pure functions.
#ifndef HEADRACE_IR_VALIDATE_H_
#define HEADRACE_IR_VALIDATE_H_

#include <vector>

#include "absl/status/status.h"
#include "ir/messages.h"
#include "ir/mistake.h"

namespace headrace::ir {

// For a canonical graph. In the order of nodes and steps; each mistake once, without mistakes that follow from another.
std::vector<Mistake> FindMistakes(const proto::Graph& graph);

// FindMistakes as one error.
absl::Status Validate(const proto::Graph& graph);

// A graph runs as a tree, with a node for every use: more operators than this are refused.
inline constexpr int64_t kMostOperators = 100'000;

}  // namespace headrace::ir

#endif  // HEADRACE_IR_VALIDATE_H_
