// What the standard library throws, as an error value: so that no exception gets to the top of a thread or out of a
// function that must not throw.
// Thread contract: any thread, within a catch handler.
#ifndef HEADRACE_CORE_CAUGHT_ERROR_H_
#define HEADRACE_CORE_CAUGHT_ERROR_H_

#include "absl/status/status.h"

namespace headrace {

// Of the exception being handled: kResource where memory or threads ran out (which needs no memory), else kInternal
// with what it says.
absl::Status CaughtError();

}  // namespace headrace

#endif  // HEADRACE_CORE_CAUGHT_ERROR_H_
