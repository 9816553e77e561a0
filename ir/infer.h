// `Infer` infers column names, types and shapes of every node before anything runs.
// Threads: pure functions over canonical graphs.
#ifndef HEADRACE_IR_INFER_H_
#define HEADRACE_IR_INFER_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/messages.h"
#include "ir/mistake.h"
#include "ir/type.h"

namespace headrace::ir {

struct Inference {
  // By node; nullopt if a mistake, here or below, prevents it.
  std::vector<std::optional<Schema>> schemas;
  std::vector<Mistake> mistakes;
};

// Nodes and steps named in `broken` (by node and step) are not inferred, because their attributes cannot be trusted: a
// broken step gives columns of unknown type, so that the steps after it are still checked.
Inference Infer(const proto::Graph& graph, absl::Span<const Mistake> broken = {});

// The schema of every node; fails as Validate would for mistakes in columns and types. For a validated graph.
absl::StatusOr<std::vector<Schema>> InferSchemas(const proto::Graph& graph);
// The schema of the last node.
absl::StatusOr<Schema> ResultSchema(const proto::Graph& graph);
// The schema of one node, given those of its inputs.
absl::StatusOr<Schema> InferNode(const proto::Node& node, absl::Span<const Schema> inputs);
// Applies one more step to the running schema of a map: outputs replace columns of the same name or are appended.
// Leaves it unchanged on an error.
absl::Status ApplyStep(const proto::Step& step, Schema& schema);

// Replaces the column of that name, or appends it.
void SetColumn(Schema& schema, const std::string& name, ColumnType type);

// "map Resize", "batch"; "map Resize in RandomApply" for a step in a branch of `chooser`, if that is not null.
std::string OperatorName(const proto::Node& node);
std::string OperatorName(const proto::Node& node, const proto::Step& step, const proto::Step* chooser = nullptr);
// "Resize", "Resize in RandomApply"; of a step that users do not write: what they wrote.
std::string KernelName(const proto::Step& step, const proto::Step* chooser = nullptr);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_INFER_H_
