// The tensors of a row as one run of bytes, to be kept and to be made tensors again. Each tensor begins at a multiple
// of kBufferAlignment. Pure functions.
#ifndef HEADRACE_ENGINE_CACHE_ROW_RECORD_H_
#define HEADRACE_ENGINE_CACHE_ROW_RECORD_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/tensor.h"

namespace headrace {

size_t RecordBytes(absl::Span<const Tensor> row);
// `target` has RecordBytes(row) bytes.
void WriteRecord(absl::Span<const Tensor> row, uint8_t* target);
// The tensors view `record`, but for arrays of byte strings, which are copied; `hold` makes the reference that keeps it
// alive, one a tensor. kData where the bytes are no record.
absl::StatusOr<std::vector<Tensor>> ReadRecord(absl::Span<const uint8_t> record,
                                               const std::function<BufferRef(size_t bytes)>& hold);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_CACHE_ROW_RECORD_H_
