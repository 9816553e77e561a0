#include "ir/mark_padding.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "ir/branches.h"
#include "ir/declaration.h"
#include "ir/graph.pb.h"
#include "ir/node_traits.h"
#include "ir/passes/column_ops.h"

namespace headrace::ir {
namespace {

proto::Value* FindAttribute(proto::Node& node, std::string_view name) {
  for (proto::Attribute& attribute : *node.mutable_attributes()) {
    if (attribute.name() == name) return attribute.mutable_value();
  }
  return nullptr;
}

proto::Value* MarkOf(proto::Node& node) { return FindAttribute(node, "mark_padding"); }

bool TakesMarks(const proto::Node& node, int input) {
  const Declaration* const declaration = Registry::Global().Find(node.op());
  return input == 0 || declaration == nullptr || !declaration->traits.side_by_side;
}

class MarkPaddingMarker {
 public:
  explicit MarkPaddingMarker(proto::Graph& graph)
      : graph_(graph), wanted_(graph.nodes_size()), new_ids_(graph.nodes_size()) {
    for (proto::Node& node : *graph_.mutable_nodes()) {
      inputs_have_.push_back(InputsHave(node));
      has_.push_back(inputs_have_.back() || MarkOf(node) != nullptr);
    }
  }

  absl::Status Run() {
    if (!has_.back()) return absl::OkStatus();
    Want();
    HEADRACE_RETURN_IF_ERROR(CheckBatchKernels());
    google::protobuf::RepeatedPtrField<proto::Node> nodes;
    for (int at = 0; at < graph_.nodes_size(); ++at) {
      for (const bool marked : {false, true}) {
        if (!wanted_[at][marked]) continue;
        *nodes.Add() = Form(at, marked);
        new_ids_[at][marked] = nodes.size() - 1;
      }
    }
    graph_.mutable_nodes()->Swap(&nodes);
    return absl::OkStatus();
  }

 private:
  bool InputsHave(const proto::Node& node) const {
    for (int i = 0; i < node.inputs_size(); ++i) {
      if (TakesMarks(node, i) && has_[node.inputs(i)]) return true;
    }
    return false;
  }

  // Whether that input must have the column, given whether the node has it.
  bool InputForm(const proto::Node& node, int input, bool marked) const {
    return marked && TakesMarks(node, input) && has_[node.inputs(input)];
  }

  void Want() {
    wanted_.back()[true] = true;
    for (int at = graph_.nodes_size() - 1; at >= 0; --at) {
      const proto::Node& node = graph_.nodes(at);
      for (const bool marked : {false, true}) {
        for (int i = 0; wanted_[at][marked] && i < node.inputs_size(); ++i) {
          wanted_[node.inputs(i)][InputForm(node, i, marked)] = true;
        }
      }
    }
  }

  // A kernel that joins the rows of a batch reads the column.
  absl::Status CheckBatchKernels() const {
    for (int at = 0; at < graph_.nodes_size(); ++at) {
      if (!wanted_[at][false] || !inputs_have_[at]) continue;
      std::string joins;
      VisitSteps(graph_.nodes(at).steps(), [&](const proto::Step& step) {
        if (TraitsOf(step).by_batch) joins = step.kernel();
      });
      if (joins.empty()) continue;
      return UnsupportedError("even=\"pad\" with ", joins,
                              " below a zip's second input, where repeated rows are not marked; put it above the zip");
    }
    return absl::OkStatus();
  }

  proto::Node Form(int at, bool marked) const {
    proto::Node node = graph_.nodes(at);
    for (int i = 0; i < node.inputs_size(); ++i) {
      node.set_inputs(i, new_ids_[node.inputs(i)][InputForm(graph_.nodes(at), i, marked)]);
    }
    if (marked && !inputs_have_[at]) MarkOf(node)->set_boolean(true);
    if (marked && inputs_have_[at] && node.op() == kProjectOp) KeepColumn(node);
    return node;
  }

  static void KeepColumn(proto::Node& project) {
    std::vector<std::string> columns = ProjectedColumns(project);
    if (std::find(columns.begin(), columns.end(), kPaddingColumn) != columns.end()) return;
    columns.emplace_back(kPaddingColumn);
    SetProjectedColumns(project, columns);
  }

  proto::Graph& graph_;
  std::vector<bool> inputs_have_;  // for each node: whether an input can have the column
  std::vector<bool> has_;          // and whether the node itself can
  // For each node, by whether it has the column: a node of which both forms are used becomes two.
  std::vector<std::array<bool, 2>> wanted_;
  std::vector<std::array<uint32_t, 2>> new_ids_;
};

}  // namespace

absl::Status MarkPadding(proto::Graph& graph) { return MarkPaddingMarker(graph).Run(); }

}  // namespace headrace::ir
