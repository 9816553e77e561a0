// `S3Endpoint` says at which address a bucket is: of AWS by its region, or of the endpoint that is given; with the
// bucket in the host's name or in the path. Threads: immutable once made.
#ifndef HEADRACE_IO_FILES_S3_S3_ENDPOINT_H_
#define HEADRACE_IO_FILES_S3_S3_ENDPOINT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace headrace::s3 {

class S3Endpoint {
 public:
  // `given`: "https://minio.lan:9000", where the bucket comes first in the path, or with "{bucket}" in its host, where
  // the bucket is a part of the host's name; empty: AWS. kGraph: it is not such an address.
  static absl::StatusOr<S3Endpoint> Make(std::string given);

  bool is_aws() const { return given_.empty(); }
  bool is_secure() const { return given_.empty() || given_.starts_with("https://"); }
  // "https://bucket.s3.eu-west-1.amazonaws.com/a%20key": encoded, without a query.
  std::string Url(std::string_view region, std::string_view bucket, std::string_view key) const;

 private:
  std::string given_;  // without a '/' at its end; empty: AWS
};

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_S3_ENDPOINT_H_
