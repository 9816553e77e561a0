// `ReadFileBytes` reads a part of a file that must be there, such as a header whose length is known.
// Threads: any thread.
#ifndef HEADRACE_IO_FILES_FILE_BYTES_H_
#define HEADRACE_IO_FILES_FILE_BYTES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"

namespace headrace {

// kData: the file is shorter.
absl::StatusOr<std::string> ReadFileBytes(const RandomAccessFile& file, int64_t begin, int64_t bytes);

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_FILE_BYTES_H_
