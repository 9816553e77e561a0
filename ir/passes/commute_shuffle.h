// `CommuteShuffle` is a pass that moves a windowed shuffle below the maps under it, so that it holds the inputs of the
// maps (ids, encoded bytes) instead of their results (images).
//
// A shuffle orders rows by their positions alone, and a map gives one row for each row, with the same identity and at
// the same position: so rows, their order and their draws are the same, and an error has the position that its row had.
// The shuffle stays where a difference would be visible:
// - above a map that calls a Python function in order, because the order of calls would change;
// - if an operator below makes several rows of one (unbatch): rows after an error are lost with their message, and
//   because the shuffle would not have counted them, rows before the error would have other positions;
// - if rows are not known to be larger above the map, by their types or because encoded bytes become whole images:
//   the shuffle might hold more than before, and no longer fit in memory.
// Counters in states mean the same on either side of a map.
// Threads: a pure function.
#ifndef HEADRACE_IR_PASSES_COMMUTE_SHUFFLE_H_
#define HEADRACE_IR_PASSES_COMMUTE_SHUFFLE_H_

#include "absl/status/statusor.h"
#include "ir/messages.h"

namespace headrace::ir {

absl::StatusOr<proto::Graph> CommuteShuffle(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_COMMUTE_SHUFFLE_H_
