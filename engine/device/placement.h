// `PlaceSteps` decides where the steps of a run that ends on a device are done: what the device can do is taken out of
// the graph, and maps that ask for the device must have nothing left on the host.
// Threads: pure functions.
#ifndef HEADRACE_ENGINE_DEVICE_PLACEMENT_H_
#define HEADRACE_ENGINE_DEVICE_PLACEMENT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "engine/device/device_tail.h"
#include "engine/exec/iteration.h"
#include "engine/plan/stage_limits.h"
#include "ir/messages.h"

namespace headrace {

// Returns the graph without what `tails` become. From a valid canonical graph whose operators are numbered. kGraph: a
// map asks for the device, and the device cannot do one of its steps.
absl::StatusOr<ir::proto::Graph> PlaceSteps(const ir::proto::Graph& graph, const OperatorLimits& limits,
                                            std::vector<DeviceTail>& tails);

// Whether steps of such a run are placed on its device if that has kernels: it is a GPU, and the optimizer is on.
bool MayPlaceSteps(const IterateOptions& options);

// kUnsupported if a map asks for a device, which has no kernels.
absl::Status RefuseWithoutKernels(const OperatorLimits& limits);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_PLACEMENT_H_
