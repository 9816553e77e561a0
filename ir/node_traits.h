// `TraitsOf` gives the traits of one use of an operator: those of its declaration, as its attributes refine them.
// Threads: pure functions.
#ifndef HEADRACE_IR_NODE_TRAITS_H_
#define HEADRACE_IR_NODE_TRAITS_H_

#include <string>
#include <string_view>

#include "ir/declaration.h"
#include "ir/messages.h"

namespace headrace::ir {

// None, for an operator that is not known.
Traits TraitsOf(const proto::Node& node);
Traits TraitsOf(const proto::Step& step);

// What would give random access to the source that it is, after `before`: "; give it index=\"build\""; "": nothing.
std::string HowToIndex(std::string_view before, const proto::Node& source);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_NODE_TRAITS_H_
