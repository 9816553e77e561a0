// `WriteRecord` and `ReadRecord` convert the tensors of a row to one record of bytes and back. Each tensor begins at a
// multiple of kBufferAlignment.
// Threads: pure functions.
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
// The tensors are views of `record`, except for arrays of byte strings, which are copied; `hold` makes a reference that
// keeps it alive, for each tensor. kData if the bytes are no record.
absl::StatusOr<std::vector<Tensor>> ReadRecord(absl::Span<const uint8_t> record,
                                               const std::function<BufferRef(size_t bytes)>& hold);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_CACHE_ROW_RECORD_H_
