#include "ir/infer.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/error.h"
#include "ir/attributes.h"
#include "ir/branches.h"
#include "ir/chosen_types.h"
#include "ir/clip_types.h"
#include "ir/declaration.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/parameters.h"
#include "ir/suggestion.h"

namespace headrace::ir {
namespace {

absl::StatusOr<std::vector<ColumnType>> StepInputs(const proto::Step& step, const Schema& schema) {
  std::vector<ColumnType> inputs;
  for (const std::string& name : step.inputs()) {
    HEADRACE_ASSIGN_OR_RETURN(const Column* column, FindColumn(schema, name));
    inputs.push_back(column->type);
  }
  return inputs;
}

// Leaves of `type` what is true of `other`, too.
void KeepCommon(const ColumnType& other, ColumnType& type) {
  if (type.dtype != other.dtype) type.dtype = DType::kUnknown;
  if (!type.shape || !other.shape || type.shape->size() != other.shape->size()) {
    type.shape = std::nullopt;
    return;
  }
  for (size_t i = 0; i < type.shape->size(); ++i) {
    if ((*type.shape)[i] != (*other.shape)[i]) (*type.shape)[i] = kUnknownDim;
  }
}

// Forgets all sizes, of which one example alone does not say whether they depend on it.
void ForgetSizes(std::vector<ColumnType>& types) {
  for (ColumnType& type : types) {
    if (type.shape) std::fill(type.shape->begin(), type.shape->end(), kUnknownDim);
  }
}

// Of a step that reads parameters: what does not depend on their values. Examples that do not fit together say nothing
// of it; the values themselves are checked when they are bound.
absl::StatusOr<std::vector<ColumnType>> KernelOutputs(const Declaration& declaration, const proto::Step& step,
                                                      absl::Span<const ColumnType> inputs) {
  if (!ReadsParameter(step)) return InferKernelTypes(declaration, Attributes::Of(step), inputs);
  std::vector<ColumnType> common(step.outputs_size());
  int fitting = 0;
  for (int i = 0; i < kExamples; ++i) {
    absl::StatusOr<std::vector<ColumnType>> outputs =
        InferKernelTypes(declaration, Attributes::Of(WithExamples(step, i)), inputs);
    if (!outputs.ok()) continue;
    if (++fitting == 1) {
      common = *std::move(outputs);
      continue;
    }
    if (common.size() != outputs->size()) return GraphError("gives columns by a parameter");
    for (size_t c = 0; c < common.size(); ++c) KeepCommon((*outputs)[c], common[c]);
  }
  if (fitting == 1) ForgetSizes(common);
  return common;
}

absl::StatusOr<std::vector<ColumnType>> StepOutputs(const proto::Step& step, absl::Span<const ColumnType> inputs) {
  const Declaration* declaration = Registry::Global().Find(step.kernel());
  if (declaration == nullptr) return GraphError("no kernel \"", step.kernel(), "\"");
  if (declaration->infer_kernel == nullptr) return std::vector<ColumnType>(step.outputs_size());
  absl::StatusOr<std::vector<ColumnType>> outputs = KernelOutputs(*declaration, step, inputs);
  if (outputs.ok()) return outputs;
  // Adds the columns that it was given, because kernels know only types.
  std::string columns;
  for (const std::string& name : step.inputs()) Append(columns, columns.empty() ? "\"" : ", \"", name, "\"");
  return MakeError(KindOf(outputs.status()), Cat(step.inputs_size() == 1 ? "column " : "columns ", columns, ": ",
                                                 std::string(outputs.status().message())));
}

// The outputs of a broken step: only their names are known.
void GiveUnknownOutputs(const proto::Step& step, Schema& schema) {
  for (const std::string& name : step.outputs()) SetColumn(schema, name, ColumnType::Unknown());
}

// Of all operators together: each keeps the types of its own.
constexpr size_t kMostColumnsOfAll = size_t{1} << 20;
constexpr size_t kMostMistakesOfTypes = 1000;

class Inferrer {
 public:
  Inferrer(const proto::Graph& graph, absl::Span<const Mistake> broken) : graph_(graph) {
    for (const Mistake& mistake : broken) broken_.emplace(mistake.node, mistake.step);
  }

  Inference Run() && {
    result_.schemas.resize(graph_.nodes_size());
    size_t columns = 0;
    for (int i = 0; i < graph_.nodes_size() && result_.mistakes.size() < kMostMistakesOfTypes; ++i) {
      InferAt(i);
      columns += result_.schemas[i].has_value() ? result_.schemas[i]->columns.size() : 0;
      if (columns <= kMostColumnsOfAll) continue;
      AddMistake(i, -1, GraphError("all operators up to this one give more than ", kMostColumnsOfAll, " columns"));
      result_.schemas[i] = std::nullopt;
      break;
    }
    return std::move(result_);
  }

 private:
  bool Broken(int node, int step) const { return broken_.count({node, step}) > 0; }

  std::optional<std::vector<Schema>> InputsOf(int position) const {
    std::vector<Schema> inputs;
    for (const uint32_t input : graph_.nodes(position).inputs()) {
      if (input >= static_cast<uint32_t>(position) || !result_.schemas[input].has_value()) return std::nullopt;
      inputs.push_back(*result_.schemas[input]);
    }
    return inputs;
  }

  void InferAt(int position) {
    const proto::Node& node = graph_.nodes(position);
    // Continues with a map whose own attributes are wrong: its columns depend only on its steps.
    if (Broken(position, -1) && node.op() != kMapOp) return;
    std::optional<std::vector<Schema>> inputs = InputsOf(position);
    if (!inputs.has_value()) return;
    if (node.op() == kMapOp) {
      if (inputs->size() == 1) result_.schemas[position] = InferSteps(position, std::move(inputs->front()));
      return;
    }
    absl::StatusOr<Schema> schema = InferNode(node, *inputs);
    if (schema.ok()) {
      result_.schemas[position] = *std::move(schema);
    } else {
      AddMistake(position, -1, schema.status());
    }
  }

  Schema InferSteps(int position, Schema schema) {
    const proto::Node& node = graph_.nodes(position);
    for (int i = 0; i < node.steps_size(); ++i) {
      const proto::Step& step = node.steps(i);
      absl::Status status;
      if (Broken(position, i)) {
        status = StepInputs(step, schema).status();
        GiveUnknownOutputs(step, schema);
      } else {
        status = Apply(step, schema);
      }
      if (!status.ok()) AddMistake(position, i, status);
    }
    return schema;
  }

  static absl::Status Apply(const proto::Step& step, Schema& schema) {
    const absl::Status status = ApplyStep(step, schema);
    if (!status.ok()) GiveUnknownOutputs(step, schema);
    return status;
  }

  void AddMistake(int node, int step, const absl::Status& status) {
    const proto::Node& at = graph_.nodes(node);
    const bool of_step = step >= 0;
    const bool own_line = of_step && !at.steps(step).location().file().empty();
    result_.mistakes.push_back({LocationText(own_line ? at.steps(step).location() : at.location()),
                                of_step ? OperatorName(at, at.steps(step)) : OperatorName(at),
                                std::string(status.message()), KindOf(status), node, step});
  }

  const proto::Graph& graph_;
  std::set<std::pair<int, int>> broken_;
  Inference result_;
};

}  // namespace

Inference Infer(const proto::Graph& graph, absl::Span<const Mistake> broken) { return Inferrer(graph, broken).Run(); }

absl::StatusOr<std::vector<Schema>> InferSchemas(const proto::Graph& graph) {
  Inference inference = Infer(graph);
  HEADRACE_RETURN_IF_ERROR(CombineMistakes(inference.mistakes));
  std::vector<Schema> schemas;
  for (std::optional<Schema>& schema : inference.schemas) {
    if (!schema.has_value()) return InternalError("InferSchemas() of a graph that was not validated");
    schemas.push_back(*std::move(schema));
  }
  return schemas;
}

absl::StatusOr<Schema> ResultSchema(const proto::Graph& graph) {
  HEADRACE_ASSIGN_OR_RETURN(std::vector<Schema> schemas, InferSchemas(graph));
  if (schemas.empty()) return GraphError("the graph has no operators");
  return std::move(schemas.back());
}

absl::StatusOr<Schema> InferNode(const proto::Node& node, absl::Span<const Schema> inputs) {
  const Declaration* declaration = Registry::Global().Find(node.op());
  if (declaration == nullptr) return GraphError("no operator \"", node.op(), "\"");
  if (node.op() == kMapOp) {
    if (inputs.size() != 1) return GraphError("map has ", inputs.size(), " inputs; it takes 1");
    Schema schema = inputs[0];
    for (const proto::Step& step : node.steps()) {
      HEADRACE_RETURN_IF_ERROR(ApplyStep(step, schema));
    }
    return schema;
  }
  if (declaration->infer != nullptr) return declaration->infer(Attributes::Of(node), inputs);
  if (inputs.empty()) return InternalError(node.op(), " has no inputs and does not say which columns it gives");
  return inputs[0];
}

absl::Status ApplyStep(const proto::Step& step, Schema& schema) {
  if (const Declaration* const chooser = ChooserOf(step)) return ApplyChooser(*chooser, step, schema);
  HEADRACE_ASSIGN_OR_RETURN(std::vector<ColumnType> inputs, StepInputs(step, schema));
  HEADRACE_ASSIGN_OR_RETURN(std::vector<ColumnType> outputs, StepOutputs(step, inputs));
  if (outputs.size() != static_cast<size_t>(step.outputs_size())) {
    return GraphError("gives ", outputs.size(), outputs.size() == 1 ? " column, but " : " columns, but ",
                      step.outputs_size(), step.outputs_size() == 1 ? " is named" : " are named");
  }
  for (int i = 0; i < step.outputs_size(); ++i) SetColumn(schema, step.outputs(i), std::move(outputs[i]));
  return absl::OkStatus();
}

std::string OperatorName(const proto::Node& node) { return node.op(); }

void SetColumn(Schema& schema, const std::string& name, ColumnType type) {
  const int index = schema.IndexOf(name);
  if (index >= 0) {
    schema.columns.type(static_cast<size_t>(index)) = std::move(type);
  } else {
    schema.columns.push_back({name, std::move(type)});
  }
}

std::string OperatorName(const proto::Node& node, const proto::Step& step, const proto::Step* chooser) {
  return Cat(node.op(), " ", KernelName(step, chooser));
}

std::string KernelName(const proto::Step& step, const proto::Step* chooser) {
  const Declaration* const declaration = Registry::Global().Find(step.kernel());
  const std::string& written = declaration == nullptr ? step.kernel() : declaration->written();
  return chooser == nullptr ? written : Cat(written, " in ", chooser->kernel());
}

}  // namespace headrace::ir
