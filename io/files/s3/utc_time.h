// `ParseUtcTime` and its neighbours turn the times of signatures and of credentials into seconds since 1970
// and back. Threads: pure functions, but for NowSeconds, which any thread may call.
#ifndef HEADRACE_IO_FILES_S3_UTC_TIME_H_
#define HEADRACE_IO_FILES_S3_UTC_TIME_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headrace::s3 {

// "20130524T000000Z", of which the first eight characters are the day.
std::string SigningTime(int64_t seconds);
// "2026-11-30T03:00:00Z", also with a part of a second or "+00:00"; nullopt: not such a time.
std::optional<int64_t> ParseUtcTime(std::string_view text);

int64_t NowSeconds();

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_UTC_TIME_H_
