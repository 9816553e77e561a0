#include "ir/passes/remove_identities.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/infer.h"
#include "ir/parameters.h"
#include "ir/passes/graph_editor.h"

namespace headrace::ir {
namespace {

using RowBounds = std::vector<std::optional<uint64_t>>;

bool IsIdentity(const proto::Step& step, const Schema& schema) {
  const Declaration* declaration = Registry::Global().Find(step.kernel());
  if (declaration == nullptr || declaration->is_kernel_identity == nullptr || ReadsParameter(step)) return false;
  const bool in_place = step.inputs_size() == 1 && step.outputs_size() == 1 && step.inputs(0) == step.outputs(0);
  const Column* column = in_place ? schema.Find(step.inputs(0)) : nullptr;
  return column != nullptr && declaration->is_kernel_identity(Attributes::Of(step), {column->type});
}

class IdentityRemover {
 public:
  explicit IdentityRemover(GraphEditor editor) : editor_(std::move(editor)), most_rows_(editor_.size()) {}

  absl::StatusOr<proto::Graph> Run() && {
    for (int id = 0; id < editor_.size(); ++id) {
      const RowBounds bounds = InputBounds(id);
      most_rows_[id] = MostRowsOf(id, bounds);
      if (editor_.node(id).op() == kMapOp) HEADRACE_RETURN_IF_ERROR(RemoveSteps(id));
      if (IsIdentityAt(id, bounds)) editor_.Remove(id);
    }
    return std::move(editor_).Finish();
  }

 private:
  RowBounds InputBounds(int id) const {
    RowBounds bounds;
    for (const uint32_t input : editor_.node(id).inputs()) bounds.push_back(most_rows_[input]);
    return bounds;
  }

  std::optional<uint64_t> MostRowsOf(int id, const RowBounds& inputs) const {
    const Declaration& declaration = editor_.declaration(id);
    if (declaration.most_rows != nullptr) {
      return declaration.most_rows(Attributes::Of(editor_.node(id)), inputs);
    }
    return declaration.traits.one_to_one && inputs.size() == 1 ? inputs[0] : std::nullopt;
  }

  bool IsIdentityAt(int id, const RowBounds& bounds) const {
    const proto::Node& node = editor_.node(id);
    if (node.inputs_size() != 1) return false;
    if (node.op() == kMapOp) return node.steps().empty();
    const Declaration& declaration = editor_.declaration(id);
    const bool counts = declaration.role == Role::kStream && !editor_.over_indices(id);
    if (declaration.is_identity == nullptr || counts) return false;
    // It removes rows that failed.
    if (declaration.traits.selects && editor_.skip_failed()) return false;
    return declaration.is_identity(Attributes::Of(node), editor_.InputSchemas(id), bounds);
  }

  absl::Status RemoveSteps(int id) {
    Schema schema = editor_.InputSchemas(id)[0];
    google::protobuf::RepeatedPtrField<proto::Step> kept;
    for (const proto::Step& step : editor_.node(id).steps()) {
      if (!IsIdentity(step, schema)) *kept.Add() = step;
      HEADRACE_RETURN_IF_ERROR(ApplyStep(step, schema));
    }
    editor_.mutable_node(id).mutable_steps()->Swap(&kept);
    return absl::OkStatus();
  }

  GraphEditor editor_;
  std::vector<std::optional<uint64_t>> most_rows_;
};

}  // namespace

absl::StatusOr<proto::Graph> RemoveIdentities(const proto::Graph& graph) {
  HEADRACE_ASSIGN_OR_RETURN(GraphEditor editor, GraphEditor::Of(graph));
  return IdentityRemover(std::move(editor)).Run();
}

}  // namespace headrace::ir
