// Iterations that were let go of on a thread of their own, as a garbage collection within the user's function may do:
// that thread cannot wait for itself, so another one does.
// Thread contract: EndOrphan from any thread; WaitForOrphans without the GIL, which they may need to end.
#ifndef HEADRACE_PYTHON_ORPHANS_H_
#define HEADRACE_PYTHON_ORPHANS_H_

#include <memory>

#include "engine/iteration.h"

namespace headrace::python {

// Tells it to stop, and destroys it once nothing of it runs.
void EndOrphan(std::unique_ptr<Iteration> iteration);
void WaitForOrphans();

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_ORPHANS_H_
