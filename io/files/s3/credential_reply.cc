#include "io/files/s3/credential_reply.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/files/s3/utc_time.h"
#include "io/files/xml/xml_scanner.h"

namespace headrace::s3 {
namespace {

constexpr size_t kMostCredentialBytes = size_t{1} << 16;

std::string TextAt(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// A header of a request may not hold these.
bool IsOneLine(std::string_view text) { return text.find_first_of(std::string_view("\r\n\0", 3)) == text.npos; }

absl::StatusOr<Credentials> Checked(Credentials credentials, std::string_view expiration) {
  if (credentials.access_key.empty() || credentials.secret_key.empty()) {
    return DataError("the reply has no access key or no secret key");
  }
  if (!IsOneLine(credentials.access_key) || !IsOneLine(credentials.token)) {
    return DataError("a key of the reply has several lines");
  }
  if (expiration.empty()) return credentials;
  const std::optional<int64_t> expires = ParseUtcTime(expiration);
  if (!expires.has_value()) return DataError("the time at which the keys expire is not a time");
  credentials.expires_s = *expires;
  return credentials;
}

}  // namespace

absl::StatusOr<Credentials> ParseCredentialJson(std::string_view json) {
  if (json.size() > kMostCredentialBytes) return DataError("the reply is too long for credentials");
  const nlohmann::json parsed = nlohmann::json::parse(json.begin(), json.end(), nullptr, false);
  if (!parsed.is_object()) return DataError("the reply is not an object of JSON");
  const auto version = parsed.find("Version");
  if (version != parsed.end() && *version != 1) return DataError("the version of the reply is not 1");
  Credentials credentials;
  credentials.access_key = TextAt(parsed, "AccessKeyId");
  credentials.secret_key = TextAt(parsed, "SecretAccessKey");
  credentials.token = TextAt(parsed, "SessionToken");
  if (credentials.token.empty()) credentials.token = TextAt(parsed, "Token");
  return Checked(std::move(credentials), TextAt(parsed, "Expiration"));
}

absl::StatusOr<Credentials> ParseStsReply(std::string_view xml) {
  Credentials credentials;
  std::string expiration;
  XmlScanner scanner(xml);
  XmlEvent event = scanner.Next();
  for (; event == XmlEvent::kBegin || event == XmlEvent::kEnd; event = scanner.Next()) {
    const std::vector<std::string_view>& path = scanner.path();
    if (event == XmlEvent::kBegin || path.size() < 2 || path[path.size() - 2] != "Credentials") continue;
    if (path.back() == "AccessKeyId") credentials.access_key = scanner.text();
    if (path.back() == "SecretAccessKey") credentials.secret_key = scanner.text();
    if (path.back() == "SessionToken") credentials.token = scanner.text();
    if (path.back() == "Expiration") expiration = scanner.text();
  }
  if (event == XmlEvent::kError) return scanner.status();
  return Checked(std::move(credentials), expiration);
}

}  // namespace headrace::s3
