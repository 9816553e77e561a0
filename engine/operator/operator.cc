#include "engine/operator/operator.h"

#include <utility>

#include "absl/container/inlined_vector.h"

namespace headrace {

absl::Status IndexedSource::ReadRows(uint64_t epoch, uint64_t position, uint64_t step, int count, Block& block) const {
  for (int i = 0; i < count; ++i) {
    Block row;
    HEADRACE_RETURN_IF_ERROR(Read(epoch, position + static_cast<uint64_t>(i) * step, row));
    absl::InlinedVector<Tensor, 2> columns;
    for (BlockColumn& column : row.columns) columns.push_back(column.TakeRow(0));
    AppendRow(block, row.ids[0], std::move(row.provenances[0]), columns);
  }
  return absl::OkStatus();
}

void RowOperator::Split(Message message, const Checkpoint& /*before*/, std::vector<Message>& parts) const {
  parts.push_back(std::move(message));
}

}  // namespace headrace
