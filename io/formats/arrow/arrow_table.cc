#include "io/formats/arrow/arrow_table.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/hash.h"

namespace headrace {

absl::StatusOr<std::shared_ptr<const ArrowTable>> ArrowTable::Of(ArrowMapping mapping,
                                                                 const std::vector<HeldArrow>& arrays) {
  std::shared_ptr<ArrowTable> table(new ArrowTable(std::move(mapping)));
  HEADRACE_RETURN_IF_ERROR(table->AddBatches(arrays));
  table->FindAxes();
  return table;
}

absl::Status ArrowTable::AddBatches(const std::vector<HeldArrow>& arrays) {
  batches_.reserve(arrays.size());
  for (const HeldArrow& array : arrays) {
    // Its dictionary may be empty, too.
    if (array->length == 0) continue;
    if (mapping_.lacks_classes()) HEADRACE_RETURN_IF_ERROR(mapping_.AdoptDictionaries(*array));
    const ArrowBatch* const before = batches_.empty() ? nullptr : &batches_.back();
    HEADRACE_ASSIGN_OR_RETURN(ArrowBatch batch, ArrowBatch::Of(mapping_, array, begins_.back(), before));
    for (size_t i = 0; i < mapping_.columns().size(); ++i) HEADRACE_RETURN_IF_ERROR(batch.column(i).CheckMissing());
    begins_.push_back(begins_.back() + static_cast<uint64_t>(batch.rows()));
    batches_.push_back(std::move(batch));
  }
  return absl::OkStatus();
}

// Lists in lists that all have one length are an axis of that length.
void ArrowTable::FindAxes() {
  for (size_t i = 0; i < mapping_.columns().size(); ++i) {
    const Shape declared = mapping_.columns()[i].shape;
    Shape seen = declared;
    for (size_t axis = 1; axis < seen.size(); ++axis) {
      if (seen[axis] == ArrowColumn::kAnyLength) seen[axis] = ArrowRows::kNotSeen;
    }
    if (seen == declared) continue;
    for (const ArrowBatch& batch : batches_) batch.column(i).CompareLengths(seen);
    for (int64_t& axis : seen) axis = axis == ArrowRows::kNotSeen ? ArrowColumn::kAnyLength : axis;
    mapping_.SetShape(i, seen);
  }
}

ArrowTable::Place ArrowTable::Find(uint64_t row) const {
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), row);
  const auto number = static_cast<size_t>(after - begins_.begin()) - 1;
  return {&batches_[number], static_cast<int64_t>(row - begins_[number]), static_cast<int64_t>(*after - row)};
}

uint64_t ArrowTable::Hash() const {
  uint64_t hash = 0;
  for (size_t i = 0; i < mapping_.columns().size(); ++i) {
    const ArrowColumn& column = mapping_.columns()[i];
    hash = HashBytes(Cat(column.name, " ", DTypeName(column.dtype), " ", ShapeName(column.shape)), hash);
    for (const ArrowBatch& batch : batches_) hash = batch.column(i).Hash(hash);
  }
  return hash;
}

}  // namespace headrace
