// `ProblemOf` reads what a store says of a request that it refused, and `RefusedError` makes an error of it, which
// names the path, what the user has to change, the status, the code, the request and the number of attempts; not keys,
// nor URLs with signatures. Threads: pure functions.
#ifndef HEADRACE_IO_FILES_S3_STORE_REPLY_H_
#define HEADRACE_IO_FILES_S3_STORE_REPLY_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "io/files/http/http_client.h"

namespace headrace::s3 {

struct Problem {
  std::string code;  // "NoSuchKey"; empty: the reply has none
  std::string message;
  std::string request_id;
  std::string region;  // where the bucket is, if the reply says so
};

Problem ProblemOf(const http::Head& head, std::string_view body);
// The code alone, of a body; empty: it has none.
std::string CodeOf(std::string_view body);

// `wanted`: "read". `hidden`: texts that are not shown, whatever the store says.
absl::Status RefusedError(std::string_view name, std::string_view wanted, const http::Reply& reply,
                          const std::vector<std::string_view>& hidden);

// kData: it has other contents than a listing, or an earlier read, said.
absl::Status ChangedError(std::string_view name);

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_STORE_REPLY_H_
