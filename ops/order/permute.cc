#include "ops/order/permute.h"

#include <memory>

#include "ops/order/epoch_permutations.h"
#include "ops/order/ordered_source.h"

namespace headrace {
namespace {

class RandomOrder : public RowOrder {
 public:
  RandomOrder(uint64_t size, const OpArguments& arguments)
      : size_(size), permutations_(size, arguments.seed, arguments.salt) {}

  uint64_t size() const override { return size_; }
  void Find(uint64_t epoch, absl::Span<uint64_t> positions, absl::Span<uint64_t> /*occurrences*/) const override {
    permutations_.Find(epoch, positions);
  }

 private:
  const uint64_t size_;
  const EpochPermutations permutations_;
};

const OpRegistration permute_registration(
    {
        .name = "permute",
        .role = ir::Role::kStream,
        .summary = "Gives the rows of a source with random access in a random order.",
        .doc = "It stands for the attribute `shuffle` of the source below it. Each epoch has a new order, and all "
               "orders are equally likely. Rows keep their keys.",
        .traits = {.random = true, .indexed = true, .light = true, .reorders = true, .stands_for_attribute = true},
        .python_module = "internal",
        .example = "hr.Range(10, shuffle=True)",
        .infer = ir::PassesSchema(),
        .reads = ir::PassesColumns(),
        .most_rows = ir::NoMoreRows(),
    },
    OrderFactories(
        [](const OpArguments& arguments, uint64_t rows) -> absl::StatusOr<std::unique_ptr<RowOrder>> {
          return std::make_unique<RandomOrder>(rows, arguments);
        },
        {.new_each_epoch = true}));

}  // namespace

ir::Attribute DeclareShuffle() {
  return {.name = "shuffle",
          .type = ir::AttributeType::kBool,
          .doc = "Shuffle the rows: each epoch has a new order, and all orders are equally likely.",
          .default_value = "False",
          .puts_above = "permute"};
}

}  // namespace headrace
