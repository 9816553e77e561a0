// `ActsBesides` and its neighbours tell the side effects of an operator, which limit what passes may leave out or
// repeat.
// Threads: pure functions.
#ifndef HEADRACE_IR_PASSES_SIDE_EFFECTS_H_
#define HEADRACE_IR_PASSES_SIDE_EFFECTS_H_

#include "ir/messages.h"

namespace headrace::ir {

// Whether running the step for fewer rows, or not at all, would be visible by more than its outputs: it calls the
// user's Python, or gives different results each time.
bool ActsBesides(const proto::Step& step);
// For the operator, or one of its steps.
bool ActsBesides(const proto::Node& node);

// Whether it calls the user's Python: its kernels do, or it refers to a function.
bool CallsPython(const proto::Step& step);
bool CallsPython(const proto::Node& node);
// Whether it reads files, as a step of a map.
bool ReadsFiles(const proto::Step& step);
bool ReadsFiles(const proto::Node& node);
// Whether it calls the user's Python in the order of the rows.
bool CallsInOrder(const proto::Node& node);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_SIDE_EFFECTS_H_
