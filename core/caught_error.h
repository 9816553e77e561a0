// Converts exceptions of the standard library to error values, so that no exception leaves a thread or a function that
// must not throw.
// Thread contract: any thread, within a catch handler.
#ifndef HEADRACE_CORE_CAUGHT_ERROR_H_
#define HEADRACE_CORE_CAUGHT_ERROR_H_

#include "absl/status/status.h"

namespace headrace {

// For the exception being handled: kResource if memory or threads ran out (which needs no memory), else kInternal with
// its message.
absl::Status CaughtError();

}  // namespace headrace

#endif  // HEADRACE_CORE_CAUGHT_ERROR_H_
