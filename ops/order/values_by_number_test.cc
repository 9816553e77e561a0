// How the values of rows are read before the first row.
#include "ops/order/values_by_number.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/buffer.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "ir/graph.pb.h"
#include "ir/value.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Rows whose labels are those given, which each take `bytes` while they are read. Row `failing` fails.
class ValuesByNumberLabelled : public IndexedSource {
 public:
  explicit ValuesByNumberLabelled(std::vector<std::string> labels, size_t bytes = 0, size_t failing = -1)
      : labels_(std::move(labels)), bytes_(bytes), failing_(failing) {}

  uint64_t size() const override { return labels_.size(); }
  absl::Status Read(const RowPosition& wanted, Block& block) const override {
    const auto& [epoch, position, occurrence] = wanted;
    if (position == failing_) return DataError("no label");
    block.ids.push_back({epoch, position});
    block.provenances.push_back({nullptr, static_cast<int64_t>(position), -1});
    if (block.columns.empty()) block.columns.resize(1);
    block.columns[0].Append(*Tensor::CopyBytes(DType::kBytes, labels_[position]));
    return absl::OkStatus();
  }
  absl::Status ReadRows(const RowPositions& wanted, Block& block) const override {
    most_at_once = std::max(most_at_once, wanted.positions.size());
    const BufferRef whole_rows = BufferPool::Current().Allocate(bytes_ * wanted.positions.size());
    return IndexedSource::ReadRows(wanted, block);
  }
  void Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& /*provenance*/) const override {
    id = {epoch, position};
  }
  void AddFingerprints(std::vector<Fingerprint>& /*fingerprints*/) const override {}

  mutable size_t most_at_once = 0;

 private:
  const std::vector<std::string> labels_;
  const size_t bytes_;
  const size_t failing_;
};

absl::StatusOr<std::vector<uint32_t>> Read(const ValuesByNumberLabelled& labels, RunOptions run = {}) {
  ir::proto::Node node;
  ir::proto::Attribute* const column = node.add_attributes();
  column->set_name("column");
  *column->mutable_value() = ir::StringValue("label");
  ir::proto::Attribute* const draws = node.add_attributes();
  draws->set_name("n");
  *draws->mutable_value() = ir::NoneValue();
  ir::proto::Attribute* const follows = node.add_attributes();
  follows->set_name("follows_rows");
  *follows->mutable_value() = ir::BoolValue(false);
  OpArguments arguments;
  arguments.attributes = ir::Attributes::Of(node);
  const ir::Schema schema{{{"label", ir::ColumnType::Of(DType::kBytes, {})}}};
  arguments.inputs = {schema, schema};
  arguments.run = &run;
  return ReadClasses(arguments, labels, labels);
}

TEST(ReadClasses, ReadsFewRowsAtOnceWhereTheyTakeMuch) {
  const std::vector<std::string> labels(600, "a");
  const ValuesByNumberLabelled light(labels);
  const ValuesByNumberLabelled heavy(labels, 1 << 20);
  EXPECT_EQ(Classes(*Read(light)).count(), 1);
  EXPECT_EQ(Classes(*Read(heavy)).count(), 1);
  EXPECT_EQ(light.most_at_once, 256);
  EXPECT_LE(heavy.most_at_once, 8);
}

TEST(ReadClasses, LeavesOutRowsThatFailWhereTheyAreSkipped) {
  const ValuesByNumberLabelled labels({"a", "b", "b", "a"}, 0, 1);
  EXPECT_THAT(Read(labels).status().message(), HasSubstr("no label"));
  RunOptions skips;
  skips.skip_failed = true;
  const Classes classes(*Read(labels, skips));
  ASSERT_EQ(classes.count(), 2);
  EXPECT_THAT(classes.rows(0), ElementsAre(0, 3));
  EXPECT_THAT(classes.rows(1), ElementsAre(2));
  EXPECT_THAT(Read(ValuesByNumberLabelled({"a"}, 0, 0), skips).status().message(), HasSubstr("all labels failed"));
}

TEST(ReadClasses, RefusesContentsAsLabels) {
  const absl::Status refused = Read(ValuesByNumberLabelled({"a", std::string(5000, 'x')})).status();
  EXPECT_EQ(KindOf(refused), ErrorKind::kGraph);
  EXPECT_THAT(refused.message(), HasSubstr("a label has at most 4096 bytes; name the column of the labels"));
  EXPECT_THAT(refused.message(), HasSubstr("the 5000 bytes of row 1"));
}

TEST(ReadClasses, CountsTheBytesOfLabels) {
  std::vector<std::string> long_labels;
  for (char letter = 'a'; letter <= 'z'; ++letter) long_labels.emplace_back(4000, letter);
  RunOptions run;
  run.memory = 64 << 10;
  EXPECT_EQ(KindOf(Read(ValuesByNumberLabelled(long_labels), run).status()), ErrorKind::kResource);
}

TEST(ReadClasses, EndsWhenInterrupted) {
  const Interrupt interrupt([] { return true; });
  while (Interrupt::Check().ok()) {
  }
  EXPECT_EQ(KindOf(Read(ValuesByNumberLabelled({"a"})).status()), ErrorKind::kClosed);
}

}  // namespace
}  // namespace headrace
