#include "capi/request.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "capi/call_status.h"
#include "capi/given_output.h"
#include "capi/graph_handle.h"
#include "capi/viewed_tensor.h"
#include "core/error.h"
#include "engine/serve/column_error.h"

namespace headrace::capi {
namespace {

using Inputs = absl::InlinedVector<Tensor, 2>;
using Slots = absl::InlinedVector<std::optional<Tensor>, 2>;

std::string NamesOf(const std::vector<ir::Column>& columns) {
  std::string names;
  for (const ir::Column& column : columns) names += Cat(names.empty() ? "" : ", ", column.name);
  return names;
}

absl::Status CheckCount(std::string_view what, const std::vector<ir::Column>& columns, const hr_tensor* given,
                        size_t count) {
  if (count != columns.size()) {
    return ArgumentError("the graph has ", columns.size(), " ", what, columns.size() == 1 ? " (" : "s (",
                         NamesOf(columns), "); got ", count);
  }
  if (given == nullptr && count > 0) return ArgumentError(what, "s is NULL");
  return absl::OkStatus();
}

// Names what a structure is of.
absl::Status InColumn(std::string_view what, const ir::Column& column, const absl::Status& error) {
  return OfColumn(Reworded(error, Cat(what, " \"", column.name, "\": ", ToStd(error.message()))), column.name);
}

absl::StatusOr<Inputs> ViewInputs(const InferenceGraph& graph, absl::Span<const hr_tensor> given) {
  Inputs inputs;
  for (size_t i = 0; i < given.size(); ++i) {
    absl::StatusOr<Tensor> input = ViewInput(given[i]);
    if (!input.ok()) return InColumn("input", graph.inputs()[i], input.status());
    inputs.push_back(*std::move(input));
  }
  return inputs;
}

absl::StatusOr<Slots> ViewSlots(const InferenceGraph& graph, absl::Span<const hr_tensor> given) {
  Slots slots;
  for (size_t i = 0; i < given.size(); ++i) {
    absl::StatusOr<std::optional<Tensor>> slot = ViewSlot(given[i]);
    if (!slot.ok()) return InColumn("output", graph.outputs()[i], slot.status());
    slots.push_back(*std::move(slot));
  }
  return slots;
}

}  // namespace

absl::Status CheckCounts(const hr_graph* graph, const hr_tensor* inputs, size_t input_count, const hr_tensor* outputs,
                         size_t output_count) {
  if (graph == nullptr) return ArgumentError("graph is NULL");
  HEADRACE_RETURN_IF_ERROR(CheckCount("input", graph->graph->inputs(), inputs, input_count));
  return CheckCount("output", graph->graph->outputs(), outputs, output_count);
}

absl::Status RunRequest(const InferenceGraph& graph, absl::Span<const hr_tensor> inputs,
                        absl::Span<hr_tensor> outputs) {
  GivenOutputs given;
  {
    HEADRACE_ASSIGN_OR_RETURN(const Inputs values, ViewInputs(graph, inputs));
    HEADRACE_ASSIGN_OR_RETURN(const Slots slots, ViewSlots(graph, outputs));
    HEADRACE_ASSIGN_OR_RETURN(std::vector<Tensor> results, graph.Run(values, slots));
    // While `values` hold the inputs: a result that is a view of one is then copied.
    HEADRACE_RETURN_IF_ERROR(given.Take(std::move(results), outputs));
  }
  given.Give(outputs);
  return absl::OkStatus();
}

}  // namespace headrace::capi

hr_status* hr_run(const hr_graph* graph, const hr_tensor* inputs, size_t input_count, hr_tensor* outputs,
                  size_t output_count) {
  return headrace::capi::Guarded([&]() -> absl::Status {
    HEADRACE_RETURN_IF_ERROR(headrace::capi::CheckCounts(graph, inputs, input_count, outputs, output_count));
    return headrace::capi::RunRequest(*graph->graph, absl::MakeConstSpan(inputs, input_count),
                                      absl::MakeSpan(outputs, output_count));
  });
}
