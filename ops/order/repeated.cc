#include <memory>
#include <optional>

#include "core/error.h"
#include "ops/order/ordered_source.h"

namespace headrace {
namespace {

class InSuccession : public RowOrder {
 public:
  static absl::StatusOr<std::unique_ptr<RowOrder>> Of(uint64_t rows, uint64_t times) {
    auto order = std::make_unique<InSuccession>(times);
    HEADRACE_RETURN_IF_ERROR(order->Begin(0, rows).status());
    return order;
  }
  explicit InSuccession(uint64_t times) : times_(times) {}

  uint64_t size() const override { return size_; }
  absl::StatusOr<BegunEpoch> Begin(uint64_t /*epoch*/, uint64_t input_rows) override {
    if (!__builtin_mul_overflow(input_rows, times_, &size_)) return BegunEpoch{size_, 0};
    return UnsupportedError("gives ", input_rows, " rows ", times_, " times, which are more than 64 bits can count");
  }
  bool recurs() const override { return true; }
  void Find(uint64_t /*epoch*/, absl::Span<uint64_t> positions, absl::Span<uint64_t> occurrences) const override {
    for (size_t i = 0; i < positions.size(); ++i) {
      occurrences[i] = positions[i] % times_;
      positions[i] /= times_;
    }
  }

 private:
  const uint64_t times_;
  uint64_t size_ = 0;
};

absl::StatusOr<std::unique_ptr<RowOrder>> MakeRepeated(const OpArguments& arguments, uint64_t rows) {
  return InSuccession::Of(rows, static_cast<uint64_t>(arguments.attributes.Int("times")));
}

std::optional<uint64_t> MostRowsRepeated(const ir::Attributes& attributes,
                                         absl::Span<const std::optional<uint64_t>> inputs) {
  uint64_t rows = 0;
  if (!inputs[0].has_value()) return std::nullopt;
  if (__builtin_mul_overflow(*inputs[0], static_cast<uint64_t>(attributes.Int("times")), &rows)) return std::nullopt;
  return rows;
}

const OpRegistration repeated_registration(
    {
        .name = "Repeated",
        .version = 2,
        .role = ir::Role::kStream,
        .summary = "Gives each row several times in succession, drawn anew each time.",
        .doc =
            "Rows keep the order that they come in, shuffled or not. A row has other random numbers each time, so "
            "augmentations above differ: repeated augmentation (Hoffer et al., \"Augment your batch\", 2020). With "
            "shards, the repetitions of a row go to different ranks. torchvision's RASampler over N rows is "
            ".sample(hr.Repeated(3)).take(N // 256 * 256). Above maps it repeats the rows that come to them, so that "
            "these draw anew, too.",
        .attributes = {{.name = "times", .doc = "How often each row comes.", .minimum = 1, .maximum = 1 << 30}},
        .traits = {.indexed = true, .light = true, .repeats = true},
        .python_module = "samplers",
        .example = "ds.sample(hr.Repeated(3))",
        .infer = ir::PassesSchema(),
        .reads = ir::PassesColumns(),
        .most_rows = MostRowsRepeated,
    },
    OrderFactories(MakeRepeated, {.of_any_size = true}));

}  // namespace
}  // namespace headrace
