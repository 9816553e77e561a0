// `ArrowMetadata` reads the key-value metadata of an Arrow schema, which C structs hold as one block of bytes.
// Threads: a pure function.
#ifndef HEADRACE_IO_FORMATS_ARROW_ARROW_METADATA_H_
#define HEADRACE_IO_FORMATS_ARROW_ARROW_METADATA_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace headrace {

// `metadata` may be null: there is none. The block does not say how long it is: what its lengths say is read, up to
// kMostArrowMetadata bytes in all. kData for lengths that cannot be.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ArrowMetadata(const char* metadata);

inline constexpr int64_t kMostArrowMetadata = int64_t{256} << 20;

// The block of such metadata.
std::string ArrowMetadataBytes(const std::vector<std::pair<std::string, std::string>>& entries);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_ARROW_ARROW_METADATA_H_
