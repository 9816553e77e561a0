// Column names, types and shapes of every node, before anything runs. Pure functions over canonical graphs.
#ifndef HEADRACE_IR_INFER_H_
#define HEADRACE_IR_INFER_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/graph.pb.h"
#include "ir/mistake.h"
#include "ir/type.h"

namespace headrace::ir {

struct Inference {
  // By node; nullopt where a mistake, here or below, leaves nothing to go by.
  std::vector<std::optional<Schema>> schemas;
  std::vector<Mistake> mistakes;
};

// Nodes and steps that `broken` names (by node and step) are not inferred, as their attributes cannot be trusted: a
// broken step gives columns of unknown type, so that the steps after it are still checked.
Inference Infer(const proto::Graph& graph, absl::Span<const Mistake> broken = {});

// The schema of every node; fails as Validate would for mistakes of columns and types. Of a validated graph.
absl::StatusOr<std::vector<Schema>> InferSchemas(const proto::Graph& graph);
// Of the last node.
absl::StatusOr<Schema> ResultSchema(const proto::Graph& graph);
// Of one node over its inputs.
absl::StatusOr<Schema> InferNode(const proto::Node& node, absl::Span<const Schema> inputs);
// Brings the running schema of a map past one more step: outputs replace columns of their name or stand at the end. On
// an error it is as it was.
absl::Status ApplyStep(const proto::Step& step, Schema& schema);

// "map Resize", "batch".
std::string OperatorName(const proto::Node& node);
std::string OperatorName(const proto::Node& node, const proto::Step& step);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_INFER_H_
