// `PercentEncoded` and `PercentDecoded` write bytes as "%2F" and back, as URLs and listings of S3 have them. Only
// letters, digits, '-', '.', '_' and '~' stay as they are, which is what signatures of S3 are computed over.
// Threads: pure functions.
#ifndef HEADRACE_IO_FILES_HTTP_PERCENT_TEXT_H_
#define HEADRACE_IO_FILES_HTTP_PERCENT_TEXT_H_

#include <string>
#include <string_view>

namespace headrace::http {

enum class Slash { kEncoded, kKept };
std::string PercentEncoded(std::string_view bytes, Slash slash = Slash::kEncoded);

// A '+' is a space. A percent sign that two hexadecimal digits do not follow stays as it is.
std::string PercentDecoded(std::string_view text);

// Appends a byte as "%2F".
void AppendPercent(std::string& text, char byte);

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_PERCENT_TEXT_H_
