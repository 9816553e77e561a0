// `NameRows` sets identities and provenances of rows that are identified by their index alone.
// Threads: a pure function.
#ifndef HEADRACE_OPS_SOURCE_MEMORY_NAME_ROWS_H_
#define HEADRACE_OPS_SOURCE_MEMORY_NAME_ROWS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "engine/operator/block.h"

namespace headrace {

// The block has no rows yet.
inline void NameRows(absl::Span<const uint64_t> indices, uint64_t epoch, Block& block) {
  AppendMade(block.ids, indices.size(), [=](size_t i) { return RowId{epoch, indices[i]}; });
  block.provenances.AppendRecords(indices);
}

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_MEMORY_NAME_ROWS_H_
