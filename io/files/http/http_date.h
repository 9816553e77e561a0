// `ParseHttpDate` reads the times of HTTP's headers. Threads: pure function.
#ifndef HEADRACE_IO_FILES_HTTP_HTTP_DATE_H_
#define HEADRACE_IO_FILES_HTTP_HTTP_DATE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace headrace::http {

// Seconds since 1970 of "Sun, 06 Nov 1994 08:49:37 GMT"; nothing for other forms.
std::optional<int64_t> ParseHttpDate(std::string_view text);

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_HTTP_DATE_H_
