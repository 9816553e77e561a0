#include "ir/passes/drop_unread_columns.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ir/attributes.h"
#include "ir/branches.h"
#include "ir/canonical.h"
#include "ir/declaration.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/infer.h"
#include "ir/node_traits.h"
#include "ir/passes/column_ops.h"
#include "ir/passes/side_effects.h"
#include "ir/value.h"

namespace headrace::ir {
namespace {

// The attribute by which the operator chooses its output columns; null: it has none.
const Attribute* ColumnChooser(const proto::Node& node) {
  const Declaration* declaration = Registry::Global().Find(node.op());
  if (declaration == nullptr) return nullptr;
  const auto& attributes = declaration->attributes;
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [](const Attribute& attribute) { return attribute.chooses_columns; });
  return found == attributes.end() ? nullptr : &*found;
}

// Whether the step acts even if nothing reads what it gives: a file that is not read is not missed.
bool MustRun(const proto::Step& step) {
  return AnyStepOf(step, [](const proto::Step& each) { return ActsBesides(each) && !ReadsFiles(each); });
}

bool AnyIn(const google::protobuf::RepeatedPtrField<std::string>& names, const ColumnSet& set) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return set.count(name) > 0; });
}

// A row needs a column: the cheapest, if none is wanted.
const std::string& Cheapest(const Schema& schema) {
  const auto scalar = std::find_if(schema.columns.begin(), schema.columns.end(), [](const Column& column) {
    return column.type.fully_known() && column.type.shape->empty() && !IsVariableLength(column.type.dtype);
  });
  return scalar == schema.columns.end() ? schema.columns[0].name : scalar->name;
}

// The wanted names of the schema, in order.
std::vector<std::string> Keep(const Schema& schema, const ColumnSet& wanted) {
  std::vector<std::string> names;
  for (const Column& column : schema.columns) {
    if (wanted.count(column.name) > 0) names.push_back(column.name);
  }
  if (names.empty() && !schema.columns.empty()) names.push_back(Cheapest(schema));
  return names;
}

class ColumnDropper {
 public:
  // The operators in `read_all` keep all columns of their inputs.
  ColumnDropper(const proto::Graph& graph, const std::vector<Schema>& schemas, const std::set<int>& read_all)
      : graph_(graph),
        schemas_(schemas),
        read_all_(read_all),
        wanted_(graph.nodes_size()),
        consumers_(graph.nodes_size()),
        kept_steps_(graph.nodes_size()),
        over_indices_(graph.nodes_size()),
        maps_over_indices_(graph.nodes_size()),
        new_id_(graph.nodes_size()) {}

  absl::StatusOr<proto::Graph> Run() {
    FindConsumers();
    FindWanted();
    HEADRACE_RETURN_IF_ERROR(Rebuild());
    HEADRACE_RETURN_IF_ERROR(WriteOutOperators(result_));
    return std::move(result_);
  }

  // The operator that does not accept its inputs with fewer columns; -1: none.
  int refused() const { return refused_; }

 private:
  void FindConsumers() {
    for (int i = 0; i < graph_.nodes_size(); ++i) {
      const proto::Node& node = graph_.nodes(i);
      over_indices_[i] = TraitsOf(node).indexed;
      for (const uint32_t input : node.inputs()) {
        consumers_[input].push_back(i);
        over_indices_[i] = over_indices_[i] && over_indices_[input];
      }
      const bool map = node.op() == kMapOp;
      maps_over_indices_[i] = map && (over_indices_[node.inputs(0)] || maps_over_indices_[node.inputs(0)]);
    }
  }

  // Rows are sharded among ranks above the operators that only act on indices. Nothing may be inserted between two of
  // those, and an operator that separates two may not be removed, or rows would be sharded at another point.
  bool FeedsIndexed(int position) const {
    const auto& consumers = consumers_[position];
    return std::any_of(consumers.begin(), consumers.end(), [&](int c) { return TraitsOf(graph_.nodes(c)).indexed; });
  }

  void FindWanted() {
    const int last = graph_.nodes_size() - 1;
    for (const Column& column : schemas_[last].columns) wanted_[last].insert(column.name);
    for (int i = last; i >= 0; --i) {
      const std::vector<ColumnSet> reads = ReadsOf(i);
      for (int k = 0; k < graph_.nodes(i).inputs_size(); ++k) {
        wanted_[graph_.nodes(i).inputs(k)].insert(reads[k].begin(), reads[k].end());
      }
    }
  }

  std::vector<ColumnSet> ReadsOf(int position) {
    const proto::Node& node = graph_.nodes(position);
    const ColumnSet& wanted = wanted_[position];
    if (node.op() == kMapOp) return {ReadsOfMap(position)};
    if (node.op() == kProjectOp && ColumnChooser(node) != nullptr) {
      const std::vector<std::string> kept = Keep(schemas_[position], wanted);
      return {ColumnSet(kept.begin(), kept.end())};
    }
    std::vector<Schema> inputs;
    for (const uint32_t input : node.inputs()) inputs.push_back(schemas_[input]);
    const Declaration* declaration = Registry::Global().Find(node.op());
    if (declaration->reads != nullptr && read_all_.count(position) == 0) {
      std::vector<ColumnSet> reads = declaration->reads(Attributes::Of(node), inputs, wanted);
      reads.resize(inputs.size());
      return reads;
    }
    return AllColumns(inputs);
  }

  static std::vector<ColumnSet> AllColumns(const std::vector<Schema>& inputs) {
    std::vector<ColumnSet> all(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::vector<std::string> names = inputs[i].Names();
      all[i].insert(names.begin(), names.end());
    }
    return all;
  }

  // Walks the steps from the last to the first. A column that a step replaces stays wanted below it even if the step
  // does not read it: it fixes the index of the column, and the order of columns is part of the result.
  ColumnSet ReadsOfMap(int position) {
    const proto::Node& node = graph_.nodes(position);
    std::vector<bool>& kept = kept_steps_[position];
    kept.assign(node.steps_size(), false);
    const std::vector<ColumnSet> added = AddedBySteps(position);
    ColumnSet live = wanted_[position];
    for (int i = node.steps_size() - 1; i >= 0; --i) {
      const proto::Step& step = node.steps(i);
      if (!AnyIn(step.outputs(), live) && !MustRun(step)) continue;
      kept[i] = true;
      for (const std::string& name : added[i]) live.erase(name);
      live.insert(step.inputs().begin(), step.inputs().end());
      // Keeps the index of columns that existed before the step.
      for (const std::string& name : step.outputs()) {
        if (added[i].count(name) == 0) live.insert(name);
      }
    }
    return live;
  }

  // For each step, the columns that it is the first to make.
  std::vector<ColumnSet> AddedBySteps(int position) const {
    const proto::Node& node = graph_.nodes(position);
    const std::vector<std::string> names = schemas_[node.inputs(0)].Names();
    ColumnSet known(names.begin(), names.end());
    std::vector<ColumnSet> added(node.steps_size());
    for (int i = 0; i < node.steps_size(); ++i) {
      for (const std::string& name : node.steps(i).outputs()) {
        if (known.insert(name).second) added[i].insert(name);
      }
    }
    return added;
  }

  absl::Status Rebuild() {
    result_ = graph_;
    result_.clear_nodes();
    for (int i = 0; i < graph_.nodes_size(); ++i) HEADRACE_RETURN_IF_ERROR(RebuildNode(i));
    return absl::OkStatus();
  }

  absl::Status RebuildNode(int position) {
    proto::Node node = graph_.nodes(position);
    for (int k = 0; k < node.inputs_size(); ++k) node.set_inputs(k, new_id_[graph_.nodes(position).inputs(k)]);
    if (node.op() == kMapOp && !node.steps().empty()) {
      DropSteps(node, kept_steps_[position]);
      if (node.steps().empty()) return LeaveOut(position, node.inputs(0));
    }
    const std::vector<std::string> kept = Keep(schemas_[position], wanted_[position]);
    const bool fewer = kept.size() < schemas_[position].columns.size();
    const Attribute* const chooser = ColumnChooser(node);
    if (fewer && chooser != nullptr) SetAttribute(node, chooser->name, StringsValue(kept));
    HEADRACE_RETURN_IF_ERROR(Append(position, std::move(node)));
    return DropRest(position);
  }

  // Removes a map that has no steps left. A project replaces it if it kept operators on indices apart.
  absl::Status LeaveOut(int position, uint32_t input) {
    new_id_[position] = input;
    if (!maps_over_indices_[position] || !FeedsIndexed(position)) return absl::OkStatus();
    return AppendProject(position, Keep(new_schemas_[input], wanted_[position]));
  }

  static void DropSteps(proto::Node& node, const std::vector<bool>& kept) {
    google::protobuf::RepeatedPtrField<proto::Step> steps;
    for (int i = 0; i < node.steps_size(); ++i) {
      if (kept[i]) *steps.Add() = node.steps(i);
    }
    node.mutable_steps()->Swap(&steps);
  }

  absl::Status Append(int position, proto::Node node) {
    std::vector<Schema> inputs;
    for (const uint32_t input : node.inputs()) inputs.push_back(new_schemas_[input]);
    absl::StatusOr<Schema> schema = InferNode(node, inputs);
    if (!schema.ok()) {
      refused_ = position;
      return schema.status();
    }
    new_schemas_.push_back(*std::move(schema));
    *result_.add_nodes() = std::move(node);
    new_id_[position] = static_cast<uint32_t>(result_.nodes_size() - 1);
    return absl::OkStatus();
  }

  // Adds a project above the node to drop the columns that nothing above reads.
  absl::Status DropRest(int position) {
    const Schema& schema = new_schemas_.back();
    const std::vector<std::string> kept = Keep(schema, wanted_[position]);
    if (kept.size() == schema.columns.size() || !ProjectHelps(position)) return absl::OkStatus();
    return AppendProject(position, kept);
  }

  absl::Status AppendProject(int position, const std::vector<std::string>& kept) {
    const Declaration* declaration = Registry::Global().Find(kProjectOp);
    if (declaration == nullptr) return UnsupportedError("there is no operator ", kProjectOp);
    proto::Node project;
    project.set_op(std::string(kProjectOp));
    project.set_version(static_cast<uint32_t>(declaration->version));
    project.add_inputs(new_id_[position]);
    proto::Attribute* columns = project.add_attributes();
    columns->set_name(std::string(kProjectColumns));
    *columns->mutable_value() = StringsValue(kept);
    *project.mutable_location() = graph_.nodes(position).location();
    project.set_user_node(graph_.nodes(position).user_node());
    return Append(position, std::move(project));
  }

  bool ProjectHelps(int position) const {
    if (position == graph_.nodes_size() - 1 || Registry::Global().Find(kProjectOp) == nullptr) return false;
    if (over_indices_[position] && FeedsIndexed(position)) return false;
    const auto& consumers = consumers_[position];
    return std::any_of(consumers.begin(), consumers.end(),
                       [&](int consumer) { return graph_.nodes(consumer).op() != kProjectOp; });
  }

  const proto::Graph& graph_;
  const std::vector<Schema>& schemas_;
  const std::set<int>& read_all_;
  std::vector<ColumnSet> wanted_;  // of each node's output
  std::vector<std::vector<int>> consumers_;
  std::vector<std::vector<bool>> kept_steps_;
  std::vector<bool> over_indices_;       // the node and all below it act on indices alone
  std::vector<bool> maps_over_indices_;  // a map with only maps and operators on indices below it
  proto::Graph result_;
  std::vector<Schema> new_schemas_;
  std::vector<uint32_t> new_id_;  // node id in the result, by old node id
  int refused_ = -1;
};

}  // namespace

absl::StatusOr<proto::Graph> DropUnreadColumns(const proto::Graph& graph) {
  HEADRACE_ASSIGN_OR_RETURN(std::vector<Schema> schemas, InferSchemas(graph));
  std::set<int> read_all;
  while (true) {
    ColumnDropper dropper(graph, schemas, read_all);
    absl::StatusOr<proto::Graph> result = dropper.Run();
    // Tries again if inputs that must agree came to differ, because not every source can leave a column out.
    if (result.ok() || dropper.refused() < 0 || !read_all.insert(dropper.refused()).second) return result;
  }
}

}  // namespace headrace::ir
