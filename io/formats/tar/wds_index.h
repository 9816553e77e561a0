// `ParseWdsIndex` reads the index that DALI's wds2idx makes of a WebDataset archive, as the samples that it names: a
// line "v1.2 <samples>", then one a sample, with "extension offset size name" for each of its members; in v1.1 without
// names.
// Threads: a pure function.
#ifndef HEADRACE_IO_FORMATS_TAR_WDS_INDEX_H_
#define HEADRACE_IO_FORMATS_TAR_WDS_INDEX_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "io/formats/item_table.h"

namespace headrace {

// Of an archive of `size` bytes; a sample begins where the one before it ends, so that it has all headers of its
// members. kData, naming `path` and the line: it is not such an index, or not that of such an archive.
absl::StatusOr<ItemSpans> ParseWdsIndex(std::string_view text, std::string_view path, int64_t size);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TAR_WDS_INDEX_H_
