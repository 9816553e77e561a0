#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ir/graph.pb.h"
#include "ops/testing/counted_rows.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"
#include "ops/testing/state_run.h"

namespace headrace {
namespace {

using ir::IntValue;
using ir::StringValue;
using ::testing::HasSubstr;
using GroupByWindowInts = std::vector<int64_t>;

// Row i has the key `keys[i]` and the value i. The function gives the batch's number and the values.
RunSpec Keys(GroupByWindowInts keys) {
  RunSpec spec;
  BindIterator(spec.bindings, "rows", [keys](uint64_t, uint64_t i) -> absl::StatusOr<std::vector<Tensor>> {
    if (i >= keys.size()) return std::vector<Tensor>();
    return std::vector<Tensor>{Int64Tensor({}, {keys[i]}), Int64Tensor({}, {static_cast<int64_t>(i)})};
  });
  spec.bindings.functions["listed"] = std::make_shared<FakeFunction>(
      [](absl::Span<const Tensor> inputs, RowRandom*) -> absl::StatusOr<std::vector<Tensor>> {
        const auto* const number = inputs[0].data<uint64_t>();
        GroupByWindowInts values = {static_cast<int64_t>(number[0])};
        // After the number, the names and the keys.
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

// Over random access: row i has the value i, and i modulo `keys` for its key.
GraphBuilder NumberedGrouped(int64_t rows, int64_t keys, int64_t size, bool shuffled, RunSpec& spec) {
  spec = Keys({});
  spec.bindings.functions["key"] = std::make_shared<FakeFunction>(
      [keys](absl::Span<const Tensor> inputs, RowRandom*) -> absl::StatusOr<std::vector<Tensor>> {
        return std::vector<Tensor>{Int64Tensor({}, {inputs[0].value<int64_t>() % keys})};
      });
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(rows)}, {"shuffle", ir::BoolValue(shuffled)}});
  builder.Add("map", {0});
  builder.Step("PythonFunction", {"value"}, {"k"}, {{"function", ir::ReferenceValue("key")}});
  builder.Add("project", {1}, {{"columns", ir::StringsValue({"k", "value"})}});
  builder.Add("test_counted", {2});
  builder.Add("group_by_window", {3},
              {{"key", StringValue("k")},
               {"size", IntValue(size)},
               {"function", ir::ReferenceValue("listed")},
               {"output", ir::StringsValue({"v"})}});
  return builder;
}

std::vector<GroupByWindowInts> BatchesOf(const Ran& ran, uint64_t epoch = 0) {
  std::vector<GroupByWindowInts> batches;
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
  const std::vector<GroupByWindowInts> expected = {{0, 0, 2}, {1, 1, 4}, {2, 3, 6}, {3, 5}, {4, 7}, {5, 8}};
  EXPECT_EQ(BatchesOf(ran), expected);
  EXPECT_EQ(BatchesOf(ran, 1), expected);
  EXPECT_EQ(ran.rows[1].id.key, 1u);
}

TEST_P(GroupByWindow, ResumesExactlyWhateverIsHeld) {
  std::mt19937 draws(13);
  for (int trial = 0; trial < 6; ++trial) {
    GroupByWindowInts keys(draws() % 20);
    for (int64_t& key : keys) key = static_cast<int64_t>(draws() % 5);
    const auto size = static_cast<int64_t>(1 + draws() % 4);
    std::vector<GroupByWindowInts> expected;
    std::map<size_t, GroupByWindowInts> held;  // by the number of the first row
    std::map<int64_t, size_t> first;
    const auto give = [&](std::map<size_t, GroupByWindowInts>::iterator group) {
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
  EXPECT_EQ(BatchesOf(RunEveryWay(builder, Keys({1, 2, 3, 2, 1, 3, 1})), 1),
            (std::vector<GroupByWindowInts>{{0, 1, 3}, {1, 0, 4}}));
}

INSTANTIATE_TEST_SUITE_P(Messages, GroupByWindow, ::testing::Values(1, 3));

TEST(GroupByWindowOperator, ResumesExactlyOverRandomAccess) {
  for (const int64_t rows : {1, 13, 30}) {
    RunSpec spec;
    RunEveryWay(NumberedGrouped(rows, 4, 3, true, spec), spec);
    RunRanks(NumberedGrouped(rows, 5, 2, false, spec), 2, spec);
  }
}

TEST(GroupByWindowOperator, ReadsHeldRowsAloneAgain) {
  RunSpec spec;
  const ir::proto::Graph graph = *NumberedGrouped(98, 7, 3, false, spec).Build();
  PipelineOptions options = OptionsOf(spec);
  options.epochs = {0, 0};
  const absl::StatusOr<Ran> ran = RunOnce(graph, options);
  ASSERT_TRUE(ran.ok()) << ran.status();
  for (size_t batch = 0; batch < ran->rows.size(); ++batch) {
    const Position& after = ran->rows[batch].after;
    const uint64_t held = after.checkpoint.back();
    EXPECT_LE(held, 14u);
    EXPECT_EQ(after.checkpoint.size(), 3 + held);
    counted_rows = 0;
    options.checkpoint = after.checkpoint;
    options.delivered = after.delivered;
    const absl::StatusOr<Ran> rest = RunOnce(graph, options);
    ASSERT_TRUE(rest.ok()) << rest.status();
    EXPECT_EQ(rest->rows.size(), ran->rows.size() - 1 - batch);
    EXPECT_EQ(static_cast<uint64_t>(counted_rows), held + 98 - after.checkpoint[0]);
  }
}

// A list of them with each batch would be far more than the batches.
TEST(GroupByWindowOperator, BeginsAnewWhereTooManyRowsAreHeld) {
  RunSpec spec;
  const ir::proto::Graph graph = *NumberedGrouped(40000, 20000, 2, false, spec).Build();
  for (const int batch : {1, 3000, 10000}) {
    const proto::State state = StateAfter(graph, batch, spec.bindings);
    const bool lists = batch == 10000;
    EXPECT_EQ(state.checkpoint_size(), lists ? 3 + 10000 : 4);
    counted_rows = 0;
    IterateOptions options = FromState(state);
    options.bindings = spec.bindings;
    auto iteration = Iteration::Start(graph, std::move(options));
    ASSERT_TRUE(iteration.ok()) << iteration.status();
    ResultRow row;
    ASSERT_EQ(*(*iteration)->Fetch(std::chrono::seconds(60), row), Pipeline::Outcome::kRow);
    EXPECT_EQ(row.columns[0].data<int64_t>()[0], batch);
    EXPECT_EQ(row.columns[0].data<int64_t>()[1], batch);
    EXPECT_EQ(row.columns[0].data<int64_t>()[2], batch + 20000);
    EXPECT_EQ(counted_rows, lists ? 10001 : batch + 20001);
  }
}

TEST(GroupByWindowOperator, NamesTheBatchThatFails) {
  GroupByWindowInts keys(101, 1);
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
  EXPECT_EQ(BatchesOf(ran), (std::vector<GroupByWindowInts>{{0, 0, 3}, {1, 2, 4}}));
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
