// `EndWithError` ends a block before a row that failed, under every policy. Use it in operators of which later rows
// depend on that row; elsewhere Block::Fail lets the row alone be left out.
// Threads: on the thread that owns the block.
#ifndef HEADRACE_OPS_FLOW_END_WITH_ERROR_H_
#define HEADRACE_OPS_FLOW_END_WITH_ERROR_H_

#include <utility>

#include "absl/status/status.h"
#include "core/error.h"
#include "core/row_id.h"
#include "engine/operator/block.h"

namespace headrace {

inline void EndWithError(Block& block, int row, absl::Status error) {
  AddErrorField(error, ErrorField::kFile, DescribeProvenance(block.provenances[static_cast<size_t>(row)]));
  AddErrorField(error, ErrorField::kRow, DescribeRowId(block.ids[static_cast<size_t>(row)]));
  block.Truncate(row);
  block.end = End::kError;
  block.error = std::move(error);
  block.continues = false;
}

}  // namespace headrace

#endif  // HEADRACE_OPS_FLOW_END_WITH_ERROR_H_
