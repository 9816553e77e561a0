#include "engine/operator/operator.h"

#include <utility>

#include "absl/container/inlined_vector.h"

namespace headrace {

absl::Status IndexedSource::ReadRows(const RowPositions& wanted, Block& block) const {
  for (size_t i = 0; i < wanted.positions.size(); ++i) {
    Block row;
    HEADRACE_RETURN_IF_ERROR(Read({wanted.epoch, wanted.positions[i], wanted.occurrence_key(i)}, row));
    absl::InlinedVector<Tensor, 2> columns;
    for (BlockColumn& column : row.columns) columns.push_back(column.TakeRow(0));
    AppendRow(block, row.ids[0], row.provenances[0], columns);
  }
  return absl::OkStatus();
}

void RowOperator::Split(Message message, const Checkpoint& /*before*/, std::vector<Message>& parts) const {
  parts.push_back(std::move(message));
}

}  // namespace headrace
