// A pass: what makes rows fewer or narrower moves towards the source, so that what stands above does less. Where an
// operator stands right above one that nothing else uses:
//
//   take, skip (`by_position`)  go below  map, project, rename (one row in, one row out)
//   filter (`selects`)          goes below  map, project
//   project                     goes below  map, rename, shuffle; takes the place of another project
//   rename                      goes below  map, shuffle; becomes one with another rename
//
// Why the result is the same:
// - Rows and order. A map changes neither how many rows there are nor their order nor their identities, so positions
//   mean the same below it, and draws, which hang on identities, are the same. A filter goes below only where the map
//   writes no column that it reads. A project goes below only where the map reads and writes nothing but what it
//   keeps, and the order of columns stays. Below a rename, the columns of a project are called by their old names; a
//   map above a rename calls its columns by the new ones.
// - Shards. Rows are dealt above the operators that act on indices alone. A take right above such would become one of
//   them and count over all ranks: a project of all columns is put in between, and each rank takes its own rows still.
//   A project or rename never goes below a take or skip, which might keep it from the indices.
// - Errors. Rows beyond a take raise none either way. Those that a skip or filter drops are not computed by the map any
//   more, so that their errors go: nobody reads these rows, and errors of work that nobody reads are no part of the
//   result. A filter that may itself fail (it divides whole numbers, or types are not known) stays where it is, as
//   another error could come first.
// - Python. A filter or skip does not go below a map that calls the user's Python, or gives other results each time:
//   how often that runs can be seen. A take does: what lies beyond it may run or not anyway. A filter that calls Python
//   stays.
// - States. Operators with counters never pass each other, so that states fit whichever passes are on.
// A pure function.
#ifndef HEADRACE_IR_PASSES_PUSH_DOWN_H_
#define HEADRACE_IR_PASSES_PUSH_DOWN_H_

#include "absl/status/statusor.h"
#include "ir/graph.pb.h"

namespace headrace::ir {

absl::StatusOr<proto::Graph> PushDown(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_PUSH_DOWN_H_
