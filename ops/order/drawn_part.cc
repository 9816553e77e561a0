#include "ops/order/drawn_part.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/stop_signal.h"
#include "ops/order/epoch_permutations.h"
#include "ops/order/row_set.h"

namespace headrace {
namespace {

constexpr uint64_t kMostRows = uint64_t{1} << 33;
// Separates its permutation from those of shuffles, whose salts are hashes.
constexpr uint64_t kSalt = 0x73706c6974;
constexpr uint64_t kAtOnce = 4096;

class Part : public RowOrder {
 public:
  explicit Part(RowSet rows) : rows_(std::move(rows)) {}
  uint64_t size() const override { return rows_.count(); }
  void Find(uint64_t /*epoch*/, absl::Span<uint64_t> positions, absl::Span<uint64_t> /*occurrences*/) const override {
    uint64_t row = 0;
    for (size_t i = 0, next = 0; i < positions.size(); ++i) {
      const bool follows = i > 0 && positions[i] == next;
      next = positions[i] + 1;
      row = positions[i] = follows ? rows_.Next(row) : rows_.At(positions[i]);
    }
  }

 private:
  const RowSet rows_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RowOrder>> DrawPart(uint64_t rows, uint64_t seed, const DrawnPositions& borders) {
  if (rows > kMostRows) {
    return UnsupportedError("keeps a bit for each row of its input, at most for ", kMostRows, " rows; there are ",
                            rows);
  }
  const EpochPermutations permutations(rows, seed, kSalt);
  RowSet drawn(rows);
  std::vector<uint64_t> positions;
  for (uint64_t first = borders.begin; first < borders.end; first += positions.size()) {
    if (StopSignal::Raised()) return StopSignal::Error();
    positions.resize(std::min(kAtOnce, borders.end - first));
    std::iota(positions.begin(), positions.end(), first);
    permutations.Find(0, absl::MakeSpan(positions));
    for (const uint64_t row : positions) drawn.Add(row);
  }
  if (borders.rest) drawn.Invert();
  drawn.Count();
  return std::make_unique<Part>(std::move(drawn));
}

ir::Declaration DrawnPartDeclaration(ir::Declaration own) {
  own.role = ir::Role::kStream;
  own.traits = {.indexed = true, .light = true, .by_number = true};
  own.python_module = "dataset";
  own.reads = ir::PassesColumns();
  own.most_rows = ir::NoMoreRows();
  return own;
}

ir::Attribute SeedOfMembers() { return {.name = "seed", .doc = "Determines the members.", .default_value = "0"}; }

}  // namespace headrace
