#include "io/files/s3/request_signer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "core/text.h"
#include "io/files/http/percent_text.h"

namespace headrace::s3 {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

std::string_view TextOf(const http::Transport::Sha256& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// "0a1f…", as signatures and digests are written.
std::string HexOf(const http::Transport::Sha256& digest) { return absl::BytesToHexString(ToAbsl(TextOf(digest))); }

// Without blanks around it, and with one blank where several follow each other.
std::string CanonicalValue(std::string_view value) {
  std::string text;
  bool blank = false;
  for (const char c : value) {
    if (c == ' ' || c == '\t') {
      blank = true;
      continue;
    }
    if (blank && !text.empty()) text += ' ';
    blank = false;
    text += c;
  }
  return text;
}

bool ByName(const http::Header& a, const http::Header& b) { return a.name < b.name; }

std::string SignedNames(const std::vector<http::Header>& headers) {
  std::string names;
  for (const http::Header& header : headers) Append(names, names.empty() ? "" : ";", header.name);
  return names;
}

std::string ScopeText(const SigningScope& scope) {
  return Cat(scope.day(), "/", scope.region, "/", scope.service, "/aws4_request");
}

struct UrlParts {
  std::string_view host;
  std::string_view path;
  std::string_view query;
};

UrlParts PartsOf(std::string_view url) {
  UrlParts parts;
  url.remove_prefix(url.find("://") + 3);
  const size_t slash = std::min(url.find('/'), url.size());
  parts.host = url.substr(0, slash);
  url.remove_prefix(slash);
  const size_t question = std::min(url.find('?'), url.size());
  parts.path = url.substr(0, question);
  if (question < url.size()) parts.query = url.substr(question + 1);
  return parts;
}

std::string LowerCase(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

}  // namespace

std::string QueryText(std::vector<http::Header> parameters) {
  for (http::Header& parameter : parameters) {
    parameter.name = http::PercentEncoded(parameter.name);
    parameter.value = http::PercentEncoded(parameter.value);
  }
  std::sort(parameters.begin(), parameters.end(), [](const http::Header& a, const http::Header& b) {
    return a.name != b.name ? a.name < b.name : a.value < b.value;
  });
  std::string text;
  for (const http::Header& parameter : parameters) {
    Append(text, text.empty() ? "" : "&", parameter.name, "=", parameter.value);
  }
  return text;
}

std::string PayloadDigest(const http::Transport& transport, const std::vector<std::string_view>& body) {
  return HexOf(transport.DigestSha256(body));
}

std::string CanonicalRequest(Signable signable) {
  std::sort(signable.headers.begin(), signable.headers.end(), ByName);
  std::string text =
      Cat(signable.method, "\n", signable.path.empty() ? "/" : signable.path, "\n", signable.query, "\n");
  for (const http::Header& header : signable.headers)
    Append(text, header.name, ":", CanonicalValue(header.value), "\n");
  Append(text, "\n", SignedNames(signable.headers), "\n", signable.payload);
  return text;
}

std::string AuthorizationOf(const http::Transport& transport, const Signable& signable, const SigningScope& scope,
                            const Credentials& credentials, KeptSigningKey* kept) {
  const std::string to_sign = Cat(kAlgorithm, "\n", scope.time, "\n", ScopeText(scope), "\n",
                                  PayloadDigest(transport, {CanonicalRequest(signable)}));
  const http::Transport::Sha256 key = kept == nullptr ? SigningKey(transport, scope, credentials.secret_key)
                                                      : kept->KeyOf(transport, scope, credentials.secret_key);
  const http::Transport::Sha256 signature = transport.HmacSha256(TextOf(key), to_sign);
  std::vector<http::Header> headers = signable.headers;
  std::sort(headers.begin(), headers.end(), ByName);
  return Cat(kAlgorithm, " Credential=", credentials.access_key, "/", ScopeText(scope),
             ", SignedHeaders=", SignedNames(headers), ", Signature=", HexOf(signature));
}

void SignRequest(const http::Transport& transport, std::string_view payload, const SigningScope& scope,
                 const Credentials& credentials, http::Request& request, KeptSigningKey* kept) {
  request.headers.push_back({"x-amz-date", scope.time});
  // S3 wants the digest of the body as a header; other services compute it.
  if (scope.service == "s3") request.headers.push_back({"x-amz-content-sha256", std::string(payload)});
  if (!credentials.token.empty()) request.headers.push_back({"x-amz-security-token", credentials.token});
  const UrlParts parts = PartsOf(request.url);
  Signable signable{request.method, std::string(parts.path), std::string(parts.query), {}, std::string(payload)};
  signable.headers.push_back({"host", std::string(parts.host)});
  for (const http::Header& header : request.headers) {
    std::string name = LowerCase(header.name);
    if (name.starts_with("x-amz-")) signable.headers.push_back({std::move(name), header.value});
  }
  request.headers.push_back({"Authorization", AuthorizationOf(transport, signable, scope, credentials, kept)});
}

}  // namespace headrace::s3
