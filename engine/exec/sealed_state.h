// `SealState` and `OpenState` convert a state to and from the bytes that State() returns to users and that they pass
// back.
// Threads: pure functions.
#ifndef HEADRACE_ENGINE_EXEC_SEALED_STATE_H_
#define HEADRACE_ENGINE_EXEC_SEALED_STATE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "engine/exec/state.pb.h"

namespace headrace {

// With a version and a checksum in front.
std::string SealState(const proto::State& state);

// kState, with the reason, for bytes that SealState did not make, that were damaged, or that another version made, and
// for numbers that no iteration can have. Checking the numbers against the graph is left to the caller.
absl::StatusOr<proto::State> OpenState(std::string_view bytes);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_SEALED_STATE_H_
