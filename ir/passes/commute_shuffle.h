// A pass: a shuffle within a window goes below the maps under it, so that it holds what the maps are made from (ids,
// encoded bytes) and not what they make (pictures).
//
// A shuffle orders rows by their positions alone, and a map gives one row for each, with the same identity, in the same
// place: so rows, their order and their draws are the same, and an error takes the place in the order that its row had.
// It stays where that could be seen:
// - above a map that calls the user's Python in order, for the calls would come in another order;
// - where an operator below makes several rows of one (unbatch): rows behind an error are lost with their message, and
//   as the shuffle would not have counted them, rows before the error would have other positions;
// - where the rows are not known to be larger above: types say so, or encoded bytes become whole pictures. Else it
//   might hold more than before, and no longer fit in memory.
// Counters in states mean the same on either side of a map. A pure function.
#ifndef HEADRACE_IR_PASSES_COMMUTE_SHUFFLE_H_
#define HEADRACE_IR_PASSES_COMMUTE_SHUFFLE_H_

#include "absl/status/statusor.h"
#include "ir/graph.pb.h"

namespace headrace::ir {

absl::StatusOr<proto::Graph> CommuteShuffle(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_COMMUTE_SHUFFLE_H_
