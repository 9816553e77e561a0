// `DidYouMean` suggests the existing name nearest to the one that a user wrote; `MissingPlugin` and `UpgradeOf` say
// what has to be loaded for an operator that is not there. Operators of plugins are called "myops.Blur"; all others
// have no dot in their names.
// Threads: pure functions.
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

// "myops" of "myops.Blur"; "" of an operator of Headrace's own.
std::string_view PluginOf(std::string_view op);

// For an operator of a plugin that is not registered: that the plugin is missing, or lacks it. "" of others.
std::string MissingPlugin(std::string_view op);

// What has to be newer where a graph has a later version of the operator: "upgrade Headrace".
std::string UpgradeOf(std::string_view op);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_SUGGESTION_H_
