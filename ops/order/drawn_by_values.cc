#include "ops/order/drawn_by_values.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/stop_signal.h"
#include "ops/order/epoch_table.h"
#include "ops/order/values_by_number.h"

namespace headrace {
namespace {

// The values of all rows are kept beside those of an epoch.
DrawnSize WithValues(DrawnSize size, uint64_t values) {
  size.input_rows += values;
  return size;
}

template <typename Value>
class FollowingOrder : public RowOrder {
 public:
  // `size`: of the run's first epoch. The input outlives it.
  FollowingOrder(const IndexedSource* input, std::vector<Value> values, DrawnByValues<Value> drawn,
                 const DrawnSize& size)
      : input_(input), values_(std::move(values)), drawn_(std::move(drawn)), size_(size) {}

  uint64_t size() const override { return size_.positions; }
  bool begins() const override { return true; }
  bool recurs() const override { return true; }
  uint64_t run_length() const override { return size_.run_length; }

  absl::StatusOr<BegunEpoch> Begin(uint64_t epoch, uint64_t input_rows) override {
    if (input_rows == 0) return GraphError("its input has no rows to draw from");
    HEADRACE_ASSIGN_OR_RETURN(size_, drawn_.size(input_rows));
    HEADRACE_RETURN_IF_ERROR(CheckOrderFits(WithValues(size_, values_.size())));
    HEADRACE_ASSIGN_OR_RETURN(const std::vector<Value> values, ValuesOf(epoch));
    HEADRACE_ASSIGN_OR_RETURN(const DrawRows draw, drawn_.draws(values, size_));
    std::vector<uint32_t> rows(size_.positions);
    draw(epoch, absl::MakeSpan(rows));
    if (StopSignal::Raised()) return StopSignal::Error();
    table_.reset();
    table_ = std::make_unique<EpochTable>(std::move(rows), input_rows);
    return BegunEpoch{size_.positions, 0};
  }

  void Find(uint64_t /*epoch*/, absl::Span<uint64_t> positions, absl::Span<uint64_t> occurrences) const override {
    table_->Find(positions, occurrences);
  }

 private:
  absl::StatusOr<std::vector<Value>> ValuesOf(uint64_t epoch) const {
    constexpr uint64_t kAtOnce = 4096;
    std::vector<Value> values;
    values.reserve(size_.input_rows);
    std::vector<uint64_t> numbers;
    while (values.size() < size_.input_rows) {
      if (StopSignal::Raised()) return StopSignal::Error();
      numbers.resize(std::min<uint64_t>(kAtOnce, size_.input_rows - values.size()));
      std::iota(numbers.begin(), numbers.end(), values.size());
      input_->FindNumbers(epoch, absl::MakeSpan(numbers));
      for (const uint64_t number : numbers) {
        if (number >= values_.size()) {
          return GraphError("takes a value for each row of the source, but there are ", values_.size(),
                            " and the input gives row ", number);
        }
        values.push_back(values_[number]);
      }
    }
    return values;
  }

  const IndexedSource* const input_;
  const std::vector<Value> values_;  // by number
  const DrawnByValues<Value> drawn_;
  DrawnSize size_;                           // of the epoch begun last
  std::unique_ptr<const EpochTable> table_;  // likewise
};

}  // namespace

template <typename Value>
absl::StatusOr<std::unique_ptr<RowOrder>> MakeOrderByValues(const OpArguments& arguments, const IndexedSource& input,
                                                            std::vector<Value> values, DrawnByValues<Value> drawn) {
  HEADRACE_ASSIGN_OR_RETURN(const DrawnSize size, drawn.size(input.size()));
  if (FollowsRows(arguments)) {
    HEADRACE_RETURN_IF_ERROR(CheckOrderFits(WithValues(size, values.size())));
    return std::make_unique<FollowingOrder<Value>>(&input, std::move(values), std::move(drawn), size);
  }
  HEADRACE_ASSIGN_OR_RETURN(DrawRows draw, drawn.draws(values, size));
  return MakeDrawnOrder(size, std::move(draw));
}

template absl::StatusOr<std::unique_ptr<RowOrder>> MakeOrderByValues(const OpArguments&, const IndexedSource&,
                                                                     std::vector<double>, DrawnByValues<double>);
template absl::StatusOr<std::unique_ptr<RowOrder>> MakeOrderByValues(const OpArguments&, const IndexedSource&,
                                                                     std::vector<uint32_t>, DrawnByValues<uint32_t>);

}  // namespace headrace
