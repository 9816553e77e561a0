// `OfColumn` notes the input or output that an error of a request is about, and `ColumnOf` tells it.
// Threads: pure functions.
#ifndef HEADRACE_ENGINE_SERVE_COLUMN_ERROR_H_
#define HEADRACE_ENGINE_SERVE_COLUMN_ERROR_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace headrace {

absl::Status OfColumn(absl::Status error, std::string_view column);
// "": none was noted.
std::string ColumnOf(const absl::Status& error);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_SERVE_COLUMN_ERROR_H_
