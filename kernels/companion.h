// `CompanionOf` declares a companion of a kernel: another kernel that has its attributes and draws the same numbers,
// for what belongs to its images, or for a device that does its work. Users do not write companions: messages name the
// kernel.
// Threads: pure functions.
#ifndef HEADRACE_KERNELS_COMPANION_H_
#define HEADRACE_KERNELS_COMPANION_H_

#include <string_view>

#include "ir/declaration.h"

namespace headrace {

// Adds a companion to the declaration of a kernel, whose name is the kernel's and `suffix`.
void AddCompanion(ir::CompanionRole role, std::string_view suffix, ir::Declaration& kernel);

// The declaration of that companion of `kernel`, which has it, but for what it takes and gives: summary, doc, number of
// inputs, example and types.
ir::Declaration CompanionOf(const ir::Declaration& kernel, ir::CompanionRole role);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_COMPANION_H_
