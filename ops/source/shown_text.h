// `ShownText` shortens a text of a file for error messages.
// Threads: a pure function.
#ifndef HEADRACE_OPS_SOURCE_SHOWN_TEXT_H_
#define HEADRACE_OPS_SOURCE_SHOWN_TEXT_H_

#include <string>
#include <string_view>

namespace headrace {

// At most 60 bytes of it, made printable, then "…".
std::string ShownText(std::string_view text);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_SHOWN_TEXT_H_
