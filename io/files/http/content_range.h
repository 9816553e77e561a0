// `ParseContentRange` reads what part of a file a reply holds. Threads: pure function.
#ifndef HEADRACE_IO_FILES_HTTP_CONTENT_RANGE_H_
#define HEADRACE_IO_FILES_HTTP_CONTENT_RANGE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace headrace::http {

struct ContentRange {
  int64_t first = 0;
  int64_t last = -1;  // below `first`: none, the range was beyond the end
  int64_t size = -1;  // of the whole file; -1: not known
};

// "bytes 0-9/100", "bytes 0-9/*" and "bytes */100"; nothing for what contradicts itself or has another form.
std::optional<ContentRange> ParseContentRange(std::string_view value);

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_CONTENT_RANGE_H_
