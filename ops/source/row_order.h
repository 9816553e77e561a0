// The order in which an indexed source gives its rows: as they are, or by a keyed permutation that is another one
// each epoch and takes no memory. A value; safe from any thread.
#ifndef HEADRACE_OPS_SOURCE_ROW_ORDER_H_
#define HEADRACE_OPS_SOURCE_ROW_ORDER_H_

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "engine/operator.h"
#include "ops/source/permutation.h"

namespace headrace {

class RowOrder {
 public:
  RowOrder(uint64_t size, bool shuffle, uint64_t seed, uint64_t salt)
      : size_(size), shuffle_(shuffle), seed_(seed), salt_(salt) {}
  // Of an op with the attribute `shuffle`.
  RowOrder(uint64_t size, const OpArguments& arguments)
      : RowOrder(size, arguments.attributes.Bool("shuffle"), arguments.seed, arguments.salt) {}

  uint64_t IndexAt(uint64_t epoch, uint64_t position) const {
    return shuffle_ ? KeyedPermutation(size_, seed_, salt_, epoch).At(position) : position;
  }

  // Of the positions `position`, `position` + `step`, …
  using Indices = absl::InlinedVector<uint64_t, 256>;
  Indices IndicesAt(uint64_t epoch, uint64_t position, uint64_t step, int count) const {
    Indices indices(static_cast<size_t>(count));
    std::optional<KeyedPermutation> permutation;
    if (shuffle_) permutation.emplace(size_, seed_, salt_, epoch);
    for (uint64_t& index : indices) {
      index = permutation.has_value() ? permutation->At(position) : position;
      position += step;
    }
    return indices;
  }
  bool in_order() const { return !shuffle_; }

  // The declaration of `shuffle`, the same for every indexed source.
  static ir::Attribute Declare() {
    return {.name = "shuffle",
            .type = ir::AttributeType::kBool,
            .doc = "Give the rows in an order drawn anew each epoch; takes no memory.",
            .default_value = "False"};
  }

 private:
  uint64_t size_;
  bool shuffle_;
  uint64_t seed_;
  uint64_t salt_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_ROW_ORDER_H_
