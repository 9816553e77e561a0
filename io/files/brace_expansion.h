// `ExpandBraces` makes the texts that a text with braces stands for, as the shell and Python's braceexpand do:
// "s-{000..999}.tar", "{train,val}.tar". Use it for lists of shards.
// Threads: a pure function.
#ifndef HEADRACE_IO_FILES_BRACE_EXPANSION_H_
#define HEADRACE_IO_FILES_BRACE_EXPANSION_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace headrace {

// Of all texts together, and of their bytes.
inline constexpr size_t kMostExpanded = size_t{1} << 20;
inline constexpr size_t kMostExpandedBytes = size_t{256} << 20;

// {a,b} stands for each of its parts, which may have braces of their own; {000..999}, {3..1}, {1..9..2} and {a..e} for
// what they count, with the width of the longer end where one begins with 0. Other braces stay, and so does one that
// is not closed; a backslash takes its meaning from the character after it, and goes. kGraph: they are more than the
// limits, or braces are nested more than 32 deep.
absl::StatusOr<std::vector<std::string>> ExpandBraces(std::string_view text);

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_BRACE_EXPANSION_H_
