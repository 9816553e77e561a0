// Fuzzes messages of caches in order: any record of a cache folder is refused, or is a message that is written and read
// again.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/testing/require.h"
#include "engine/cache/row_record.h"
#include "ops/cache/stored_message.h"

namespace headrace {
namespace {

constexpr size_t kCounters = 2;

const ir::Schema& TheSchema() {
  static const auto* const schema = new ir::Schema{{{"value", ir::ColumnType::Of(DType::kInt64, {})},
                                                    {"name", ir::ColumnType::Of(DType::kString, {ir::kUnknownDim})}}};
  return *schema;
}

Message Read(std::vector<Tensor> tensors) {
  return ReadMessage(std::move(tensors), TheSchema(), kCounters, /*epoch=*/9, /*row_epoch=*/3);
}

}  // namespace
}  // namespace headrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using headrace::Require;
  // A copy of its own, as small as it is, so that AddressSanitizer sees a look beyond it.
  const std::vector<uint8_t> bytes(data, data + size);
  auto tensors = headrace::ReadRecord(bytes, [](size_t) { return headrace::BufferPool::Global().Allocate(1); });
  if (!tensors.ok()) return 0;
  const headrace::Message message = headrace::Read(*std::move(tensors));
  if (message == nullptr) return 0;
  const auto written = headrace::WriteMessage(*message);
  Require(written.ok(), "a message that was read is written");
  const headrace::Message again = headrace::Read(*written);
  Require(again != nullptr, "and is a message");
  Require(again->rows() == message->rows() && again->checkpoint == message->checkpoint && again->ids == message->ids,
          "of the same rows");
  Require(again->tombstone() == message->tombstone() && again->continues == message->continues &&
              (again->removed == nullptr) == (message->removed == nullptr),
          "of which the same failed");
  return 0;
}
