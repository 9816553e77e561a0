// The bytes of a state: what State() gives to users and gets back from them. Pure functions.
#ifndef HEADRACE_ENGINE_EXEC_SEALED_STATE_H_
#define HEADRACE_ENGINE_EXEC_SEALED_STATE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "engine/exec/state.pb.h"

namespace headrace {

// With a version and a checksum in front.
std::string SealState(const proto::State& state);

// kState, with the reason, for bytes that are none of SealState's, that were damaged, or that another version made; and
// where the numbers in it cannot be those of any iteration. What the graph says of them is left to the caller.
absl::StatusOr<proto::State> OpenState(std::string_view bytes);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_SEALED_STATE_H_
