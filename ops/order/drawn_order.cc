#include "ops/order/drawn_order.h"

#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/seeded_hash.h"
#include "ir/graph.pb.h"
#include "ops/order/epoch_slots.h"

namespace headrace {
namespace {

constexpr uint64_t kDrawnOrderMostRows = std::numeric_limits<uint32_t>::max();
constexpr uint64_t kBytesEach = 2 * sizeof(uint32_t);
constexpr uint64_t kEpochsKept = 2;
// What a value of a row takes with the table made of it, and while it is made.
constexpr uint64_t kBytesOfInputRow = 32;

struct OrderTable {
  std::vector<uint32_t> rows;
  std::vector<uint32_t> occurrences;  // empty: no row recurs
  size_t bytes() const { return (rows.size() + occurrences.size()) * sizeof(uint32_t); }
};

// Whether any is above 0.
template <typename Counts>
bool CountEarlier(absl::Span<const uint32_t> rows, Counts& counts, std::vector<uint32_t>& occurrences) {
  uint32_t any = 0;
  for (size_t i = 0; i < rows.size(); ++i) any |= occurrences[i] = counts[rows[i]]++;
  return any != 0;
}

class DrawnOrder : public RowOrder {
 public:
  DrawnOrder(const DrawnSize& size, DrawRows draw) : size_(size), draw_(std::move(draw)) {}

  uint64_t size() const override { return size_.positions; }
  bool recurs() const override { return true; }
  uint64_t run_length() const override { return size_.run_length; }
  absl::StatusOr<BegunEpoch> Begin(uint64_t /*epoch*/, uint64_t input_rows) override {
    if (input_rows == size_.input_rows) return BegunEpoch{size(), 0};
    return GraphError("has a value for each of ", size_.input_rows, " rows, but its input has ", input_rows,
                      " in this epoch; name a column of the source, whose values follow their rows");
  }

  void Find(uint64_t epoch, absl::Span<uint64_t> positions, absl::Span<uint64_t> occurrences) const override {
    tables_.With(
        epoch, [&] { return Draw(epoch); },
        [&](const OrderTable& table) {
          for (size_t i = 0; i < positions.size(); ++i) {
            const uint64_t position = positions[i];
            positions[i] = table.rows[position];
            if (!table.occurrences.empty()) occurrences[i] = table.occurrences[position];
          }
        });
  }

 private:
  std::shared_ptr<const OrderTable> Draw(uint64_t epoch) const {
    auto table = std::make_shared<OrderTable>();
    table->rows.resize(size_.positions);
    draw_(epoch, absl::MakeSpan(table->rows));
    table->occurrences = CountOccurrences(table->rows, size_.input_rows);
    return table;
  }

  const DrawnSize size_;
  const DrawRows draw_;
  mutable EpochSlots<OrderTable> tables_;
};

}  // namespace

uint64_t BytesToCountOccurrences(uint64_t rows, uint64_t input_rows) {
  return input_rows / 8 <= rows ? input_rows * sizeof(uint32_t) : 0;
}

std::vector<uint32_t> CountOccurrences(absl::Span<const uint32_t> rows, uint64_t input_rows) {
  std::vector<uint32_t> occurrences(rows.size());
  bool any = false;
  if (BytesToCountOccurrences(rows.size(), input_rows) > 0) {
    std::vector<uint32_t> counts(input_rows);
    any = CountEarlier(rows, counts, occurrences);
  } else {
    std::unordered_map<uint32_t, uint32_t, SeededHash> counts;
    any = CountEarlier(rows, counts, occurrences);
  }
  return any ? occurrences : std::vector<uint32_t>();
}

absl::Status CheckOrderFits(const DrawnSize& size) {
  if (size.input_rows > kDrawnOrderMostRows) {
    return UnsupportedError("draws from at most ", kDrawnOrderMostRows, " rows; there are ", size.input_rows);
  }
  const uint64_t room = static_cast<uint64_t>(size.memory) / 2;
  const uint64_t of_input = size.input_rows * kBytesOfInputRow;
  const bool fits = of_input <= room && size.positions <= (room - of_input) / (kBytesEach * kEpochsKept);
  if (fits) return absl::OkStatus();
  return ResourceError("takes ", kBytesOfInputRow, " bytes for each of ", size.input_rows, " rows and ",
                       kBytesEach * kEpochsKept, " for each of ", size.positions,
                       " draws, more than half of the budget; draw fewer, or raise memory= to twice their sum from ",
                       size.memory, " bytes");
}

absl::StatusOr<std::unique_ptr<RowOrder>> MakeDrawnOrder(const DrawnSize& size, DrawRows draw) {
  HEADRACE_RETURN_IF_ERROR(CheckOrderFits(size));
  return std::make_unique<DrawnOrder>(size, std::move(draw));
}

ir::Attribute DeclareDrawnRows() {
  return {.name = "n",
          .doc = "How many rows an epoch draws; None: as many as there are.",
          .default_value = "None",
          .nullable = true,
          .minimum = 1};
}

uint64_t DrawnRows(const OpArguments& arguments, uint64_t input_rows) {
  const bool given = arguments.attributes.Find("n") != nullptr && !arguments.attributes.IsNone("n");
  return given ? static_cast<uint64_t>(arguments.attributes.Int("n")) : input_rows;
}

std::function<absl::StatusOr<DrawnSize>(uint64_t input_rows)> DrawnSizes(const OpArguments& arguments) {
  std::optional<uint64_t> n;
  if (!arguments.attributes.IsNone("n")) n = static_cast<uint64_t>(arguments.attributes.Int("n"));
  return [n, memory = arguments.run->memory](uint64_t input_rows) {
    return DrawnSize{.positions = n.value_or(input_rows), .input_rows = input_rows, .memory = memory};
  };
}

std::optional<uint64_t> MostDrawnRows(const ir::Attributes& attributes,
                                      absl::Span<const std::optional<uint64_t>> inputs) {
  if (attributes.IsNone("n")) return inputs[0];
  return static_cast<uint64_t>(attributes.Int("n"));
}

}  // namespace headrace
