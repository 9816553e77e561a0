// `ItemColumns` makes the columns of a source from the items that it has random access to, or from the records of a
// stream.
// Threads: const; any thread.
#ifndef HEADRACE_OPS_SOURCE_ITEM_COLUMNS_H_
#define HEADRACE_OPS_SOURCE_ITEM_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/buffer.h"
#include "core/error.h"
#include "core/tensor.h"
#include "engine/operator/block.h"

namespace headrace {

// Views.
struct Item {
  uint64_t number = 0;  // in the whole source; of a record of a stream: 0
  const std::string* path = nullptr;
  const BufferRef* buffer = nullptr;  // holds `bytes`
  std::string_view bytes;             // empty if no column needs them
  // The part of the buffer that a view of the item keeps in memory for its sake alone, in bytes, where the rest is in
  // use by the items around it; 0: all of it.
  size_t share = 0;
};

class ItemColumns {
 public:
  virtual ~ItemColumns() = default;
  // Whether the column is made of the item's bytes, so that it must be read. `field` is its number among all columns of
  // the source (ops/source/column_choice.h).
  virtual bool NeedsBytes(int field) const = 0;
  // The error of the item's row, if the item is not what it should be.
  virtual absl::Status Check(const Item& /*item*/) const { return absl::OkStatus(); }
  // One column of at least one item, all of which are good.
  virtual absl::StatusOr<BlockColumn> Make(int field, absl::Span<const Item> items) const = 0;
};

// The bytes of the items, or `part` of them: views of the memory that they were read into, where it would not be kept
// for the sake of a small part of it.
using PartOfItem = std::string_view (*)(std::string_view bytes);
absl::StatusOr<BlockColumn> BytesColumn(absl::Span<const Item> items, PartOfItem part = nullptr);
absl::StatusOr<BlockColumn> PathColumn(absl::Span<const Item> items);

// Numbers of shape (), value_of(item) for each item.
template <typename T, typename ValueOf>
absl::StatusOr<BlockColumn> NumberColumn(absl::Span<const Item> items, ValueOf value_of) {
  if (items.size() == 1) {
    HEADRACE_ASSIGN_OR_RETURN(Tensor value, Tensor::Scalar<T>(value_of(items[0])));
    return BlockColumn(std::move(value));
  }
  HEADRACE_ASSIGN_OR_RETURN(Tensor values, Tensor::Allocate(DTypeOf<T>::value, {static_cast<int64_t>(items.size())}));
  for (size_t i = 0; i < items.size(); ++i) values.mutable_data<T>()[i] = value_of(items[i]);
  return BlockColumn::Stacked(std::move(values));
}

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_ITEM_COLUMNS_H_
