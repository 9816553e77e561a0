#include "ir/passes/fuse_image.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "ir/graph.h"
#include "ir/infer.h"

namespace headrace::ir {
namespace {

bool IsImage(const ColumnType& type) {
  const bool numbers = type.dtype == DType::kUInt8 || type.dtype == DType::kFloat32;
  return numbers && type.shape.has_value() && (type.shape->size() == 2 || type.shape->size() == 3);
}

// The run of steps on one column.
struct Run {
  std::vector<int> steps;
  bool at_values = false;  // past the geometric kernels
  bool channels_first = false;
};

class StepFuser {
 public:
  StepFuser(proto::Node& map, Schema schema) : map_(map), schema_(std::move(schema)) {}

  absl::Status Fuse() {
    for (int i = 0; i < map_.steps_size(); ++i) {
      const proto::Step& step = map_.steps(i);
      if (!Join(step, i)) {
        for (const std::string& column : step.inputs()) Close(column);
        for (const std::string& column : step.outputs()) Close(column);
      }
      HEADRACE_RETURN_IF_ERROR(ApplyStep(step, schema_));
    }
    while (!runs_.empty()) Close(runs_.begin()->first);
    return absl::OkStatus();
  }

 private:
  bool Join(const proto::Step& step, int at) {
    if (step.inputs_size() != 1 || step.outputs_size() != 1 || step.inputs(0) != step.outputs(0)) return false;
    const Declaration* declaration = Registry::Global().Find(step.kernel());
    if (declaration == nullptr) return false;
    const Traits& traits = declaration->traits;
    const std::string& column = step.inputs(0);
    const bool at_values = traits.pointwise || traits.per_pixel || traits.layout;
    if (!traits.decodes && !traits.geometric && !at_values) return false;
    if (!Follows(*declaration, step, column)) {
      Close(column);
      if (!Begins(*declaration, step, column)) return false;
    }
    Run& run = runs_[column];
    run.steps.push_back(at);
    run.at_values = at_values;
    run.channels_first |= traits.layout;
    return true;
  }

  // Whether the step can be a part of the column's run: as FusedImage::Make decides from the kernels.
  bool Follows(const Declaration& declaration, const proto::Step& step, const std::string& column) const {
    const auto run = runs_.find(column);
    if (run == runs_.end() || declaration.traits.decodes) return false;
    if (declaration.traits.geometric) return !run->second.at_values;
    return declaration.TakesImage(Attributes::Of(step), run->second.channels_first);
  }

  bool Begins(const Declaration& declaration, const proto::Step& step, const std::string& column) const {
    if (declaration.traits.decodes) return true;
    return IsImage(schema_.columns[schema_.IndexOf(column)].type) &&
           declaration.TakesImage(Attributes::Of(step), false);
  }

  // A run of one step is not fused.
  void Close(const std::string& column) {
    const auto run = runs_.find(column);
    if (run == runs_.end()) return;
    if (run->second.steps.size() > 1) {
      ++fused_;
      for (const int step : run->second.steps) map_.mutable_steps(step)->set_fused(fused_);
    }
    runs_.erase(run);
  }

  proto::Node& map_;
  Schema schema_;
  std::map<std::string, Run> runs_;
  uint32_t fused_ = 0;
};

}  // namespace

absl::StatusOr<proto::Graph> FuseImage(const proto::Graph& graph) {
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<Schema> schemas, InferSchemas(graph));
  proto::Graph result = graph;
  for (proto::Node& node : *result.mutable_nodes()) {
    if (node.op() != kMapOp) continue;
    HEADRACE_RETURN_IF_ERROR(StepFuser(node, schemas[node.inputs(0)]).Fuse());
  }
  return result;
}

}  // namespace headrace::ir
