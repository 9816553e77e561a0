// `RetryPolicy` says whether and when a request that failed is sent again. Threads: pure functions.
#ifndef HEADRACE_IO_FILES_HTTP_RETRY_POLICY_H_
#define HEADRACE_IO_FILES_HTTP_RETRY_POLICY_H_

#include <cstdint>

#include "io/files/http/transport.h"

namespace headrace::http {

// What failed, as far as waiting is concerned.
enum class Failure {
  kUnreached,  // no connection
  kBroken,     // a connection that broke or gave nothing
  kServer,     // a reply of 5xx or 408
  kThrottled,  // a reply of 429 or 503
  kWrong,      // a reply that breaks HTTP, or is of another part of the file than was asked for
};

struct FailedCall {
  int failures = 1;         // in succession, without progress between them
  int64_t since_ns = 0;     // since the first of them
  bool host_known = false;  // the host has given a good reply before
  bool host_lost = true;    // the host has given no good reply since the first of them
  int most_attempts = 0;    // of the call; 0: no such limit
  bool congested = false;   // more than a quarter of a second's replies are throttled
};

// Whether a call is not repeated once more.
bool GivesUp(Failure failure, const FailedCall& call);
// Nanoseconds until it is repeated: up to 50 ms at first, 1 s where the host is congested, doubled each time up to 20
// s; from the fourth failure on where the host serves others meanwhile. `drawn` is uniform in [0, 1).
int64_t RetryWait(Failure failure, const FailedCall& call, double drawn);
// What a reply says of when to come again (Retry-After), in nanoseconds, at most 30 s; 0: nothing.
int64_t AskedWait(const Head& head);

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_RETRY_POLICY_H_
