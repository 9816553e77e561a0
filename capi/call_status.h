// `StatusOf` makes what the C interface returns of an error value, and `Guarded` keeps exceptions within the library.
// Threads: any thread; a status belongs to who holds it.
#ifndef HEADRACE_CAPI_CALL_STATUS_H_
#define HEADRACE_CAPI_CALL_STATUS_H_

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "capi/headrace.h"
#include "core/text.h"

namespace headrace::capi {

// The call itself is wrong.
[[gnu::cold]] absl::Status ArgumentErrorOf(std::string_view message);
template <typename... Parts>
[[gnu::always_inline]] inline absl::Status ArgumentError(const Parts&... parts) {
  return ArgumentErrorOf(Cat(parts...));
}

// NULL if it is OK. Never fails: without memory it is NoMemory().
hr_status* StatusOf(const absl::Status& status) noexcept;
// Made when the library was loaded; freeing it does nothing.
hr_status* NoMemory() noexcept;
// Of the exception being handled; NoMemory() also where there is none to say what it is.
hr_status* StatusOfCaught() noexcept;

// The status of what `body` returns or throws.
template <typename Body>
hr_status* Guarded(Body&& body) noexcept {
  try {
    return StatusOf(std::forward<Body>(body)());
  } catch (const std::exception&) {
    return StatusOfCaught();
  }
}

}  // namespace headrace::capi

#endif  // HEADRACE_CAPI_CALL_STATUS_H_
