// ReadRows of the operators on indices against their Read, row by row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "core/text.h"
#include "engine/operator/operator.h"
#include "ir/attributes.h"
#include "ir/graph.pb.h"

namespace headrace {
namespace {

// Numbers from 0, of which one fails; in one piece where it is asked for many.
class ReadRowsNumbers : public IndexedSource {
 public:
  ReadRowsNumbers(uint64_t size, uint64_t factor, std::optional<uint64_t> fails = std::nullopt)
      : size_(size), factor_(factor), fails_(fails) {}

  uint64_t size() const override { return size_; }
  absl::Status Read(const RowPosition& wanted, Block& block) const override {
    const auto& [epoch, position, occurrence] = wanted;
    if (position == fails_) return DataError("position ", position, " of factor ", factor_);
    block.ids.push_back({epoch, position});
    block.provenances.push_back({nullptr, static_cast<int64_t>(position), -1});
    block.columns.emplace_back(*Tensor::Scalar(static_cast<int64_t>(position * factor_)));
    return absl::OkStatus();
  }
  absl::Status ReadRows(const RowPositions& wanted, Block& block) const override {
    EXPECT_FALSE(wanted.positions.empty());
    absl::Status status;
    int64_t good = 0;
    for (const uint64_t at : wanted.positions) {
      if (at == fails_) {
        status = DataError("position ", at, " of factor ", factor_);
        break;
      }
      ++good;
      block.ids.push_back({wanted.epoch, at});
      block.provenances.push_back({nullptr, static_cast<int64_t>(at), -1});
    }
    Tensor values = *Tensor::Allocate(DType::kInt64, {good});
    for (int64_t i = 0; i < good; ++i) {
      values.mutable_data<int64_t>()[i] = static_cast<int64_t>(block.ids[static_cast<size_t>(i)].key * factor_);
    }
    block.columns.push_back(BlockColumn::Stacked(std::move(values)));
    return status;
  }
  void Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const override {
    id = {epoch, position};
    provenance = {nullptr, static_cast<int64_t>(position), -1};
  }
  void AddFingerprints(std::vector<Fingerprint>&) const override {}

 private:
  const uint64_t size_;
  const uint64_t factor_;
  const std::optional<uint64_t> fails_;
};

ir::Schema Column(const std::string& name) { return {{{name, ir::ColumnType::Of(DType::kInt64, {})}}}; }

std::unique_ptr<IndexedSource> Made(const std::string& op, IndexedSources inputs, int64_t count = 0) {
  ir::proto::Node node;
  node.set_op(op);
  if (op == "take" || op == "skip") {
    ir::proto::Attribute* attribute = node.add_attributes();
    attribute->set_name("count");
    attribute->mutable_value()->set_integer(count);
  }
  OpArguments arguments;
  arguments.node = &node;
  arguments.attributes = ir::Attributes::Of(node);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = op == "zip" ? Cat("column", i) : "value";
    arguments.inputs.push_back(Column(name));
    if (op == "zip" || i == 0) arguments.output.columns.push_back(arguments.inputs.back().columns[0]);
  }
  return *FindOp(op)->indexed(arguments, std::move(inputs));
}

template <typename... Sources>
IndexedSources Several(Sources... sources) {
  IndexedSources all;
  (all.push_back(std::move(sources)), ...);
  return all;
}

std::unique_ptr<ReadRowsNumbers> Of(uint64_t size, uint64_t factor, std::optional<uint64_t> fails = std::nullopt) {
  return std::make_unique<ReadRowsNumbers>(size, factor, fails);
}

std::string Text(const Block& block) {
  std::string text;
  for (int i = 0; i < block.rows(); ++i) {
    Append(text, DescribeRowId(block.ids[static_cast<size_t>(i)]), " of ",
           block.provenances[static_cast<size_t>(i)].record, ":");
    for (const BlockColumn& column : block.columns) Append(text, " ", column.row(i).value<int64_t>());
    text += "\n";
  }
  return text;
}

// Compares at random positions: in steps, as sources read them, and in any order, recurring, as orders ask for them.
void Compare(const IndexedSource& source) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint64_t> positions;
    if (round % 2 == 0) {
      const uint64_t step = 1 + random() % 4;
      for (uint64_t at = random() % source.size(); at < source.size(); at += step) positions.push_back(at);
      positions.resize(1 + random() % positions.size());
    } else {
      for (uint64_t left = 1 + random() % 20; left > 0; --left) positions.push_back(random() % source.size());
    }
    Block one_by_one;
    const absl::Status expected = source.IndexedSource::ReadRows({3, positions}, one_by_one);
    Block together;
    const absl::Status status = source.ReadRows({3, positions}, together);
    const std::string where = absl::StrJoin(positions, ", ");
    ASSERT_EQ(status.message(), expected.message()) << where;
    ASSERT_EQ(Text(together), Text(one_by_one)) << where;
  }
}

TEST(ReadRows, OfTakeAndSkip) {
  Compare(*Made("take", Several(Of(40, 1)), 30));
  Compare(*Made("skip", Several(Of(40, 1)), 10));
  Compare(*Made("take", Several(Made("skip", Several(Of(40, 1, 20)), 10)), 25));
}

TEST(ReadRows, OfConcat) {
  Compare(*Made("concat", Several(Of(13, 1), Of(1, 2), Of(30, 3))));
  Compare(*Made("concat", Several(Of(13, 1), Of(20, 2, 7), Of(30, 3))));
}

TEST(ReadRows, OfZip) {
  Compare(*Made("zip", Several(Of(20, 1), Of(30, 2), Of(25, 3))));
  Compare(*Made("zip", Several(Of(20, 1, 9), Of(30, 2, 5), Of(25, 3))));
  Compare(*Made("zip", Several(Of(20, 1, 5), Of(30, 2, 5), Of(25, 3, 11))));
  Compare(*Made("concat",
                Several(Made("zip", Several(Of(20, 1), Of(20, 2, 6))), Made("zip", Several(Of(9, 3), Of(9, 4))))));
}

TEST(ReadRows, IsOneCallOfEachInput) {
  Block block;
  ASSERT_TRUE(Made("zip", Several(Of(20, 1), Of(20, 2)))->ReadRows({0, {14, 2, 5}}, block).ok());
  ASSERT_EQ(block.columns.size(), 2u);
  EXPECT_TRUE(block.columns[0].in_runs() && block.columns[1].in_runs());
  Block chained;
  ASSERT_TRUE(Made("concat", Several(Of(20, 1), Of(20, 2)))->ReadRows({0, {14, 22, 5, 30}}, chained).ok());
  ASSERT_EQ(chained.columns.size(), 1u);
  EXPECT_TRUE(chained.columns[0].in_runs());
}

}  // namespace
}  // namespace headrace
