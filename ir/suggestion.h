// What the user may have meant: the nearest of the names that exist. Pure functions.
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

// The candidate that differs in the fewest edits, if it is near enough to be meant; upper and lower case count as one.
std::optional<std::string> Nearest(std::string_view name, absl::Span<const std::string> candidates);

// `; did you mean "image"?`, or "" where nothing is near.
std::string DidYouMean(std::string_view name, absl::Span<const std::string> candidates);

// The column, or kGraph: `no column "imge"; did you mean "image"? (columns: image, label)`.
absl::StatusOr<const Column*> FindColumn(const Schema& schema, std::string_view name);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_SUGGESTION_H_
