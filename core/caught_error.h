// `CaughtError` converts an exception of the standard library to an error value. Use it at the edge of threads and
// functions that must not throw.
// Threads: any thread, within a catch handler.
#ifndef HEADRACE_CORE_CAUGHT_ERROR_H_
#define HEADRACE_CORE_CAUGHT_ERROR_H_

#include "absl/status/status.h"

namespace headrace {

// For the exception being handled: kResource if memory or threads ran out (which needs no memory), else kInternal with
// its message.
absl::Status CaughtError();

}  // namespace headrace

#endif  // HEADRACE_CORE_CAUGHT_ERROR_H_
