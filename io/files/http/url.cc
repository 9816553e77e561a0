#include "io/files/http/url.h"

#include <cstddef>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "io/files/http/header_text.h"
#include "io/files/http/percent_text.h"

namespace headrace::http {
namespace {

constexpr std::string_view kMark = "://";

struct UrlParts {
  std::string_view scheme;
  std::string_view authority;  // with user and port
  std::string_view path;       // with its first '/'
  std::string_view query;      // with its '?'
};

std::string_view WithoutFragment(std::string_view url) { return url.substr(0, url.find('#')); }

UrlParts PartsOfUrl(std::string_view url) {
  url = WithoutFragment(url);
  UrlParts parts;
  const size_t mark = url.find(kMark);
  if (mark != std::string_view::npos) {
    parts.scheme = url.substr(0, mark);
    url.remove_prefix(mark + kMark.size());
  }
  parts.authority = url.substr(0, url.find_first_of("/?"));
  url.remove_prefix(parts.authority.size());
  parts.path = url.substr(0, url.find('?'));
  parts.query = url.substr(parts.path.size());
  return parts;
}

std::string_view WithoutUser(std::string_view authority) {
  const size_t at = authority.rfind('@');
  return at == std::string_view::npos ? authority : authority.substr(at + 1);
}

bool HasPort(std::string_view host) {
  const size_t colon = host.rfind(':');
  return colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos;
}

bool BeginsWithScheme(std::string_view url, std::string_view scheme) {
  return url.size() > scheme.size() + kMark.size() && IsHeader(url.substr(0, scheme.size()), scheme) &&
         url.substr(scheme.size(), kMark.size()) == kMark;
}

bool HasScheme(std::string_view location) {
  const size_t end = location.find_first_of(":/?");
  return end != std::string_view::npos && end > 0 && location[end] == ':';
}

// Without "." and "..".
std::string PlainUrlPath(std::string_view path) {
  std::vector<std::string_view> names;
  bool folder = false;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view name = path.substr(0, path.find('/'));
    path.remove_prefix(name.size());
    folder = name == "." || name == "..";
    if (name == ".." && !names.empty()) names.pop_back();
    if (!folder) names.push_back(name);
  }
  std::string plain;
  for (const std::string_view name : names) Append(plain, "/", name);
  if (folder || plain.empty()) plain += '/';
  return plain;
}

bool MayStandInUrl(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return byte > ' ' && byte < 0x7f && std::string_view("\"<>\\^`{|}").find(letter) == std::string_view::npos;
}

}  // namespace

std::string OriginOf(std::string_view url) {
  const UrlParts parts = PartsOfUrl(url);
  const std::string scheme = InLowerCase(parts.scheme);
  const std::string host = InLowerCase(WithoutUser(parts.authority));
  return Cat(scheme, kMark, host, HasPort(host) ? "" : scheme == "https" ? ":443" : ":80");
}

absl::StatusOr<std::string> ResolveUrl(std::string_view base, std::string_view location) {
  location = WithoutFragment(location);
  if (BeginsWithScheme(location, "http") || BeginsWithScheme(location, "https")) return std::string(location);
  const UrlParts parts = PartsOfUrl(base);
  if (location.empty() || HasScheme(location)) {
    return DataError(ShownUrl(base), " is said to be elsewhere, at an address that is not of http or https");
  }
  if (location.substr(0, 2) == "//") return Cat(parts.scheme, ":", location);
  const std::string root = Cat(parts.scheme, kMark, parts.authority);
  if (location.front() == '?') return Cat(root, parts.path.empty() ? "/" : parts.path, location);
  const std::string_view path = location.substr(0, location.find('?'));
  const std::string_view query = location.substr(path.size());
  if (path.front() == '/') return Cat(root, PlainUrlPath(path), query);
  const size_t last = parts.path.rfind('/');
  const std::string_view folder = last == std::string_view::npos ? "/" : parts.path.substr(0, last + 1);
  return Cat(root, PlainUrlPath(Cat(folder, path)), query);
}

std::string EncodedUrl(std::string_view url) {
  std::string encoded;
  for (const char letter : WithoutFragment(url)) {
    if (MayStandInUrl(letter)) {
      encoded += letter;
    } else {
      AppendPercent(encoded, letter);
    }
  }
  return encoded;
}

std::string ShownUrl(std::string_view url) {
  const UrlParts parts = PartsOfUrl(url);
  return Cat(parts.scheme, kMark, WithoutUser(parts.authority), parts.path);
}

}  // namespace headrace::http
