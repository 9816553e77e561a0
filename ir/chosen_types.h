// `ApplyChooser` infers the types of columns after a step that chooses among others: what is true of a row whatever is
// drawn for it. Branches must agree in dtypes; a size in which they differ is not known.
// Threads: pure functions.
#ifndef HEADRACE_IR_CHOSEN_TYPES_H_
#define HEADRACE_IR_CHOSEN_TYPES_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/declaration.h"
#include "ir/messages.h"
#include "ir/type.h"

namespace headrace::ir {

// The schema with which each branch begins: the outputs are the inputs, or what other branches may leave that come
// before it.
absl::StatusOr<Schema> SchemaInBranches(const Declaration& chooser, const proto::Step& step, const Schema& schema);

// As ApplyStep (ir/infer.h) for a chooser.
absl::Status ApplyChooser(const Declaration& chooser, const proto::Step& step, Schema& schema);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_CHOSEN_TYPES_H_
