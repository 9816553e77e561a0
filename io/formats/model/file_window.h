// `FileWindow` reads short parts of a file that lie near each other.
// Threads: one thread at a time.
#ifndef HEADRACE_IO_FORMATS_MODEL_FILE_WINDOW_H_
#define HEADRACE_IO_FORMATS_MODEL_FILE_WINDOW_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"

namespace headrace {

class FileWindow {
 public:
  // What is read at a time.
  static constexpr int64_t kBytes = 4096;

  FileWindow(const RandomAccessFile& file, int64_t size) : file_(file), size_(size) {}

  // The next bytes from `at` on, which is within the file: `wanted` of them, at most kBytes, or more, or all that there
  // are. Valid until the next call.
  absl::StatusOr<std::string_view> From(int64_t at, int64_t wanted);
  absl::StatusOr<std::string> Read(int64_t begin, int64_t bytes);

 private:
  const RandomAccessFile& file_;
  const int64_t size_;
  int64_t begin_ = 0;
  std::string bytes_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MODEL_FILE_WINDOW_H_
