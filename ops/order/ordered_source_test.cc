// The source that an order makes of its input, over an order in which rows recur.
#include "ops/order/ordered_source.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "core/text.h"
#include "ir/attributes.h"
#include "ops/order/occurrence_key.h"

namespace headrace {
namespace {

class Numbers : public IndexedSource {
 public:
  uint64_t size() const override { return 5; }
  absl::Status Read(const RowPosition& wanted, Block& block) const override {
    const auto [epoch, position, occurrence] = wanted;
    if (position == 4) return DataError("row 4");
    block.ids.push_back({epoch, position});
    block.provenances.push_back({nullptr, static_cast<int64_t>(position), -1});
    if (block.columns.empty()) block.columns.resize(1);
    block.columns[0].Append(*Tensor::Scalar(static_cast<int64_t>(position)));
    return absl::OkStatus();
  }
  void Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const override {
    id = {epoch, position};
    provenance = {nullptr, static_cast<int64_t>(position), -1};
  }
  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override {
    fingerprints.push_back({"numbers", 5, 0});
  }
};

// Every row three times, from a row on that the epoch determines.
class ThreeTimes : public RowOrder {
 public:
  explicit ThreeTimes(uint64_t rows) : rows_(rows) {}
  uint64_t size() const override { return 3 * rows_; }
  void Find(uint64_t epoch, absl::Span<uint64_t> positions, absl::Span<uint64_t> occurrences) const override {
    for (size_t i = 0; i < positions.size(); ++i) {
      occurrences[i] = positions[i] / rows_;
      positions[i] = (positions[i] + epoch) % rows_;
    }
  }

 private:
  const uint64_t rows_;
};

std::unique_ptr<IndexedSource> Made() {
  const OpFactories factories =
      OrderFactories([](const OpArguments&, uint64_t rows) -> absl::StatusOr<std::unique_ptr<RowOrder>> {
        return std::make_unique<ThreeTimes>(rows);
      });
  IndexedSources inputs;
  inputs.push_back(std::make_unique<Numbers>());
  return *factories.indexed(OpArguments(), std::move(inputs));
}

std::string RowsOfOrderedSource(const Block& block) {
  std::string text;
  for (int i = 0; i < block.rows(); ++i) {
    Append(text, block.columns[0].row(i).value<int64_t>(), " ", DescribeRowId(block.ids[static_cast<size_t>(i)]), "\n");
  }
  return text;
}

TEST(OrderedSource, GivesTheSameOneByOneAndTogether) {
  const auto source = Made();
  ASSERT_EQ(source->size(), 15u);
  const std::vector<uint64_t> positions = {0, 5, 10, 1, 12, 7, 14, 2};
  Block together;
  ASSERT_EQ(source->ReadRows({1, positions}, together).message(), "") << "position 3 of a run of five is row 4";
  Block one_by_one;
  for (const uint64_t position : positions) {
    ASSERT_TRUE(source->Read({1, position}, one_by_one).ok());
    RowId id;
    Provenance provenance;
    source->Identify(1, position, id, provenance);
    EXPECT_EQ(id, one_by_one.ids.back());
    EXPECT_EQ(provenance.record, one_by_one.provenances[one_by_one.provenances.size() - 1].record);
  }
  EXPECT_EQ(RowsOfOrderedSource(together), RowsOfOrderedSource(one_by_one));
}

TEST(OrderedSource, MixesLaterOccurrencesIntoTheKey) {
  Block block;
  ASSERT_TRUE(Made()->ReadRows({0, {2, 7, 12}}, block).ok());
  EXPECT_EQ(block.ids[0].key, 2u);
  EXPECT_EQ(block.ids[1].key, KeyOfOccurrence(2, 0, 1));
  EXPECT_EQ(block.ids[2].key, KeyOfOccurrence(2, 0, 2));
}

TEST(OrderedSource, GivesTheRowsBeforeAnError) {
  Block block;
  const absl::Status status = Made()->ReadRows({0, {3, 2, 4, 1}}, block);
  EXPECT_EQ(status.message(), "row 4");
  EXPECT_EQ(block.rows(), 2);
}

}  // namespace
}  // namespace headrace
