// `PlainSha256`, `PlainHmacSha256` and `PlainMd5` are digests for tests (FIPS 180-4, RFC 2104, RFC 1321) that need no
// library, and that show whether the library's are right. Threads: pure functions.
#ifndef HEADRACE_IO_FILES_HTTP_TESTING_PLAIN_DIGESTS_H_
#define HEADRACE_IO_FILES_HTTP_TESTING_PLAIN_DIGESTS_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace headrace::http {

std::array<uint8_t, 32> PlainSha256(const std::vector<std::string_view>& parts);
std::array<uint8_t, 32> PlainHmacSha256(std::string_view key, std::string_view text);
std::array<uint8_t, 16> PlainMd5(const std::vector<std::string_view>& parts);

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_TESTING_PLAIN_DIGESTS_H_
