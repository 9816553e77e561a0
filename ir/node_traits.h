// The traits of one use of an operator: those of its declaration, as its attributes refine them. A pure function.
#ifndef HEADRACE_IR_NODE_TRAITS_H_
#define HEADRACE_IR_NODE_TRAITS_H_

#include "ir/declaration.h"
#include "ir/graph.pb.h"

namespace headrace::ir {

// None, for an operator that is not known.
Traits TraitsOf(const proto::Node& node);
Traits TraitsOf(const proto::Step& step);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_NODE_TRAITS_H_
