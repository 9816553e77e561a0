// `SignRequest` signs a request by AWS's Signature Version 4, with the rules of S3 (the path is encoded once) or of
// another service. It signs the host and all headers that begin with "x-amz-"; others, such as Range and If-Match, need
// no signature. `kept`: what keeps the signing key for other requests; null: nothing does. Threads: functions without a
// state of their own.
#ifndef HEADRACE_IO_FILES_S3_REQUEST_SIGNER_H_
#define HEADRACE_IO_FILES_S3_REQUEST_SIGNER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/http/transport.h"
#include "io/files/s3/credentials.h"
#include "io/files/s3/signing_key.h"

namespace headrace::s3 {

// Of a body that is not digested: TLS protects it.
inline constexpr std::string_view kUnsignedPayload = "UNSIGNED-PAYLOAD";
// The digest of no bytes.
inline constexpr std::string_view kEmptyPayload = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

// The digest of a body, end to end.
std::string PayloadDigest(const http::Transport& transport, const std::vector<std::string_view>& body);

// The parts of a request over which a signature is computed.
struct Signable {
  std::string method;
  std::string path;                   // encoded: "/bucket/a%20b"
  std::string query;                  // encoded and sorted: "list-type=2&prefix=a%2F"
  std::vector<http::Header> headers;  // those that are signed, names in lower case, in any order
  std::string payload;                // the digest of the body, or kUnsignedPayload
};

// The text whose digest is signed; for tests.
std::string CanonicalRequest(Signable signable);
// The value of the header Authorization.
std::string AuthorizationOf(const http::Transport& transport, const Signable& signable, const SigningScope& scope,
                            const Credentials& credentials, KeptSigningKey* kept = nullptr);

// Adds x-amz-date, x-amz-content-sha256 (S3 alone), x-amz-security-token and Authorization to `request`, whose URL is
// "https://HOST/PATH?QUERY" with an encoded path and an encoded, sorted query.
void SignRequest(const http::Transport& transport, std::string_view payload, const SigningScope& scope,
                 const Credentials& credentials, http::Request& request, KeptSigningKey* kept = nullptr);

// "name=value&…", sorted and encoded as signatures ask for it.
std::string QueryText(std::vector<http::Header> parameters);

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_REQUEST_SIGNER_H_
