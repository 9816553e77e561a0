#include "io/files/s3/signing_key.h"

#include <utility>

#include "core/text.h"

namespace headrace::s3 {

http::Transport::Sha256 SigningKey(const http::Transport& transport, const SigningScope& scope,
                                   std::string_view secret) {
  http::Transport::Sha256 key = transport.HmacSha256(Cat("AWS4", secret), scope.day());
  for (const std::string_view part :
       {std::string_view(scope.region), std::string_view(scope.service), std::string_view("aws4_request")}) {
    key = transport.HmacSha256({reinterpret_cast<const char*>(key.data()), key.size()}, part);
  }
  return key;
}

http::Transport::Sha256 KeptSigningKey::KeyOf(const http::Transport& transport, const SigningScope& scope,
                                              std::string_view secret) {
  // Neither days, regions nor services have a line end.
  std::string made_of = Cat(scope.day(), "\n", scope.region, "\n", scope.service, "\n", secret);
  const std::lock_guard lock(mutex_);
  if (made_of != made_of_) {
    key_ = SigningKey(transport, scope, secret);
    made_of_ = std::move(made_of);
  }
  return key_;
}

}  // namespace headrace::s3
