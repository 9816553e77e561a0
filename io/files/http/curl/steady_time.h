// `SteadyNs` reads the clock of the transport. Threads: any.
#ifndef HEADRACE_IO_FILES_HTTP_CURL_STEADY_TIME_H_
#define HEADRACE_IO_FILES_HTTP_CURL_STEADY_TIME_H_

#include <chrono>
#include <cstdint>

namespace headrace::http {

inline int64_t SteadyNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_CURL_STEADY_TIME_H_
