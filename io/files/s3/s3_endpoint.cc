#include "io/files/s3/s3_endpoint.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "core/error.h"
#include "io/files/http/percent_text.h"

namespace headrace::s3 {
namespace {

constexpr std::string_view kBucketPlace = "{bucket}";
// Of vendors that take the bucket in the host's name alone.
constexpr std::array<std::string_view, 2> kVirtualHosted = {".aliyuncs.com", ".myqcloud.com"};

std::string_view HostPart(std::string_view url) {
  url.remove_prefix(url.find("://") + 3);
  return url.substr(0, std::min(url.find('/'), url.size()));
}

bool IsVirtualHosted(std::string_view host) {
  return std::any_of(kVirtualHosted.begin(), kVirtualHosted.end(),
                     [&](std::string_view ending) { return host.ends_with(ending); });
}

// What clients leave out of the header Host, and signatures with it.
void DropUsualPort(std::string& url) {
  const std::string_view port = url.starts_with("https://") ? ":443" : ":80";
  const std::string_view host = HostPart(url);
  if (!host.ends_with(port)) return;
  const size_t end = static_cast<size_t>(host.data() - url.data()) + host.size();
  url.erase(end - port.size(), port.size());
}

bool IsUrlCharacter(char c) { return c > ' ' && c < 0x7f && c != '"' && c != '<' && c != '>' && c != '\\'; }

bool IsAddress(std::string_view url) {
  if (!url.starts_with("http://") && !url.starts_with("https://")) return false;
  if (!std::all_of(url.begin(), url.end(), IsUrlCharacter)) return false;
  // Names and passwords are keys of their own.
  return !HostPart(url).empty() && url.find_first_of("?#@") == std::string_view::npos;
}

}  // namespace

absl::StatusOr<S3Endpoint> S3Endpoint::Make(std::string given) {
  while (given.ends_with('/')) given.pop_back();
  S3Endpoint endpoint;
  if (given.empty()) return endpoint;
  if (!IsAddress(given)) {
    return GraphError(
        "the endpoint of S3 is not an address such as \"https://minio.lan:9000\", without keys, '?' and '#'");
  }
  DropUsualPort(given);
  const std::string_view host = HostPart(given);
  if (IsVirtualHosted(host) && host.find(kBucketPlace) == std::string_view::npos) {
    given.insert(given.find("://") + 3, Cat(kBucketPlace, "."));
  }
  endpoint.given_ = std::move(given);
  return endpoint;
}

std::string S3Endpoint::Url(std::string_view region, std::string_view bucket, std::string_view key) const {
  const std::string path = http::PercentEncoded(key, http::Slash::kKept);
  if (is_aws()) {
    const std::string_view china = region.starts_with("cn-") ? ".cn" : "";
    const std::string host = Cat("s3.", region, ".amazonaws.com", china);
    // The certificate covers names without further dots.
    if (bucket.find('.') != std::string_view::npos) return Cat("https://", host, "/", bucket, "/", path);
    return Cat("https://", bucket, ".", host, "/", path);
  }
  const size_t place = given_.find(kBucketPlace);
  if (place == std::string::npos) return Cat(given_, "/", bucket, "/", path);
  const std::string_view text = given_;
  return Cat(text.substr(0, place), bucket, text.substr(place + kBucketPlace.size()), "/", path);
}

}  // namespace headrace::s3
