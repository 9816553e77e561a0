// Companions of a kernel: others that have its attributes and draw the same numbers, for what belongs to its pictures,
// or for what another place does with them. Users do not write them: messages name the kernel. Pure functions.
#ifndef HEADRACE_KERNELS_COMPANION_H_
#define HEADRACE_KERNELS_COMPANION_H_

#include <string_view>

#include "ir/declaration.h"

namespace headrace {

// The declaration of `kernel`'s companion of that name behind its own, but for what it takes and gives: summary, doc,
// number of inputs, example and types.
ir::Declaration CompanionOf(const ir::Declaration& kernel, std::string_view suffix);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_COMPANION_H_
