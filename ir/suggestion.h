// Suggests the name that a user may have meant: the nearest of the existing names. Pure functions.
#ifndef HEADRACE_IR_SUGGESTION_H_
#define HEADRACE_IR_SUGGESTION_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/type.h"

namespace headrace::ir {

// The candidate with the fewest edits, if it is near enough; ignores case.
std::optional<std::string> Nearest(std::string_view name, absl::Span<const std::string> candidates);

// `; did you mean "image"?`, or "" if nothing is near.
std::string DidYouMean(std::string_view name, absl::Span<const std::string> candidates);

// The column, or kGraph: `no column "imge"; did you mean "image"? (columns: image, label)`.
absl::StatusOr<const Column*> FindColumn(const Schema& schema, std::string_view name);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_SUGGESTION_H_
