// `OriginOf` and `ResolveUrl` take URLs of http and https apart (RFC 3986). Threads: pure functions.
#ifndef HEADRACE_IO_FILES_HTTP_URL_H_
#define HEADRACE_IO_FILES_HTTP_URL_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace headrace::http {

// "https://host:443" of "https://user@Host/a?b": scheme, host in lower case and port. Whatever it is, requests of one
// origin go to one host.
std::string OriginOf(std::string_view url);

// The URL that `location` means in a reply for `base`; without a fragment. kData: it is not one of http or https.
absl::StatusOr<std::string> ResolveUrl(std::string_view base, std::string_view location);

// What can stand in a request: letters that URLs cannot hold (spaces, letters beyond ASCII) as %XX, all else as it is,
// and no fragment.
std::string EncodedUrl(std::string_view url);

// For messages: without a query, which may hold a signature, and without a user and a password.
std::string ShownUrl(std::string_view url);

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_URL_H_
