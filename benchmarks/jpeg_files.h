// `JpegFiles` finds a folder's JPEGs, in folders or not, and `ReadFile` reads one with one call.
// Threads: safe from any thread.
#ifndef HEADRACE_BENCHMARKS_JPEG_FILES_H_
#define HEADRACE_BENCHMARKS_JPEG_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace headrace {

// Sorted by their paths.
absl::StatusOr<std::vector<std::string>> JpegFiles(const std::string& folder);

bool ReadFile(const std::string& path, std::vector<char>& bytes);

}  // namespace headrace

#endif  // HEADRACE_BENCHMARKS_JPEG_FILES_H_
