#include "io/files/s3/s3_path.h"

#include <algorithm>
#include <cstddef>

#include "core/error.h"

namespace headrace::s3 {
namespace {

// The limit of S3.
constexpr size_t kMostKeyBytes = 1024;
constexpr size_t kMostBucketBytes = 255;

bool IsInBucketName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

}  // namespace

absl::StatusOr<S3Path> ParseS3Path(std::string_view path) {
  const size_t scheme = path.find("://");
  if (scheme == std::string_view::npos) return GraphError("not a path of S3, which begins with s3:// : '", path, "'");
  const std::string_view rest = path.substr(scheme + 3);
  const size_t slash = std::min(rest.find('/'), rest.size());
  S3Path parsed;
  parsed.bucket = rest.substr(0, slash);
  if (slash < rest.size()) parsed.key = rest.substr(slash + 1);
  const std::string& bucket = parsed.bucket;
  if (bucket.empty()) return GraphError("the path names no bucket; write s3://bucket/key instead of '", path, "'");
  const bool good = bucket.size() <= kMostBucketBytes && bucket.front() != '.' && bucket.front() != '-' &&
                    std::all_of(bucket.begin(), bucket.end(), IsInBucketName);
  if (!good) {
    return GraphError("the name of a bucket consists of letters, digits, '-', '.' and '_'; correct it in '", path, "'");
  }
  if (bucket.ends_with("--x-s3")) {
    return UnsupportedError(path,
                            ": directory buckets (S3 Express One Zone) need sessions, which are not supported; copy "
                            "the files to a general purpose bucket");
  }
  if (parsed.key.size() > kMostKeyBytes) {
    return GraphError(path, ": a key of S3 has at most ", kMostKeyBytes, " bytes, and this one has ",
                      parsed.key.size());
  }
  return parsed;
}

absl::StatusOr<S3Path> ParseObjectPath(std::string_view path) {
  HEADRACE_ASSIGN_OR_RETURN(S3Path parsed, ParseS3Path(path));
  if (!parsed.key.empty() && parsed.key.back() != '/') return parsed;
  return NotFoundError(path, " is a folder, where a file is expected");
}

}  // namespace headrace::s3
