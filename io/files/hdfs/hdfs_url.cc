#include "io/files/hdfs/hdfs_url.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "core/error.h"
#include "io/files/file_system.h"

namespace headrace::hdfs {
namespace {

bool MayNameAHost(std::string_view authority) {
  constexpr std::string_view kMarks = "-._~:[]";
  return std::all_of(authority.begin(), authority.end(), [&](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || kMarks.find(c) != std::string_view::npos;
  });
}

std::string WithSingleSlashes(std::string_view path) {
  std::string single = "/";
  for (const char c : path) {
    if (c != '/' || single.back() != '/') single.push_back(c);
  }
  if (single.size() > 1 && single.back() == '/') single.pop_back();
  return single;
}

}  // namespace

absl::StatusOr<HdfsUrl> ParseHdfsUrl(std::string_view url) {
  HEADRACE_RETURN_IF_ERROR(CheckNoNul("the path", url));
  const size_t colon = url.find("://");
  if (colon == std::string_view::npos) return InternalError(url, ": it has no scheme");
  HdfsUrl parts;
  parts.scheme = std::string(url.substr(0, colon));
  std::string_view rest = url.substr(colon + 3);
  const size_t slash = std::min(rest.find('/'), rest.size());
  parts.authority = std::string(rest.substr(0, slash));
  if (const size_t at = parts.authority.rfind('@'); at != std::string::npos) {
    // What stands before it may be a password.
    return GraphError(parts.scheme, "://", parts.authority.substr(at + 1), rest.substr(slash),
                      ": a path does not name the user; give user by storage=, as {\"hdfs\": {\"user\": …}}");
  }
  if (!MayNameAHost(parts.authority)) {
    return GraphError(url, ": this is not the name of a NameNode or of a nameservice: ", parts.authority);
  }
  parts.path = WithSingleSlashes(rest.substr(slash));
  return parts;
}

std::string_view HostOf(std::string_view authority) {
  const size_t colon = authority.rfind(':');
  // An address of IPv6 has brackets around its colons.
  const bool port = colon != std::string_view::npos && authority.find(']', colon) == std::string_view::npos;
  return port ? authority.substr(0, colon) : authority;
}

std::string_view AuthorityOf(std::string_view url) {
  const size_t colon = url.find("://");
  if (colon == std::string_view::npos) return {};
  const std::string_view rest = url.substr(colon + 3);
  return rest.substr(0, rest.find_first_of("/?"));
}

}  // namespace headrace::hdfs
