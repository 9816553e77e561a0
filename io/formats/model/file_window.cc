#include "io/formats/model/file_window.h"

#include <algorithm>
#include <cstddef>

#include "core/error.h"
#include "io/files/file_bytes.h"

namespace headrace {

absl::StatusOr<std::string_view> FileWindow::From(int64_t at, int64_t wanted) {
  const int64_t needed = std::min({wanted, kBytes, size_ - at});
  const bool held = at >= begin_ && at + needed <= begin_ + static_cast<int64_t>(bytes_.size());
  if (!held) {
    HEADRACE_ASSIGN_OR_RETURN(bytes_, ReadFileBytes(file_, at, std::min(kBytes, size_ - at)));
    begin_ = at;
  }
  return std::string_view(bytes_).substr(static_cast<size_t>(at - begin_));
}

absl::StatusOr<std::string> FileWindow::Read(int64_t begin, int64_t bytes) {
  if (bytes > kBytes) return ReadFileBytes(file_, begin, bytes);
  HEADRACE_ASSIGN_OR_RETURN(const std::string_view found, From(begin, bytes));
  return std::string(found.substr(0, static_cast<size_t>(bytes)));
}

}  // namespace headrace
