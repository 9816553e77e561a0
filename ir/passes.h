// The optimizer: named passes from graph to graph, in a fixed order. Rows, their order and the result's columns are the
// same with every pass on or off; only work that nobody would see is saved. Pure functions; the user's graph stays as
// it is.
#ifndef HEADRACE_IR_PASSES_H_
#define HEADRACE_IR_PASSES_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/graph.pb.h"

namespace headrace::ir {

struct Pass {
  std::string name;
  std::string doc;  // one sentence
  // Of a valid canonical graph, to another.
  std::function<absl::StatusOr<proto::Graph>(const proto::Graph& graph)> run;
  // What it does and where it does nothing, and why the result is the same.
  std::string details = {};
};

// In the order in which they run.
const std::vector<Pass>& AllPasses();

struct PassTrace {
  std::string name;
  std::string before_text;  // GraphDump
  std::string after_text;
  bool changed = false;
  bool off = false;
  // Why the pass's graph was not taken: a fault of the pass, which costs speed alone. "" as a rule.
  std::string problem;
};

struct Optimized {
  proto::Graph graph;
  std::vector<PassTrace> trace;  // one a pass
};

// Runs every pass not named in `off`; kGraph for a name in `off` that no pass has.
absl::StatusOr<Optimized> Optimize(const proto::Graph& graph, absl::Span<const std::string> off = {});

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_H_
