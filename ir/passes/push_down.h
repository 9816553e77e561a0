// `PushDown` is a pass that moves operators that drop rows or columns towards the source, so that operators above them
// do less. It applies to an operator directly above one that nothing else uses:
//
//   take, skip (`by_position`)  go below  map, project, rename (one row in, one row out)
//   filter (`selects`)          goes below  map, project
//   project                     goes below  map, rename, shuffle; replaces another project
//   rename                      goes below  map, shuffle; merges with another rename
//
// Why the result is the same:
// - Rows and order. A map changes neither the number of rows nor their order nor their identities, so positions are
//   the same below it, and so are draws, which depend on identities. A filter goes below a map only if the map writes
//   no column that the filter reads. A project goes below a map only if the map reads and writes only columns that the
//   project keeps, and the order of columns stays. Below a rename, a project uses the old names of columns; a map above
//   a rename uses the new ones.
// - Shards. Rows are sharded above the operators that only act on indices. A take directly above these would become
//   one of them and count over all ranks: a project of all columns is inserted between, so that each rank still takes
//   its own rows. A project or rename never goes below a take or skip, which it might keep from the indices.
// - Errors. Rows beyond a take raise no error either way. Rows that a skip or filter drops are no longer computed by
//   the map, so their errors disappear: the rows are unused, and errors of unused work are not part of the result. A
//   filter that may itself fail (it divides whole numbers, or types are not known) does not move, because another error
//   could come first.
// - Python. A filter or skip does not go below a map that calls Python, or that gives different results each time:
//   the number of calls is visible. A take does: rows beyond it may or may not run anyway. A filter that calls Python
//   does not move.
// - States. Operators with counters never pass each other, so that states fit whichever passes are on.
// Threads: a pure function.
#ifndef HEADRACE_IR_PASSES_PUSH_DOWN_H_
#define HEADRACE_IR_PASSES_PUSH_DOWN_H_

#include "absl/status/statusor.h"
#include "ir/messages.h"

namespace headrace::ir {

absl::StatusOr<proto::Graph> PushDown(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_PUSH_DOWN_H_
