// `PlainlyMissing` marks an error as saying of a path only that it is not there, so that whoever looked for it finds
// out why (MissingPathError); other errors of the kind kNotFound give a reason of their own, such as a bucket that is
// not there or a file that may not be read.
// Threads: functions without state; safe from any thread.
#ifndef HEADRACE_IO_FILES_PLAINLY_MISSING_H_
#define HEADRACE_IO_FILES_PLAINLY_MISSING_H_

#include <string_view>

#include "absl/status/status.h"

namespace headrace {

// An error of the kind kNotFound, with the mark.
absl::Status PlainlyMissing(absl::Status status);
// "s3://bucket/key: not found", with the mark.
absl::Status MissingError(std::string_view path);
bool IsPlainlyMissing(const absl::Status& status);

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_PLAINLY_MISSING_H_
