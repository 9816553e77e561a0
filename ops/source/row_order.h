// The order in which an indexed source gives its rows: as they are, or by a keyed permutation that is another one
// each epoch and takes no memory. A value; safe from any thread.
#ifndef HEADRACE_OPS_SOURCE_ROW_ORDER_H_
#define HEADRACE_OPS_SOURCE_ROW_ORDER_H_

#include <cstdint>

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
