// `SplitMaps` is a pass that splits a map where Python functions, or the reading of files, begin and end, so that
// kernels run on the workers and only what waits on threads of its own. Steps, their order and their draws are the
// same, and the parts keep the name and the line of the user's map.
// Threads: a pure function.
#ifndef HEADRACE_IR_PASSES_SPLIT_MAPS_H_
#define HEADRACE_IR_PASSES_SPLIT_MAPS_H_

#include "absl/status/statusor.h"
#include "ir/messages.h"

namespace headrace::ir {

absl::StatusOr<proto::Graph> SplitMaps(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_SPLIT_MAPS_H_
