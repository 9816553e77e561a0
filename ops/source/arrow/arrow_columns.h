// `AddArrowColumns` makes the columns of a block from rows of Arrow batches, whole columns at once: rows side by side
// are views, others of a fixed size are copied into one buffer. Use it in sources of Arrow's columns, whatever holds
// them. Threads: a pure function; files that rows name are read on the calling thread.
#ifndef HEADRACE_OPS_SOURCE_ARROW_ARROW_COLUMNS_H_
#define HEADRACE_OPS_SOURCE_ARROW_ARROW_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/operator/block.h"
#include "io/files/file_system.h"
#include "io/formats/arrow/arrow_batch.h"
#include "io/formats/arrow/arrow_mapping.h"
#include "ir/type.h"

namespace headrace {

struct ArrowPlace {
  const ArrowBatch* batch = nullptr;
  int64_t row = 0;
};

// The files that rows name in place of their bytes.
struct ArrowFiles {
  const FileSystem* files = nullptr;
  std::string root;  // of relative paths; empty: the current folder
};

// Adds columns to a block that has none. Returns how many of the rows, at least one, they have: fewer if the next one
// fails, for the reason in `wrong`; the block has no columns if it is the first.
size_t AddArrowColumns(const ArrowMapping& mapping, absl::Span<const ArrowPlace> places, const ArrowFiles& files,
                       Block& block, absl::Status& wrong);

// The columns as the graph has them.
ir::Schema SchemaOfArrow(const ArrowMapping& mapping);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_ARROW_ARROW_COLUMNS_H_
