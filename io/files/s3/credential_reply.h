// `ParseCredentialJson` and `ParseStsReply` read the credentials that containers, machines, processes and the token
// service give. Errors show nothing of what was read. Threads: pure functions.
#ifndef HEADRACE_IO_FILES_S3_CREDENTIAL_REPLY_H_
#define HEADRACE_IO_FILES_S3_CREDENTIAL_REPLY_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "io/files/s3/credentials.h"

namespace headrace::s3 {

// Of containers and machines ("Token") and of processes ("SessionToken", with a Version of 1). kData: it is not one.
absl::StatusOr<Credentials> ParseCredentialJson(std::string_view json);
// Of AssumeRole and AssumeRoleWithWebIdentity.
absl::StatusOr<Credentials> ParseStsReply(std::string_view xml);

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_CREDENTIAL_REPLY_H_
