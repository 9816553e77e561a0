#include "io/formats/arrow/arrow_batch.h"

#include "core/error.h"

namespace headrace {

absl::StatusOr<ArrowBatch> ArrowBatch::Of(const ArrowMapping& mapping, const HeldArrow& array, uint64_t first_row,
                                          const ArrowBatch* before) {
  if (array == nullptr || array->release == nullptr)
    return DataError("the Arrow array was released before it was read");
  const int64_t children = mapping.root_children();
  if (children >= 0 && array->n_children != children) {
    return DataError("the Arrow array has ", array->n_children, " columns, and its schema ", children);
  }
  if (array->length < 0 || array->length > kMostArrowElements) {
    return DataError("the Arrow array is damaged: it has the length ", array->length);
  }
  ArrowBatch batch;
  batch.rows_ = array->length;
  const std::vector<ArrowColumn>& columns = mapping.columns();
  for (size_t i = 0; i < columns.size(); ++i) {
    HEADRACE_ASSIGN_OR_RETURN(ArrowRows rows, ArrowRows::Of(columns[i], array, first_row,
                                                            before == nullptr ? nullptr : &before->columns_[i]));
    batch.columns_.push_back(std::move(rows));
  }
  return batch;
}

}  // namespace headrace
