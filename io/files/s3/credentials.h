// `Credentials` are the keys that requests are signed with. They go into signatures and nowhere else: not into a
// message, a log or a state. Threads: plain data.
#ifndef HEADRACE_IO_FILES_S3_CREDENTIALS_H_
#define HEADRACE_IO_FILES_S3_CREDENTIALS_H_

#include <cstdint>
#include <string>

namespace headrace::s3 {

struct Credentials {
  std::string access_key;
  std::string secret_key;
  std::string token;       // of a session; empty: the keys are lasting ones
  int64_t expires_s = 0;   // since 1970; 0: never
  bool anonymous = false;  // requests are not signed
};

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_CREDENTIALS_H_
