// `OutputOfCommand` runs a command of a profile (credential_process) and gives what it prints. Threads: any thread.
#ifndef HEADRACE_IO_FILES_S3_PROCESS_OUTPUT_H_
#define HEADRACE_IO_FILES_S3_PROCESS_OUTPUT_H_

#include <chrono>
#include <string>

#include "absl/status/statusor.h"

namespace headrace::s3 {

// Run by the shell, with the process's own standard error and no input. kData: it failed, printed more than 64 KiB, or
// did not end in time, and was killed. Errors do not show the command, which may hold secrets.
absl::StatusOr<std::string> OutputOfCommand(const std::string& command,
                                            std::chrono::milliseconds limit = std::chrono::minutes(1));

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_PROCESS_OUTPUT_H_
