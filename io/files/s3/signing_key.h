// `SigningScope` says for which day, region and service a request is signed; `SigningKey` makes the key of a scope, and
// `KeptSigningKey` keeps it: making it costs four times as much as signing with it. A key is shown nowhere.
// Threads: any thread.
#ifndef HEADRACE_IO_FILES_S3_SIGNING_KEY_H_
#define HEADRACE_IO_FILES_S3_SIGNING_KEY_H_

#include <mutex>
#include <string>
#include <string_view>

#include "io/files/http/transport.h"

namespace headrace::s3 {

struct SigningScope {
  std::string region;
  std::string service = "s3";
  std::string time;  // SigningTime

  std::string_view day() const { return std::string_view(time).substr(0, 8); }
};

http::Transport::Sha256 SigningKey(const http::Transport& transport, const SigningScope& scope,
                                   std::string_view secret);

class KeptSigningKey {
 public:
  // As SigningKey.
  http::Transport::Sha256 KeyOf(const http::Transport& transport, const SigningScope& scope, std::string_view secret);

 private:
  std::mutex mutex_;
  std::string made_of_;  // "": none is kept
  http::Transport::Sha256 key_;
};

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_SIGNING_KEY_H_
