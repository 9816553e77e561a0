// `SeparateCopy` makes a copy of a status that shares nothing with the original, for a status that stays while the
// original goes on to another thread. Ordinary copies share their contents by reference counts, which ThreadSanitizer
// does not see, because the packaged Abseil is not instrumented.
// Threads: a pure function.
#ifndef HEADRACE_OPS_ROWS_SEPARATE_COPY_H_
#define HEADRACE_OPS_ROWS_SEPARATE_COPY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"

namespace headrace {

inline absl::Status SeparateCopy(const absl::Status& status) {
  absl::Status copy(status.code(), status.message());
  status.ForEachPayload([&copy](absl::string_view url, const absl::Cord& value) {
    copy.SetPayload(url, absl::Cord(absl::string_view(std::string(value))));
  });
  return copy;
}

}  // namespace headrace

#endif  // HEADRACE_OPS_ROWS_SEPARATE_COPY_H_
