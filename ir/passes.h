// `Optimize` applies named passes from graph to graph, in a fixed order. Rows, their order and the result's columns are
// the same with every pass on or off; a pass saves only unused work. The user's graph is not changed.
// Threads: pure functions.
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
  // From a valid canonical graph to another.
  std::function<absl::StatusOr<proto::Graph>(const proto::Graph& graph)> run;
  // What it does, when it does nothing, and why the result is the same.
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
  // Why the pass's graph was rejected: a bug in the pass, which only costs speed. Usually "".
  std::string problem;
};

struct Optimized {
  proto::Graph graph;
  std::vector<PassTrace> trace;  // one per pass
};

// Runs every pass not named in `off`; kGraph if `off` names an unknown pass.
absl::StatusOr<Optimized> Optimize(const proto::Graph& graph, absl::Span<const std::string> off = {});

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_H_
