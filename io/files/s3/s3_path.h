// `S3Path` is what a path "s3://bucket/key" names. Threads: plain data, pure functions.
#ifndef HEADRACE_IO_FILES_S3_S3_PATH_H_
#define HEADRACE_IO_FILES_S3_S3_PATH_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace headrace::s3 {

struct S3Path {
  std::string bucket;
  std::string key;  // as it is, without percent signs of a URL; empty: the bucket itself

  // The beginning of the keys in this folder: "photos/" of "s3://bucket/photos", "" of a bucket.
  std::string Prefix() const { return key.empty() || key.back() == '/' ? key : key + '/'; }
};

// Of "s3://" and "s3a://". kGraph: it names no bucket; kUnsupported: a directory bucket.
absl::StatusOr<S3Path> ParseS3Path(std::string_view path);
// As ParseS3Path, where a file must be named.
absl::StatusOr<S3Path> ParseObjectPath(std::string_view path);

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_S3_PATH_H_
