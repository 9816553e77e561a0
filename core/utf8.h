// `IsUtf8` tells whether bytes are UTF-8, as the Unicode standard defines it: no overlong forms, no surrogates, nothing
// above U+10FFFF.
// Threads: a pure function.
#ifndef HEADRACE_CORE_UTF8_H_
#define HEADRACE_CORE_UTF8_H_

#include <string_view>

namespace headrace {

bool IsUtf8(std::string_view bytes);

}  // namespace headrace

#endif  // HEADRACE_CORE_UTF8_H_
