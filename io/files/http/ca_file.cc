#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/text.h"
#include "io/files/http/http_client.h"

namespace headrace::http {
namespace {

constexpr std::array kCaVariables = {"AWS_CA_BUNDLE", "SSL_CERT_FILE", "CURL_CA_BUNDLE"};
constexpr std::array kCaPlaces = {
    "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Alpine
    "/etc/pki/tls/certs/ca-bundle.crt",    // Red Hat
    "/etc/ssl/ca-bundle.pem",              // SUSE
    "/etc/ssl/cert.pem",
};

bool IsReadable(const std::string& path) { return access(path.c_str(), R_OK) == 0; }

}  // namespace

absl::StatusOr<std::string> FindCaFile(std::string_view given) {
  if (!given.empty()) {
    if (IsReadable(std::string(given))) return std::string(given);
    return NotFoundError("the file that ca_file= of storage= names does not exist or cannot be read");
  }
  for (const char* const name : kCaVariables) {
    const char* const path = getenv(name);
    if (path == nullptr || *path == '\0') continue;
    if (IsReadable(path)) return std::string(path);
    return NotFoundError("the file that ", name, " in the environment names does not exist or cannot be read");
  }
  std::string places;
  for (const char* const place : kCaPlaces) {
    if (IsReadable(place)) return std::string(place);
    Append(places, places.empty() ? "" : ", ", place);
  }
  return NotFoundError(
      "no certificates of authorities were found, by which hosts of https are known: install ca-certificates, or say "
      "ca_file= in storage=; looked for at ",
      places);
}

}  // namespace headrace::http
