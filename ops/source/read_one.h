// `ReadOne` implements IndexedSource::Read by ReadRows of one row. Use it in sources that make the columns of many rows
// at once.
// Threads: a pure function.
#ifndef HEADRACE_OPS_SOURCE_READ_ONE_H_
#define HEADRACE_OPS_SOURCE_READ_ONE_H_

#include "core/error.h"
#include "engine/operator/operator.h"

namespace headrace {

inline absl::Status ReadOne(const IndexedSource& source, const RowPosition& wanted, Block& block) {
  const RowPositions of_one{wanted.epoch, {&wanted.position, 1}};
  if (block.columns.empty()) return source.ReadRows(of_one, block);
  Block row;
  HEADRACE_RETURN_IF_ERROR(source.ReadRows(of_one, row));
  absl::InlinedVector<Tensor, 2> values;
  for (BlockColumn& column : row.columns) values.push_back(column.TakeRow(0));
  AppendRow(block, row.ids[0], row.provenances[0], values);
  return absl::OkStatus();
}

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_READ_ONE_H_
