// `EndOrphan` and `LeaveBehind` take sessions that could not end where they were released: on a thread of their own,
// which cannot wait for itself, or while a user function had not returned. Another thread waits for them.
// Threads: EndOrphan and LeaveBehind from any thread; WaitForOrphans without the GIL, which the sessions may need to
// end.
#ifndef HEADRACE_PYTHON_BINDING_HOST_ORPHANS_H_
#define HEADRACE_PYTHON_BINDING_HOST_ORPHANS_H_

#include <chrono>
#include <memory>

#include "engine/front/session.h"

namespace headrace::python {

// Destroys the session, which was told to stop, once all its tasks have ended.
void EndOrphan(std::unique_ptr<Session> session);
// The same after waiting for it in vain.
void LeaveBehind(std::unique_ptr<Session> session);
// For those that were not waited for yet.
void WaitForOrphans(std::chrono::steady_clock::time_point until);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_HOST_ORPHANS_H_
