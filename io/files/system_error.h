// `SystemError` turns an error number of the system into an error for the user who named the path.
// Threads: pure functions, but for what is looked up of a missing path.
#ifndef HEADRACE_IO_FILES_SYSTEM_ERROR_H_
#define HEADRACE_IO_FILES_SYSTEM_ERROR_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "io/files/file_system.h"

namespace headrace {

// `verb` as in "read" or "list".
absl::Status SystemError(const FileSystem& files, const std::string& path, std::string_view verb, int error);

// "No space left on device".
std::string SystemMessage(int error);

// kUnsupported, where a path that is read names neither a file nor a folder.
absl::Status NotARegularFileError(const std::string& path);

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_SYSTEM_ERROR_H_
