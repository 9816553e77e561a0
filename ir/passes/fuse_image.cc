#include "ir/passes/fuse_image.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ir/attributes.h"
#include "ir/branches.h"
#include "ir/chosen_types.h"
#include "ir/clip_types.h"
#include "ir/column_history.h"
#include "ir/declaration.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/infer.h"

namespace headrace::ir {
namespace {

bool HasPixels(const ColumnType& type) { return type.dtype == DType::kUInt8 || type.dtype == DType::kFloat32; }

bool IsImage(const ColumnType& type) {
  return HasPixels(type) && type.shape.has_value() && (type.shape->size() == 2 || type.shape->size() == 3);
}

// How far the run of steps on a column has come.
enum Stage : size_t { kClosed, kMoving, kAtValues, kAtPlanes, kStages };

// What may be open on a column, whatever choosers draw.
struct Open {
  uint32_t number = 0;  // of the run
  // The most steps that a run at this stage may have, up to kMany; 0: none can be. At kClosed 1: no run may be open.
  std::array<int, kStages> steps = {1};
};
// A column without an entry has no run.
using OpenColumns = std::map<std::string, Open>;

constexpr int kMany = 2;

// What either leaves open.
void Merge(const OpenColumns& other, OpenColumns& open) {
  for (const auto& [column, _] : other) open.try_emplace(column);
  for (auto& [column, merged] : open) {
    const auto found = other.find(column);
    const Open closed;
    const Open& also = found == other.end() ? closed : found->second;
    if (merged.number == 0) merged.number = also.number;
    for (size_t stage = 0; stage < kStages; ++stage) {
      merged.steps[stage] = std::max(merged.steps[stage], also.steps[stage]);
    }
  }
}

Stage After(const Traits& traits, size_t stage) {
  if (traits.decodes || traits.geometric) return kMoving;
  return traits.layout || stage == kAtPlanes ? kAtPlanes : kAtValues;
}

// Whether the step can be a part of a run at that stage: as FusedImage::Make decides from the kernels.
bool Follows(const Declaration& declaration, const proto::Step& step, size_t stage) {
  if (stage == kClosed || declaration.traits.decodes) return false;
  if (declaration.traits.geometric) return stage == kMoving;
  return declaration.TakesImage(Attributes::Of(step), stage == kAtPlanes);
}

class StepFuser {
 public:
  // `clips`: arrays of four axes may be clips, whose frames go through the pass one after the other.
  explicit StepFuser(bool clips) : clips_(clips) {}

  absl::Status Fuse(proto::Node& map, const Schema& schema) {
    OpenColumns open;
    HEADRACE_RETURN_IF_ERROR(FuseSteps(*map.mutable_steps(), schema, open));
    std::map<uint32_t, uint32_t> renumbered;
    VisitSteps(map.mutable_steps(), [&](proto::Step& step) {
      // A run of one step is not fused.
      const bool alone = longest_[step.fused()] < kMany;
      const auto next = static_cast<uint32_t>(renumbered.size() + 1);
      step.set_fused(alone ? 0 : renumbered.try_emplace(step.fused(), next).first->second);
    });
    return absl::OkStatus();
  }

 private:
  absl::Status FuseSteps(Steps& steps, Schema schema, OpenColumns& open) {
    for (proto::Step& step : steps) {
      if (const Declaration* const chooser = ChooserOf(step)) {
        HEADRACE_RETURN_IF_ERROR(FuseBranches(*chooser, step, schema, open));
      } else if (!Join(step, schema, open)) {
        Close(step, open);
      }
      HEADRACE_RETURN_IF_ERROR(ApplyStep(step, schema));
    }
    return absl::OkStatus();
  }

  // Follows each way through the branches.
  absl::Status FuseBranches(const Declaration& chooser, proto::Step& step, const Schema& schema, OpenColumns& open) {
    HEADRACE_ASSIGN_OR_RETURN(const Branching branching, BranchingOfStep(chooser, step));
    HEADRACE_ASSIGN_OR_RETURN(const Schema begin, SchemaInBranches(chooser, step, schema));
    Enter(step, open);
    ++depth_;
    // Of several branches each may follow any; what a third one could join, it begins after the second.
    for (int round = branching.several ? 2 : 1; round > 0; --round) {
      std::optional<OpenColumns> behind;
      if (branching.none || branching.several) behind = open;
      for (int i = 0; i < step.branches_size(); ++i) {
        OpenColumns after = open;
        HEADRACE_RETURN_IF_ERROR(FuseSteps(*step.mutable_branches(i)->mutable_steps(), begin, after));
        if (!branching.drawn[static_cast<size_t>(i)]) continue;
        if (behind.has_value()) {
          Merge(after, *behind);
        } else {
          behind = std::move(after);
        }
      }
      open = *std::move(behind);
    }
    --depth_;
    return absl::OkStatus();
  }

  // Gives each column the number of the runs that begin in branches: that of its open run, which a branch may go on
  // with. Two runs of one number are apart where a step between them is of none.
  void Enter(const proto::Step& chooser, OpenColumns& open) {
    for (int i = 0; i < chooser.outputs_size(); ++i) {
      if (chooser.inputs(i) != chooser.outputs(i)) Close(chooser, open);
    }
    for (const std::string& column : chooser.outputs()) {
      Open& entered = open[column];
      if (entered.number == 0) entered.number = ++numbers_;
    }
  }

  bool Join(proto::Step& step, const Schema& schema, OpenColumns& open) {
    if (step.inputs_size() != 1 || step.outputs_size() != 1 || step.inputs(0) != step.outputs(0)) return false;
    const Declaration* declaration = Registry::Global().Find(step.kernel());
    if (declaration == nullptr) return false;
    const Traits& traits = declaration->traits;
    const bool at_values = traits.pointwise || traits.per_pixel || traits.layout;
    if (!traits.decodes && !traits.geometric && !at_values) return false;
    const Open before = OpenOn(step.inputs(0), open);
    Open after = {before.number, {}};
    bool follows = false;
    bool ends = false;
    for (size_t stage = 0; stage < kStages; ++stage) {
      if (before.steps[stage] == 0) continue;
      if (Follows(*declaration, step, stage)) {
        follows = true;
        int& steps = after.steps[After(traits, stage)];
        steps = std::max(steps, std::min(before.steps[stage] + 1, kMany));
      } else {
        ends = true;
      }
    }
    const bool begins = ends && Begins(*declaration, step, schema);
    if (!follows && !begins) return false;
    if (ends) {
      int& steps = after.steps[begins ? After(traits, kClosed) : kClosed];
      steps = std::max(steps, 1);
    }
    if (!follows && (depth_ == 0 || after.number == 0)) after.number = ++numbers_;
    int& longest = longest_[after.number];
    longest = std::max(longest, *std::max_element(after.steps.begin(), after.steps.end()));
    step.set_fused(after.number);
    open[step.inputs(0)] = after;
    return true;
  }

  bool Begins(const Declaration& declaration, const proto::Step& step, const Schema& schema) const {
    if (declaration.traits.decodes) return true;
    const ColumnType& type = schema.Find(step.inputs(0))->type;
    const bool by_frame = clips_ && HasPixels(type) && IsClipType(type) && declaration.OfClips() == Clips::kByFrame;
    return (by_frame || IsImage(type)) && declaration.TakesImage(Attributes::Of(step), false);
  }

  static Open OpenOn(const std::string& column, const OpenColumns& open) {
    const auto found = open.find(column);
    return found == open.end() ? Open() : found->second;
  }

  // Ends the runs of the step's columns. In branches they keep their numbers.
  void Close(const proto::Step& step, OpenColumns& open) const {
    for (const auto* names : {&step.inputs(), &step.outputs()}) {
      for (const std::string& column : *names) {
        const auto found = open.find(column);
        if (found == open.end()) continue;
        found->second = {depth_ > 0 ? found->second.number : 0};
      }
    }
  }

  const bool clips_;
  uint32_t numbers_ = 0;
  std::map<uint32_t, int> longest_;  // the most steps of a run of each number, up to kMany
  int depth_ = 0;                    // of choosers around the current step
};

bool AnyHoldsBatches(const ColumnHistories& histories) {
  return std::any_of(histories.begin(), histories.end(), [](const auto& column) { return column.second.batches > 0; });
}

}  // namespace

absl::StatusOr<proto::Graph> FuseImage(const proto::Graph& graph) {
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<Schema> schemas, InferSchemas(graph));
  const std::vector<ColumnHistories> histories = HistoriesOf(graph, schemas);
  proto::Graph result = graph;
  for (proto::Node& node : *result.mutable_nodes()) {
    if (node.op() != kMapOp) continue;
    StepFuser fuser(!AnyHoldsBatches(histories[node.inputs(0)]));
    HEADRACE_RETURN_IF_ERROR(fuser.Fuse(node, schemas[node.inputs(0)]));
  }
  return result;
}

}  // namespace headrace::ir
