#include "io/files/file_bytes.h"

#include <cstddef>

#include "absl/types/span.h"
#include "core/error.h"

namespace headrace {

absl::StatusOr<std::string> ReadFileBytes(const RandomAccessFile& file, int64_t begin, int64_t bytes) {
  std::string text(static_cast<size_t>(bytes), '\0');
  const absl::Span<uint8_t> target(reinterpret_cast<uint8_t*>(text.data()), text.size());
  HEADRACE_ASSIGN_OR_RETURN(const int64_t got, file.ReadAt(begin, target));
  if (got == bytes) return text;
  return DataError("the file was cut off while it was read, at byte ", begin + got);
}

}  // namespace headrace
