#include <memory>
#include <optional>

#include "core/error.h"
#include "core/text.h"
#include "engine/operator/operator.h"
#include "ops/order/permute.h"
#include "ops/source/memory/name_rows.h"

namespace headrace {
namespace {

struct Bounds {
  int64_t start;
  int64_t stop;
  int64_t step;

  static Bounds Of(const ir::Attributes& attributes) {
    return {attributes.Int("start"), attributes.Int("stop"), attributes.Int("step")};
  }
  // As Python's len(range(start, stop, step)); unsigned, because the span may exceed int64.
  uint64_t size() const {
    if (step > 0) return stop <= start ? 0 : (Distance(start, stop) - 1) / static_cast<uint64_t>(step) + 1;
    return stop >= start ? 0 : (Distance(stop, start) - 1) / (uint64_t{0} - static_cast<uint64_t>(step)) + 1;
  }

 private:
  static uint64_t Distance(int64_t low, int64_t high) {
    return static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  }
};

class RangeSource : public IndexedSource {
 public:
  explicit RangeSource(const OpArguments& arguments) : bounds_(Bounds::Of(arguments.attributes)) {}

  uint64_t size() const override { return bounds_.size(); }

  absl::Status Read(const RowPosition& wanted, Block& block) const override {
    const uint64_t index = wanted.position;
    const uint64_t value = static_cast<uint64_t>(bounds_.start) + index * static_cast<uint64_t>(bounds_.step);
    HEADRACE_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Scalar(static_cast<int64_t>(value)));
    block.ids.push_back({wanted.epoch, index});
    block.provenances.push_back({nullptr, static_cast<int64_t>(index), -1});
    block.columns.emplace_back(std::move(tensor));
    return absl::OkStatus();
  }

  absl::Status ReadRows(const RowPositions& wanted, Block& block) const override {
    const absl::Span<const uint64_t> indices = wanted.positions;
    const auto count = static_cast<int64_t>(indices.size());
    HEADRACE_ASSIGN_OR_RETURN(Tensor values, Tensor::Allocate(DType::kInt64, {count}));
    int64_t* const value = values.mutable_data<int64_t>();
    NameRows(indices, wanted.epoch, block);
    for (size_t i = 0; i < indices.size(); ++i) {
      value[i] =
          static_cast<int64_t>(static_cast<uint64_t>(bounds_.start) + indices[i] * static_cast<uint64_t>(bounds_.step));
    }
    block.columns.push_back(BlockColumn::Stacked(std::move(values)));
    return absl::OkStatus();
  }

  void Identify(uint64_t epoch, uint64_t index, RowId& id, Provenance& provenance) const override {
    id = {epoch, index};
    provenance = {nullptr, static_cast<int64_t>(index), -1};
  }

  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override {
    fingerprints.push_back({"Range", bounds_.size(), 0});
  }

 private:
  const Bounds bounds_;
};

absl::StatusOr<ir::Schema> InferRange(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  if (attributes.Int("step") == 0) return GraphError("step is 0; it must be positive or negative");
  return ir::Schema{{{"value", ir::ColumnType::Of(DType::kInt64, {})}}};
}

const OpRegistration range_registration(
    {
        .name = "Range",
        .version = 2,
        .role = ir::Role::kSource,
        .summary = "Gives the whole numbers from start to stop, as Python's range.",
        .doc = "Column `value`: int64, shape (). A row's key is its index.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = {{.name = "start", .doc = "The first value.", .default_value = "0"},
                       {.name = "stop", .doc = "The first value left out."},
                       {.name = "step", .doc = "The difference of consecutive values; not 0.", .default_value = "1"},
                       DeclareShuffle()},
        .traits = {.indexed = true},
        .python =
            {.parameters = "start: int, stop: int | None = None, step: int = 1, *, shuffle: bool = False, seed: int | "
                           "None = None, name: str | None = None",
             .docs =
                 {{"start",
                   "The first value; if it is the only argument, the end, which is left out, as in Python's range."},
                  {"stop"},
                  {"step"},
                  {"shuffle"},
                  {"seed"},
                  {"name"}}},
        .example = "hr.Range(10)",
        .infer = InferRange,
        .most_rows = [](const ir::Attributes& attributes, absl::Span<const std::optional<uint64_t>>)
            -> std::optional<uint64_t> { return Bounds::Of(attributes).size(); },
    },
    {.indexed_source = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<IndexedSource>> {
      return std::make_unique<RangeSource>(arguments);
    }});

}  // namespace
}  // namespace headrace
