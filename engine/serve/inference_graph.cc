#include "engine/serve/inference_graph.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/caught_error.h"
#include "core/error.h"
#include "core/text.h"
#include "engine/serve/column_error.h"
#include "ir/attributes.h"
#include "ir/branches.h"
#include "ir/canonical.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/graph_hash.h"
#include "ir/infer.h"
#include "ir/node_traits.h"
#include "ir/parameters.h"
#include "ir/passes/column_ops.h"
#include "ir/passes/drop_unread_columns.h"
#include "ir/passes/fuse_image.h"
#include "ir/passes/inline_branches.h"
#include "ir/passes/merge_maps.h"
#include "ir/passes/remove_identities.h"
#include "ir/row_ops/input.h"
#include "ir/validate.h"

namespace headrace {
namespace {

// Nothing is drawn, so any seed and row give the same.
constexpr uint64_t kSeed = 0;

// Makes an error of what an allocation throws, here or in a library that is called.
template <typename Work>
auto WithoutExceptions(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (...) {
    return CaughtError();
  }
}

absl::Status AtNode(absl::Status status, const ir::proto::Graph& graph, int node) {
  const ir::proto::Node& at = graph.nodes(node);
  AddErrorField(status, ErrorField::kOperator, Cat(at.op(), "[", node, "]"));
  AddErrorField(status, ErrorField::kLocation, ir::LocationText(at.location()));
  return status;
}

absl::Status AtStep(absl::Status status, const ir::proto::Graph& graph, int node, const ir::proto::Step& step) {
  const ir::proto::Node& at = graph.nodes(node);
  AddErrorField(status, ErrorField::kOperator, Cat(at.op(), "[", node, "] ", ir::KernelName(step)));
  AddErrorField(status, ErrorField::kLocation, ir::LocationText(step.has_location() ? step.location() : at.location()));
  return status;
}

bool ChoosesColumns(const ir::proto::Node& node) { return node.op() == ir::kProjectOp || node.op() == ir::kRenameOp; }

absl::Status CheckOperator(const ir::proto::Graph& graph, int node) {
  const ir::proto::Node& at = graph.nodes(node);
  if (node == 0 && at.op() == ir::kInputOp) return absl::OkStatus();
  if (at.inputs().empty()) {
    return GraphError(at.op(), " gives rows, and an inference graph has one source, ", ir::kInputOp,
                      ", whose columns come with each request: cut out what is done to a row with "
                      "hr.inference(ds, keep=…)");
  }
  if (at.op() != ir::kMapOp && !ChoosesColumns(at)) {
    return GraphError(at.op(), " takes rows together, or changes which rows there are, and an inference graph has one ",
                      "row: only ", ir::kMapOp, ", ", ir::kProjectOp, " and ", ir::kRenameOp, " may stand in it");
  }
  if (at.inputs_size() == 1 && static_cast<int>(at.inputs(0)) == node - 1) return absl::OkStatus();
  return GraphError(at.op(),
                    " does not follow the operator before it; the operators of an inference graph are a chain");
}

absl::Status CheckOperators(const ir::proto::Graph& graph) {
  if (graph.nodes().empty()) return GraphError("the graph has no operators");
  for (int i = 0; i < graph.nodes_size(); ++i) {
    absl::Status status = CheckOperator(graph, i);
    if (!status.ok()) return AtNode(std::move(status), graph, i);
  }
  if (!graph.has_skip_failed()) return absl::OkStatus();
  return GraphError("the graph leaves out rows that fail, and a request that fails is an error: leave out on_error()");
}

bool NamesObject(const ir::proto::Step& step) {
  return std::any_of(step.attributes().begin(), step.attributes().end(),
                     [](const auto& attribute) { return attribute.value().has_reference(); });
}

// Why the step has no place in an inference graph; OK: it has one.
absl::Status CheckStep(const ir::proto::Step& step) {
  if (ir::ReadsParameter(step)) {
    return GraphError("reads a parameter, whose values come with epochs; write a number in its place");
  }
  const ir::Traits traits = ir::TraitsOf(step);
  if (traits.python || NamesObject(step)) {
    return GraphError(
        "is a Python function, which does not travel with a graph; replace it by kernels: "
        "hr.inference(ds, replace={…})");
  }
  if (traits.random || step.salt() != 0) {
    const std::string kernel = ir::KernelName(step);
    return GraphError(
        "draws random numbers, and a request has the same result each time; replace it by what draws "
        "nothing, or by nothing: hr.inference(ds, replace={\"",
        kernel, "\": []})");
  }
  if (traits.file_io) return GraphError("reads files, and a request holds all that its result is made of");
  if (traits.by_batch) return GraphError("works on whole batches, and a request is one row");
  return absl::OkStatus();
}

absl::Status CheckSteps(const ir::proto::Graph& graph) {
  absl::Status status;
  for (int i = 0; i < graph.nodes_size() && status.ok(); ++i) {
    ir::VisitSteps(graph.nodes(i).steps(), [&](const ir::proto::Step& step) {
      if (status.ok()) status = AtStep(CheckStep(step), graph, i, step);
    });
  }
  return status;
}

// Notes at each step what messages call it, whatever passes do.
void NameSteps(ir::proto::Graph& graph) {
  for (int i = 0; i < graph.nodes_size(); ++i) {
    ir::proto::Node& node = *graph.mutable_nodes(i);
    const auto number = static_cast<uint32_t>(i + 1);
    node.set_user_node(number);
    ir::VisitSteps(node.mutable_steps(), [number](ir::proto::Step& step) { step.set_user_node(number); });
    for (ir::proto::Step& step : *node.mutable_steps()) {
      if (step.location().file().empty()) *step.mutable_location() = node.location();
    }
  }
}

using PassFunction = absl::StatusOr<ir::proto::Graph> (*)(const ir::proto::Graph&);
// Those of ir::AllPasses() that concern single rows, in their order.
constexpr PassFunction kPasses[] = {ir::InlineBranches, ir::RemoveIdentities, ir::DropUnreadColumns, ir::MergeMaps,
                                    ir::FuseImage};

// A pass that fails costs only speed.
ir::proto::Graph Optimized(ir::proto::Graph graph, const ir::Schema& result) {
  for (const PassFunction pass : kPasses) {
    absl::StatusOr<ir::proto::Graph> after = pass(graph);
    if (!after.ok()) continue;
    const absl::StatusOr<ir::Schema> schema = ir::ResultSchema(*after);
    if (schema.ok() && *schema == result) graph = *std::move(after);
  }
  return graph;
}

absl::Status AddNode(const ir::proto::Node& node, KernelChain& chain) {
  if (node.op() == ir::kProjectOp) return chain.Keep(ir::ProjectedColumns(node));
  if (node.op() == ir::kRenameOp) return chain.Rename(ir::RenamedColumns(node));
  for (const ir::proto::Step& step : node.steps()) HEADRACE_RETURN_IF_ERROR(chain.Add(step));
  return absl::OkStatus();
}

absl::StatusOr<KernelChain> ChainOf(const ir::proto::Graph& graph, const std::vector<ir::Column>& inputs) {
  std::vector<std::string> names;
  for (const ir::Column& input : inputs) names.push_back(input.name);
  KernelChain chain(names);
  for (int i = 1; i < graph.nodes_size(); ++i) HEADRACE_RETURN_IF_ERROR(AddNode(graph.nodes(i), chain));
  return chain;
}

std::vector<ir::Column> ColumnsOf(const ir::Schema& schema) { return {schema.columns.begin(), schema.columns.end()}; }

// The graph was validated with the declared types, so that what a kernel still refuses is the request's.
absl::Status OfRequest(const absl::Status& error) {
  if (KindOf(error) != ErrorKind::kGraph) return error;
  absl::Status of_request = MakeError(ErrorKind::kData, ToStd(error.message()));
  error.ForEachPayload([&](absl::string_view url, const absl::Cord& value) { of_request.SetPayload(url, value); });
  return of_request;
}

// Kernels of plugins alone may give another type than they inferred.
absl::Status CheckOutputs(const std::vector<ir::Column>& outputs, absl::Span<const Tensor> values) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (ir::FitsType(outputs[i].type, values[i].dtype(), values[i].shape())) continue;
    absl::Status error =
        MakeError(ErrorKind::kFunction, Cat("output \"", outputs[i].name, "\" is ", values[i].TypeName(),
                                            ", and infer() of its kernels said ", ir::TypeName(outputs[i].type),
                                            " (a fault of a plugin, not of the request)"));
    return OfColumn(std::move(error), outputs[i].name);
  }
  return absl::OkStatus();
}

// The value in the caller's memory.
absl::StatusOr<Tensor> InSlot(const ir::Column& output, const Tensor& value, const Tensor& slot) {
  if (value.dtype() != slot.dtype() || value.shape() != slot.shape() || IsVariableLength(value.dtype())) {
    absl::Status error =
        DataError("output \"", output.name, "\" is ", value.TypeName(), " and does not fit the memory given for it, ",
                  slot.valid() ? slot.TypeName() : std::string("of no type"));
    return OfColumn(std::move(error), output.name);
  }
  if (value.raw() == slot.raw() && value.strides() == slot.strides()) return value;
  if (!slot.contiguous()) {
    return OfColumn(GraphError("the memory given for output \"", output.name, "\" is not row-major"), output.name);
  }
  Tensor into = slot;
  if (value.elements() > 0) value.CopyTo(into.mutable_raw());
  return into;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const InferenceGraph>> InferenceGraph::Parse(std::string_view bytes) {
  return WithoutExceptions([&]() -> absl::StatusOr<std::shared_ptr<const InferenceGraph>> {
    HEADRACE_ASSIGN_OR_RETURN(const ir::proto::Graph graph, ir::ParseGraph(bytes));
    return MadeOf(graph);
  });
}

absl::StatusOr<std::shared_ptr<const InferenceGraph>> InferenceGraph::Make(const ir::proto::Graph& graph) {
  return WithoutExceptions([&] { return MadeOf(graph); });
}

absl::StatusOr<std::shared_ptr<const InferenceGraph>> InferenceGraph::MadeOf(const ir::proto::Graph& graph) {
  HEADRACE_RETURN_IF_ERROR(CheckOperators(graph));
  HEADRACE_RETURN_IF_ERROR(ir::CheckChoosers(graph));
  HEADRACE_RETURN_IF_ERROR(CheckSteps(graph));
  ir::proto::Graph canonical = graph;
  HEADRACE_RETURN_IF_ERROR(ir::Canonicalize(canonical));
  HEADRACE_RETURN_IF_ERROR(ir::Validate(canonical));
  // The canonical form may have operators of their own for attributes, and salts that were not given.
  HEADRACE_RETURN_IF_ERROR(CheckOperators(canonical));
  HEADRACE_RETURN_IF_ERROR(CheckSteps(canonical));
  NameSteps(canonical);
  HEADRACE_ASSIGN_OR_RETURN(const ir::Schema result, ir::ResultSchema(canonical));
  std::shared_ptr<InferenceGraph> made(new InferenceGraph());
  made->hash_ = ir::HashText(ir::UserGraphHash(canonical));
  made->inputs_ = ColumnsOf(ir::Attributes::Of(canonical.nodes(0)).Columns(ir::kInputColumns));
  made->outputs_ = ColumnsOf(result);
  HEADRACE_ASSIGN_OR_RETURN(made->chain_, ChainOf(Optimized(canonical, result), made->inputs_));
  made->chain_.Fix(kSeed);
  made->graph_ = std::make_shared<const ir::proto::Graph>(std::move(canonical));
  return made;
}

absl::Status InferenceGraph::CheckInputs(absl::Span<const Tensor> inputs) const {
  if (inputs.size() != inputs_.size()) {
    std::string names;
    for (const ir::Column& input : inputs_) Append(names, names.empty() ? "" : ", ", input.name);
    return GraphError("the graph takes ", inputs_.size(), inputs_.size() == 1 ? " input (" : " inputs (", names,
                      "); got ", inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::Column& input = inputs_[i];
    if (inputs[i].valid() && ir::FitsType(input.type, inputs[i].dtype(), inputs[i].shape())) continue;
    absl::Status error = DataError("input \"", input.name, "\" is to be ", ir::TypeName(input.type), "; got ",
                                   inputs[i].valid() ? inputs[i].TypeName() : std::string("none"));
    return OfColumn(std::move(error), input.name);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> InferenceGraph::Run(absl::Span<const Tensor> inputs,
                                                        absl::Span<const std::optional<Tensor>> slots) const {
  return WithoutExceptions([&] { return RunRequest(inputs, slots); });
}

absl::StatusOr<std::vector<Tensor>> InferenceGraph::RunRequest(absl::Span<const Tensor> inputs,
                                                               absl::Span<const std::optional<Tensor>> slots) const {
  HEADRACE_RETURN_IF_ERROR(CheckInputs(inputs));
  if (!slots.empty() && slots.size() != outputs_.size()) {
    return GraphError("the graph has ", outputs_.size(), " outputs; got memory for ", slots.size());
  }
  KernelChain::Row given(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i]) given[i] = *slots[i];
  }
  KernelChain::Row row(inputs.begin(), inputs.end());
  absl::Status status = chain_.Run(kSeed, RowId(), row, given);
  if (!status.ok()) return OfRequest(status);
  std::vector<Tensor> outputs(std::make_move_iterator(row.begin()), std::make_move_iterator(row.end()));
  HEADRACE_RETURN_IF_ERROR(CheckOutputs(outputs_, outputs));
  for (size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].has_value()) continue;
    HEADRACE_ASSIGN_OR_RETURN(outputs[i], InSlot(outputs_[i], outputs[i], *slots[i]));
  }
  return outputs;
}

absl::StatusOr<std::vector<StepResult>> InferenceGraph::Trace(absl::Span<const Tensor> inputs) const {
  return WithoutExceptions([&] { return TraceRequest(inputs); });
}

absl::StatusOr<std::vector<StepResult>> InferenceGraph::TraceRequest(absl::Span<const Tensor> inputs) const {
  HEADRACE_RETURN_IF_ERROR(CheckInputs(inputs));
  HEADRACE_ASSIGN_OR_RETURN(const KernelChain steps, ChainOf(*graph_, inputs_));
  std::vector<StepResult> results;
  KernelChain::Row row(inputs.begin(), inputs.end());
  absl::Status status =
      steps.Trace(kSeed, RowId(), row, [&](const std::string& step, const std::string& column, const Tensor& value) {
        results.push_back({step, column, value});
      });
  if (!status.ok()) return OfRequest(status);
  return results;
}

}  // namespace headrace
