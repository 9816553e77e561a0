// `CreateLocalOutput` and `ResumeLocalOutput` write files of this machine: LocalFileSystem's Create and Resume. The
// bytes go to a draft beside the file (io/files/opened_file.h), which is renamed. Threads: any thread; a stream belongs
// to one thread at a time.
#ifndef HEADRACE_IO_FILES_LOCAL_OUTPUT_H_
#define HEADRACE_IO_FILES_LOCAL_OUTPUT_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/files/output_stream.h"

namespace headrace {

// `files` explains errors, and outlives the stream.
absl::StatusOr<std::unique_ptr<OutputStream>> CreateLocalOutput(const FileSystem& files, const std::string& path,
                                                                const OutputOptions& options);

absl::StatusOr<std::unique_ptr<OutputStream>> ResumeLocalOutput(const FileSystem& files, const std::string& path,
                                                                const OutputOptions& options, int64_t bytes);

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_LOCAL_OUTPUT_H_
