// `Positions` holds the positions of rows in an epoch, for the rows of one message.
// Threads: a value.
#ifndef HEADRACE_ENGINE_OPERATOR_POSITIONS_H_
#define HEADRACE_ENGINE_OPERATOR_POSITIONS_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"

namespace headrace {

// As many as the engine lets travel together by itself take no allocation.
using Positions = absl::InlinedVector<uint64_t, 256>;

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_POSITIONS_H_
