#include "ir/column_history.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.h"
#include "ir/attributes.h"
#include "ir/branches.h"
#include "ir/chosen_types.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/infer.h"
#include "ir/parameters.h"
#include "ir/passes/column_ops.h"

namespace headrace::ir {
namespace {

ColumnHistory OfSource(const ColumnType& type) { return {.bytes_range = type.dtype == DType::kUInt8}; }

// What is true of both.
ColumnHistory Common(const ColumnHistory& a, const ColumnHistory& b) {
  ColumnHistory common = a;
  if (a.axes != b.axes) common.axes = ImageAxes::kUnknown;
  common.batches = std::min(a.batches, b.batches);
  common.bytes_range = a.bytes_range && b.bytes_range;
  if (a.units_by != b.units_by) common.units_by.clear();
  return common;
}

ColumnHistories Renamed(const NewNames& names, const ColumnHistories& histories) {
  ColumnHistories renamed;
  for (const auto& [name, history] : histories) renamed[NewName(names, name)] = history;
  return renamed;
}

// Columns of the first input that has them; where inputs follow each other, of all that have them.
ColumnHistories Merged(absl::Span<const ColumnHistories* const> inputs, bool side_by_side) {
  ColumnHistories merged;
  for (const ColumnHistories* input : inputs) {
    for (const auto& [name, history] : *input) {
      const auto [found, added] = merged.try_emplace(name, history);
      if (!added && !side_by_side) found->second = Common(found->second, history);
    }
  }
  return merged;
}

bool KeepsAxes(const Declaration& declaration) {
  const Traits& traits = declaration.traits;
  return traits.geometric || traits.per_pixel || traits.pointwise || declaration.takes_layout != nullptr;
}

// The kernel that made numbers of 0 … 1 of a step's output; "": they may be others.
std::string UnitsBy(const Declaration& declaration, const proto::Step& step, const std::string& before) {
  if (declaration.gives_units != nullptr) {
    if (ReadsParameter(step) || !declaration.gives_units(Attributes::Of(step), !before.empty())) return "";
    return before.empty() ? declaration.name : before;
  }
  const Traits& traits = declaration.traits;
  const bool keeps = traits.geometric || traits.layout || traits.casts || traits.pointwise || traits.per_pixel;
  return keeps ? before : "";
}

// Of a kernel's output, given the corresponding input.
ColumnHistory AfterKernel(const Declaration& declaration, const proto::Step& step, const ColumnHistory& input,
                          const ColumnType& type) {
  const Traits& traits = declaration.traits;
  ColumnHistory after;
  after.batches = input.batches;
  if (traits.layout) {
    after.axes = ImageAxes::kChannelsFirst;
  } else if (traits.decodes || traits.geometric || (traits.per_pixel && declaration.takes_layout == nullptr)) {
    after.axes = ImageAxes::kChannelsLast;
  } else if (KeepsAxes(declaration)) {
    after.axes = input.axes;
    after.axes_by = input.axes_by;
  }
  if (after.axes_by.empty()) after.axes_by = declaration.name;
  const bool keeps_values = traits.geometric || traits.layout || traits.casts;
  after.bytes_range = type.dtype == DType::kUInt8 || (keeps_values && input.bytes_range);
  after.units_by = UnitsBy(declaration, step, input.units_by);
  return after;
}

// Adds the outputs of a step, whose types are in `schema`.
void AddStep(const proto::Step& step, const Schema& schema, ColumnHistories& histories) {
  const Declaration* const declaration = Registry::Global().Find(step.kernel());
  if (declaration == nullptr) return;
  std::vector<ColumnHistory> inputs;
  for (const std::string& name : step.inputs()) inputs.push_back(histories[name]);
  if (inputs.empty()) inputs.emplace_back();
  int batches = inputs[0].batches;
  for (const ColumnHistory& input : inputs) batches = std::min(batches, input.batches);
  for (int i = 0; i < step.outputs_size(); ++i) {
    const Column* const column = schema.Find(step.outputs(i));
    const ColumnHistory& input = inputs[std::min<size_t>(i, inputs.size() - 1)];
    ColumnHistory after =
        AfterKernel(*declaration, step, input, column == nullptr ? ColumnType::Unknown() : ColumnType(column->type));
    after.batches = batches;
    histories[step.outputs(i)] = std::move(after);
  }
}

// Makes the step's outputs what they are in both.
void MergeOutputs(const proto::Step& step, const ColumnHistories& other, ColumnHistories& histories) {
  for (const std::string& name : step.outputs()) {
    histories[name] = Common(histories[name], other.find(name)->second);
  }
}

absl::Status FollowBranch(const proto::Branch& branch, Schema schema, ColumnHistories& histories) {
  for (const proto::Step& step : branch.steps()) HEADRACE_RETURN_IF_ERROR(FollowStep(step, schema, histories));
  return absl::OkStatus();
}

// Makes the histories what they are for a row that may have gone through branches before.
absl::Status Widen(const proto::Step& step, const Branching& branching, const Schema& schema,
                   ColumnHistories& histories) {
  ColumnHistories widened = histories;
  for (int i = 0; i < step.branches_size(); ++i) {
    if (!branching.drawn[static_cast<size_t>(i)]) continue;
    ColumnHistories after = histories;
    HEADRACE_RETURN_IF_ERROR(FollowBranch(step.branches(i), schema, after));
    MergeOutputs(step, after, widened);
  }
  // What one of them changes is not known.
  for (const std::string& name : step.outputs()) {
    if (widened[name] != histories[name]) histories[name] = {.batches = widened[name].batches};
  }
  return absl::OkStatus();
}

absl::Status FollowChooser(const Declaration& chooser, const proto::Step& step, Schema& schema,
                           ColumnHistories& histories) {
  HEADRACE_ASSIGN_OR_RETURN(const Branching branching, BranchingOfStep(chooser, step));
  Schema begin = schema;
  ColumnHistories before = histories;
  HEADRACE_RETURN_IF_ERROR(EnterBranches(chooser, step, begin, before));
  if (branching.several) {
    // Holds after each of them as well.
    schema = std::move(begin);
    histories = std::move(before);
    return absl::OkStatus();
  }
  std::optional<ColumnHistories> result;
  if (branching.none) result = before;
  for (int i = 0; i < step.branches_size(); ++i) {
    if (!branching.drawn[static_cast<size_t>(i)]) continue;
    ColumnHistories after = before;
    HEADRACE_RETURN_IF_ERROR(FollowBranch(step.branches(i), begin, after));
    if (result.has_value()) {
      MergeOutputs(step, after, *result);
    } else {
      result = std::move(after);
    }
  }
  HEADRACE_RETURN_IF_ERROR(ApplyStep(step, schema));
  histories = *std::move(result);
  return absl::OkStatus();
}

}  // namespace

ColumnHistories HistoriesAfter(const proto::Node& node, absl::Span<const ColumnHistories* const> inputs,
                               const Schema& schema) {
  const Declaration* const declaration = Registry::Global().Find(node.op());
  ColumnHistories known = Merged(inputs, declaration != nullptr && declaration->traits.side_by_side);
  if (node.op() == kRenameOp) known = Renamed(RenamedColumns(node), known);
  ColumnHistories histories;
  for (const Column& column : schema.columns) {
    const auto found = known.find(column.name);
    ColumnHistory history = found == known.end() ? OfSource(column.type) : found->second;
    if (declaration != nullptr && declaration->traits.joins_rows) ++history.batches;
    if (declaration != nullptr && declaration->traits.one_to_many) history.batches = std::max(0, history.batches - 1);
    histories[column.name] = history;
  }
  return histories;
}

std::vector<ColumnHistories> HistoriesOf(const proto::Graph& graph, absl::Span<const Schema> schemas) {
  std::vector<ColumnHistories> histories;
  for (int i = 0; i < graph.nodes_size(); ++i) {
    const proto::Node& node = graph.nodes(i);
    if (node.op() == kMapOp) {
      Schema schema = schemas[node.inputs(0)];
      ColumnHistories of_map = histories[node.inputs(0)];
      // A step of a valid graph cannot fail here.
      for (const proto::Step& step : node.steps()) FollowStep(step, schema, of_map).IgnoreError();
      histories.push_back(std::move(of_map));
      continue;
    }
    std::vector<const ColumnHistories*> inputs;
    for (const uint32_t input : node.inputs()) inputs.push_back(&histories[input]);
    histories.push_back(HistoriesAfter(node, inputs, schemas[static_cast<size_t>(i)]));
  }
  return histories;
}

bool HoldsBatches(const ColumnHistories& histories, std::string_view column) {
  const auto found = histories.find(column);
  return found != histories.end() && found->second.batches > 0;
}

absl::Status EnterBranches(const Declaration& chooser, const proto::Step& step, Schema& schema,
                           ColumnHistories& histories) {
  HEADRACE_ASSIGN_OR_RETURN(const Branching branching, BranchingOfStep(chooser, step));
  HEADRACE_ASSIGN_OR_RETURN(schema, SchemaInBranches(chooser, step, schema));
  const ColumnHistories before = histories;
  for (int i = 0; i < step.inputs_size(); ++i) {
    const auto input = before.find(step.inputs(i));
    histories[step.outputs(i)] = input == before.end() ? ColumnHistory() : input->second;
  }
  return branching.several ? Widen(step, branching, schema, histories) : absl::OkStatus();
}

absl::Status FollowStep(const proto::Step& step, Schema& schema, ColumnHistories& histories) {
  if (const Declaration* const chooser = ChooserOf(step)) return FollowChooser(*chooser, step, schema, histories);
  HEADRACE_RETURN_IF_ERROR(ApplyStep(step, schema));
  AddStep(step, schema, histories);
  return absl::OkStatus();
}

}  // namespace headrace::ir
