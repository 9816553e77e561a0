// `TakeIn` processes an untrusted graph as front ends do: it reads, checks, optimizes and writes it. Use it in tests.
// Threads: one.
#ifndef HEADRACE_IR_TESTING_TAKE_IN_H_
#define HEADRACE_IR_TESTING_TAKE_IN_H_

#include "absl/status/statusor.h"
#include "ir/graph.pb.h"

namespace headrace::ir {

enum class TakenIn { kRefused, kRead, kValid };

// How far `graph`, as it was read, gets. Aborts if a valid graph cannot be optimized, or differs from what its own
// bytes, text and JSON give.
TakenIn TakeIn(absl::StatusOr<proto::Graph> graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_TESTING_TAKE_IN_H_
