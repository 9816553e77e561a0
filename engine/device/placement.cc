#include "engine/device/placement.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.h"
#include "engine/plan/plan_node.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"

namespace headrace {
namespace {

using PlacementSteps = google::protobuf::RepeatedPtrField<ir::proto::Step>;

bool AsksForDevice(const OperatorLimits& limits, const std::string& name) {
  const auto found = limits.find(name);
  return found != limits.end() && found->second.on_device;
}

// The steps of the user's operator that are left.
PlacementSteps StepsLeft(const ir::proto::Graph& graph, uint32_t user_node) {
  for (const ir::proto::Node& node : graph.nodes()) {
    if (node.user_node() == user_node) return node.steps();
  }
  return {};
}

// What a step draws is drawn on the host, by a step with a column of its own.
bool IsAmong(const ir::proto::Step& step, const PlacementSteps& steps) {
  return std::any_of(steps.begin(), steps.end(), [&step](const ir::proto::Step& each) {
    return each.kernel() == step.kernel() &&
           std::equal(each.outputs().begin(), each.outputs().end(), step.outputs().begin(), step.outputs().end());
  });
}

absl::Status StaysOnHost(const ir::proto::Node& node, const std::string& name, const ir::proto::Step& step) {
  const bool own = step.has_location();
  absl::Status error =
      GraphError("has device=\"cuda\", and a device cannot do ", step.kernel(), " of ", step.outputs(0),
                 " here: it does the last steps of a pipeline, on uint8 images of one known size, not on clips, of the "
                 "kinds that docs/device.md lists; put the step, or what follows it, into a map without device=");
  AddErrorField(error, ErrorField::kOperator, name);
  AddErrorField(error, ErrorField::kLocation, ir::LocationText(own ? step.location() : node.location()));
  return error;
}

}  // namespace

absl::StatusOr<ir::proto::Graph> PlaceSteps(const ir::proto::Graph& graph, const OperatorLimits& limits,
                                            std::vector<DeviceTail>& tails) {
  HEADRACE_ASSIGN_OR_RETURN(DeviceTails taken, TakeTails(graph));
  for (int i = 0; i < graph.nodes_size(); ++i) {
    const ir::proto::Node& node = graph.nodes(i);
    const std::string name = NodeName(graph, i);
    if (!AsksForDevice(limits, name)) continue;
    const PlacementSteps left = StepsLeft(taken.graph, node.user_node());
    // The last of those left stands in the way of the others.
    const auto step = std::find_if(node.steps().rbegin(), node.steps().rend(),
                                   [&left](const ir::proto::Step& each) { return IsAmong(each, left); });
    if (step != node.steps().rend()) return StaysOnHost(node, name, *step);
  }
  tails = std::move(taken.tails);
  return std::move(taken.graph);
}

bool MayPlaceSteps(const IterateOptions& options) {
  const std::optional<PlannedDevice>& device = options.device;
  return options.optimize && device.has_value() && device->depth > 0 && device->sends_from == MemoryKind::kPageLocked;
}

absl::Status RefuseWithoutKernels(const OperatorLimits& limits) {
  for (const auto& [name, each] : limits) {
    if (!each.on_device) continue;
    absl::Status error = UnsupportedError(
        "has device=\"cuda\", and there are no kernels for the device: it is older than sm_75, its driver is older "
        "than the 580 series, or this build was made without NVIDIA's compiler");
    AddErrorField(error, ErrorField::kOperator, name);
    return error;
  }
  return absl::OkStatus();
}

}  // namespace headrace
