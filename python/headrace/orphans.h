// Iterations that could not end where they were let go of: on a thread of their own, which cannot wait for itself, or
// while a function of the user's did not return. Another thread waits for them.
// Thread contract: EndOrphan and LeaveBehind from any thread; WaitForOrphans without the GIL, which they may need to
// end.
#ifndef HEADRACE_PYTHON_HEADRACE_ORPHANS_H_
#define HEADRACE_PYTHON_HEADRACE_ORPHANS_H_

#include <chrono>
#include <memory>

#include "engine/exec/iteration.h"

namespace headrace::python {

// Destroys it, which was told to stop, once nothing of it runs.
void EndOrphan(std::unique_ptr<Iteration> iteration);
// The same where it was waited for already, in vain.
void LeaveBehind(std::unique_ptr<Iteration> iteration);
// For those that nobody has waited for yet.
void WaitForOrphans(std::chrono::steady_clock::time_point until);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_HEADRACE_ORPHANS_H_
