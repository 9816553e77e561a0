// `PutOrdersAbove` and `PutChoicesBelow` move operators that act on the order of rows to their canonical positions. An
// order that an attribute of a source asks for goes directly above that source. An operator that names rows by number
// (split) goes below the maps and orders under it, next to the indices whose numbers it means, so that an order comes
// after the choice.
// Threads: pure functions.
#ifndef HEADRACE_IR_ORDERS_H_
#define HEADRACE_IR_ORDERS_H_

#include <vector>

#include "ir/messages.h"
#include "ir/mistake.h"

namespace headrace::ir {

// Puts the operator of each attribute with `puts_above` that is true above its node, with that node's seed and name,
// and sets the attribute to false. Leaves what Validate will refuse.
void PutOrdersAbove(proto::Graph& graph);

// Puts each operator that names rows by number below operators that are one to one with rows, and below orders, if all
// rows under those have numbers that are the same in each epoch. Copies operators that others use, too, with their
// salts. An operator that draws its own order replaces them, and goes as far down where rows under those have no such
// numbers: its numbers are then their places in the epoch's order. Further inputs have values of the rows by their
// numbers, so orders at the top of these are left out.
void PutChoicesBelow(proto::Graph& graph);

// Whether the node takes values of rows, by their numbers, from a second input.
bool TakesValues(const proto::Node& node);

// Operators of a canonical graph that name rows by number where rows have none, or, unless they draw, other ones in
// each epoch.
std::vector<Mistake> FindChoicesWithoutNumbers(const proto::Graph& graph);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_ORDERS_H_
