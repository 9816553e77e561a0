// `UploadIdOf` and its neighbours read and write the XML of uploads in parts. Threads: pure functions.
#ifndef HEADRACE_IO_FILES_S3_UPLOAD_REPLY_H_
#define HEADRACE_IO_FILES_S3_UPLOAD_REPLY_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace headrace::s3 {

// Of CreateMultipartUpload. kData: the reply has no id.
absl::StatusOr<std::string> UploadIdOf(std::string_view xml);
// The body of CompleteMultipartUpload, of the parts' ETags, from part 1 on.
std::string CompletionOf(const std::vector<std::string>& etags);
// Whether the reply of a completion, which may be an error with the status 200, says that the object is there.
bool IsCompleted(std::string_view xml);

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_UPLOAD_REPLY_H_
