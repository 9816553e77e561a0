// `PercentEncoded` and `PercentDecoded` write bytes as "%2F" and back, as URLs and listings of S3 have them. Only
// letters, digits, '-', '.', '_' and '~' stay as they are, which is what signatures are computed over.
// Threads: pure functions.
#ifndef HEADRACE_IO_FILES_S3_PERCENT_TEXT_H_
#define HEADRACE_IO_FILES_S3_PERCENT_TEXT_H_

#include <string>
#include <string_view>

namespace headrace::s3 {

enum class Slash { kEncoded, kKept };
std::string PercentEncoded(std::string_view bytes, Slash slash = Slash::kEncoded);

// A '+' is a space. A percent sign that two hexadecimal digits do not follow stays as it is.
std::string PercentDecoded(std::string_view text);

// "0a1f…", as signatures and digests are written.
std::string HexText(std::string_view bytes);

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_PERCENT_TEXT_H_
