// `DeclareShuffle` declares the attribute `shuffle` of sources with random access: the canonical form makes an operator
// of it, which gives the rows in a random order.
// Threads: a pure function.
#ifndef HEADRACE_OPS_ORDER_PERMUTE_H_
#define HEADRACE_OPS_ORDER_PERMUTE_H_

#include "ir/declaration.h"

namespace headrace {

// The same for every source.
ir::Attribute DeclareShuffle();

}  // namespace headrace

#endif  // HEADRACE_OPS_ORDER_PERMUTE_H_
