// `BytesOfText` gives the bytes that a text stands for where a graph, whose texts are UTF-8, holds bytes: U+0000 to
// U+00FF are the bytes 0 to 255, as Latin-1 (ISO 8859-1) has them. Threads: pure function.
#ifndef HEADRACE_OPS_SOURCE_TEXT_BYTES_H_
#define HEADRACE_OPS_SOURCE_TEXT_BYTES_H_

#include <optional>
#include <string>
#include <string_view>

namespace headrace {

// None: it has other characters, or is not UTF-8.
std::optional<std::string> BytesOfText(std::string_view text);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_TEXT_BYTES_H_
