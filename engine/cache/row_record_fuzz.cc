// Any bytes as the record of a row, as from a cache folder: refused, or a row whose every byte is there.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/testing/require.h"
#include "engine/cache/row_record.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using headrace::Tensor;
  // A copy of its own, as small as it is, so that AddressSanitizer sees a look beyond it.
  const std::vector<uint8_t> bytes(data, data + size);
  const auto row = headrace::ReadRecord(bytes, [](size_t) { return headrace::BufferPool::Global().Allocate(1); });
  if (!row.ok()) return 0;
  std::vector<uint8_t> written(headrace::RecordBytes(*row));
  headrace::WriteRecord(*row, written.data());
  const auto again = headrace::ReadRecord(written, [](size_t) { return headrace::BufferPool::Global().Allocate(1); });
  headrace::Require(again.ok() && again->size() == row->size(), "a row that was read is written and read again");
  for (size_t i = 0; i < row->size(); ++i) {
    const Tensor& tensor = (*row)[i];
    // What is no number equals nothing, itself included: bytes are compared.
    headrace::Require(tensor.TypeName() == (*again)[i].TypeName() && tensor.bytes() == (*again)[i].bytes(),
                      "its tensors are the same");
  }
  return 0;
}
