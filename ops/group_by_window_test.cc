#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;
using ir::StringValue;
using ::testing::HasSubstr;
using Ints = std::vector<int64_t>;

// Row i has the key `keys[i]` and the value i. The function gives the batch's number and the values.
RunSpec Keys(Ints keys) {
  RunSpec spec;
  BindIterator(spec.bindings, "rows", [keys](uint64_t, uint64_t i) -> absl::StatusOr<std::vector<Tensor>> {
    if (i >= keys.size()) return std::vector<Tensor>();
    return std::vector<Tensor>{Int64Tensor({}, {keys[i]}), Int64Tensor({}, {static_cast<int64_t>(i)})};
  });
  spec.bindings.functions["listed"] = std::make_shared<FakeFunction>(
      [](absl::Span<const Tensor> inputs, RowRandom*) -> absl::StatusOr<std::vector<Tensor>> {
        const auto* const number = inputs[0].data<uint64_t>();
        Ints values = {static_cast<int64_t>(number[0])};
        // Behind the number, the names and the keys.
        for (const Tensor& row : inputs.subspan(2 + number[3])) values.push_back(row.value<int64_t>());
        if (values.back() == 99) return DataError("99 is not welcome");
        return std::vector<Tensor>{Int64s(values)};
      });
  return spec;
}

GraphBuilder Grouped(int64_t group, int64_t size) {
  GraphBuilder builder;
  builder.Add("Generator", {},
              {{"function", ir::ReferenceValue("rows")}, {"columns", ir::ColumnsValue(Int64Columns("kv"))}});
  builder.Add("test_group", {0}, {{"rows", IntValue(group)}});
  builder.Add("group_by_window", {1},
              {{"key", StringValue("k")},
               {"size", IntValue(size)},
               {"function", ir::ReferenceValue("listed")},
               {"output", ir::StringsValue({"v"})}});
  return builder;
}

std::vector<Ints> BatchesOf(const Ran& ran, uint64_t epoch = 0) {
  std::vector<Ints> batches;
  for (const RanRow& row : ran.rows) {
    if (row.epoch != epoch) continue;
    const Tensor& values = row.columns[0];
    batches.emplace_back(values.data<int64_t>(), values.data<int64_t>() + values.elements());
  }
  return batches;
}

class GroupByWindow : public ::testing::TestWithParam<int64_t> {};

TEST_P(GroupByWindow, GivesRowsOfEqualKeys) {
  const Ran ran = RunEveryWay(Grouped(GetParam(), 2), Keys({5, 3, 5, 4, 3, 5, 4, 9, 3}));
  const std::vector<Ints> expected = {{0, 0, 2}, {1, 1, 4}, {2, 3, 6}, {3, 5}, {4, 7}, {5, 8}};
  EXPECT_EQ(BatchesOf(ran), expected);
  EXPECT_EQ(BatchesOf(ran, 1), expected);
  EXPECT_EQ(ran.rows[1].id.key, 1u);
}

TEST_P(GroupByWindow, ResumesExactlyWhateverIsHeld) {
  std::mt19937 draws(13);
  for (int trial = 0; trial < 6; ++trial) {
    Ints keys(draws() % 20);
    for (int64_t& key : keys) key = static_cast<int64_t>(draws() % 5);
    const auto size = static_cast<int64_t>(1 + draws() % 4);
    std::vector<Ints> expected;
    std::map<size_t, Ints> held;  // by the number of the first row
    std::map<int64_t, size_t> first;
    const auto give = [&](std::map<size_t, Ints>::iterator group) {
      expected.push_back(group->second);
      expected.back().insert(expected.back().begin(), static_cast<int64_t>(expected.size()) - 1);
      held.erase(group);
    };
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto group = held.try_emplace(first.try_emplace(keys[i], i).first->second).first;
      group->second.push_back(static_cast<int64_t>(i));
      if (static_cast<int64_t>(group->second.size()) < size) continue;
      give(group);
      first.erase(keys[i]);
    }
    while (!held.empty()) give(held.begin());
    EXPECT_EQ(BatchesOf(RunEveryWay(Grouped(GetParam(), size), Keys(keys))), expected) << "trial " << trial;
  }
}

TEST_P(GroupByWindow, MayEndEarly) {
  GraphBuilder builder = Grouped(GetParam(), 2);
  builder.Add("take", {2}, {{"count", IntValue(2)}});
  EXPECT_EQ(BatchesOf(RunEveryWay(builder, Keys({1, 2, 3, 2, 1, 3, 1})), 1), (std::vector<Ints>{{0, 1, 3}, {1, 0, 4}}));
}

INSTANTIATE_TEST_SUITE_P(Messages, GroupByWindow, ::testing::Values(1, 3));

TEST(GroupByWindowOperator, NamesTheBatchThatFails) {
  Ints keys(101, 1);
  keys[99] = 2;
  const Ran ran = RunEveryWay(Grouped(1, 60), Keys(keys));
  EXPECT_EQ(ran.rows.size(), 2u);
  EXPECT_THAT(ran.error.ToString(), HasSubstr("99 is not welcome"));
  EXPECT_THAT(std::string(GetErrorField(ran.error, ErrorField::kRow)), HasSubstr("the batch of 1 that begins with"));
}

TEST(GroupByWindowOperator, LeavesOutRowsThatFail) {
  GraphBuilder builder;
  builder.SkipFailed(2);
  builder.Add("Generator", {},
              {{"function", ir::ReferenceValue("rows")}, {"columns", ir::ColumnsValue(Int64Columns("kv"))}});
  builder.Add("test_fail", {0}, {{"values", ir::IntsValue({7, 8})}});
  builder.Add("group_by_window", {1},
              {{"key", StringValue("k")},
               {"size", IntValue(2)},
               {"function", ir::ReferenceValue("listed")},
               {"output", ir::StringsValue({"v"})}});
  const Ran ran = RunEveryWay(builder, Keys({1, 7, 2, 1, 2, 8}));
  EXPECT_TRUE(ran.error.ok()) << ran.error;
  EXPECT_EQ(BatchesOf(ran), (std::vector<Ints>{{0, 0, 3}, {1, 2, 4}}));
}

TEST(GroupByWindowOperator, RefusesWhatIsNoKey) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(3)}});
  builder.Add("map", {0});
  builder.Step("TypeCast", {"value"}, {"value"}, {{"dtype", StringValue("float32")}});
  builder.Add("group_by_window", {1},
              {{"key", StringValue("value")}, {"size", IntValue(2)}, {"function", ir::ReferenceValue("listed")}});
  EXPECT_THAT(Refusal(builder, Keys({})), HasSubstr("the key, column \"value\", is float32 ()"));
}

}  // namespace
}  // namespace headrace
