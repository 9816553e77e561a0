// States with a right checksum and wrong numbers: each is refused with the operator and the reason, or runs to an end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/exec/iteration.h"
#include "engine/exec/sealed_state.h"
#include "ir/graph.pb.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/graph_builder.h"
#include "ops/testing/state_run.h"

namespace headrace {
namespace {

using ir::IntValue;
using ::testing::HasSubstr;

using Change = std::function<void(proto::State&)>;

GraphBuilder Over(std::string_view op, const GraphBuilder::Given& attributes) {
  GraphBuilder builder;
  // Not indexed above, so that take and skip have counters of their own.
  builder.Add("Range", {}, {{"stop", IntValue(20)}});
  builder.Add("project", {0}, {{"columns", ir::StringsValue({"value"})}});
  builder.Add(op, {1}, attributes);
  return builder;
}

// What is said of the state after `rows` rows, changed.
std::string Refusal(const GraphBuilder& builder, int rows, const Change& change, const HostBindings& bindings = {}) {
  const ir::proto::Graph graph = *builder.Build();
  proto::State state = StateAfter(graph, rows, bindings);
  change(state);
  IterateOptions options = FromState(state);
  options.bindings = bindings;
  const auto iteration = Iteration::Start(graph, std::move(options));
  if (iteration.ok()) return "";
  EXPECT_EQ(KindOf(iteration.status()), ErrorKind::kState);
  return DescribeError(iteration.status());
}

Change Counter(int index, uint64_t value) {
  return [=](proto::State& state) { state.set_checkpoint(index, value); };
}

TEST(HostileState, OfCountersThatNoCheckpointHasIsRefused) {
  const GraphBuilder range = Over("project", {{"columns", ir::StringsValue({"value"})}});
  EXPECT_EQ(Refusal(range, 3, Counter(0, 20)), "");
  EXPECT_THAT(Refusal(range, 3, Counter(0, 21)), HasSubstr("the operator gave 21 rows of 20"));
  EXPECT_THAT(Refusal(range, 3, Counter(0, 21)), HasSubstr("Range[0]"));
  const GraphBuilder select = Over("select", {{"indices", ir::IntsValue({4, 4, 2, 9, 0})}});
  EXPECT_EQ(Refusal(select, 3, Counter(0, 5)), "");
  EXPECT_THAT(Refusal(select, 3, Counter(0, 6)), HasSubstr("the operator gave 6 rows of 5"));
  const GraphBuilder take = Over("take", {{"count", IntValue(9)}});
  EXPECT_THAT(Refusal(take, 3, Counter(1, 10)), HasSubstr("the operator gave 10 rows of 9"));
  const GraphBuilder skip = Over("skip", {{"count", IntValue(9)}});
  EXPECT_THAT(Refusal(skip, 3, Counter(1, 10)), HasSubstr("the operator left out 10 rows of 9"));
  const GraphBuilder repeat = Over("repeat", {{"count", IntValue(2)}});
  EXPECT_THAT(Refusal(repeat, 3, Counter(1, 2)), HasSubstr("the operator stood at pass 2 of 0 to 1"));
  const GraphBuilder batch = Over("batch", {{"size", IntValue(3)}});
  EXPECT_THAT(Refusal(batch, 3, Counter(1, uint64_t{1} << 31)), HasSubstr("used 2147483648 rows of one message"));
  const GraphBuilder made = Over("python_batch", {{"size", IntValue(3)}, {"function", ir::ReferenceValue("f")}});
  HostBindings bindings;
  bindings.functions["f"] = std::make_shared<FakeFunction>(
      [](absl::Span<const Tensor> inputs, RowRandom*) -> absl::StatusOr<std::vector<Tensor>> {
        return std::vector<Tensor>{inputs[0]};
      });
  EXPECT_EQ(Refusal(made, 3, Counter(1, 7), bindings), "");
  EXPECT_THAT(Refusal(made, 3, Counter(2, uint64_t{1} << 31), bindings), HasSubstr("rows of one message"));
  EXPECT_THAT(Refusal(made, 3, Counter(1, ~uint64_t{0}), bindings), HasSubstr("gave 18446744073709551615 batches"));
  const GraphBuilder shuffle = Over("shuffle", {{"window", IntValue(4)}});
  EXPECT_THAT(Refusal(shuffle, 3, Counter(3, 19)), HasSubstr("with a window of 4"));
  EXPECT_THAT(Refusal(shuffle, 3, Counter(2, 19)), HasSubstr("rows and kept the one at 19"));
  EXPECT_THAT(Refusal(shuffle, 3, Counter(2, ~uint64_t{0})), HasSubstr("read 18446744073709551615 rows"));
}

TEST(HostileState, OfAMixtureIsRefusedOrRunsToItsEnd) {
  for (const std::string stop : {"first", "all"}) {
    GraphBuilder builder;
    for (uint32_t input = 0; input < 2; ++input) {
      builder.Add("Range", {}, {{"stop", IntValue(20)}});
      builder.Add("project", {2 * input}, {{"columns", ir::StringsValue({"value"})}});
    }
    builder.Add("mix", {1, 3}, {{"weights", ir::FloatsValue({1, 2})}, {"stop", ir::StringValue(stop)}});
    EXPECT_THAT(Refusal(builder, 3, Counter(3, uint64_t{1} << 31)), HasSubstr("used 2147483648 rows of one message"));
    // Of an input that was found empty, which ends the epoch under "first".
    EXPECT_EQ(Refusal(builder, 3, Counter(4, ~uint64_t{0})).empty(), stop == "all");
    for (const uint64_t value : {uint64_t{5}, ~uint64_t{0}}) {
      for (int counter = 2; counter < 5; ++counter) {
        const ir::proto::Graph graph = *builder.Build();
        proto::State state = StateAfter(graph, 3);
        state.set_checkpoint(counter, value);
        auto iteration = Iteration::Start(graph, FromState(state));
        if (!iteration.ok()) continue;
        EXPECT_TRUE(ReadAll(std::move(iteration), 100).ok());
      }
    }
  }
}

// Rows of even numbers are short, and come in batches of four; of the others two are held at a time.
TEST(HostileState, ThatListsRowsThatWereNotHeldIsRefused) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(20)}});
  builder.Add("map", {0});
  builder.Step("PythonFunction", {"value"}, {"x"}, {{"function", ir::ReferenceValue("x")}});
  builder.Add(
      "bucket_by_length", {1},
      {{"column", ir::StringValue("x")}, {"boundaries", ir::IntsValue({4})}, {"batch_sizes", ir::IntsValue({4, 7})}});
  HostBindings bindings;
  bindings.functions["x"] = std::make_shared<FakeFunction>(
      [](absl::Span<const Tensor> inputs, RowRandom*) -> absl::StatusOr<std::vector<Tensor>> {
        return std::vector<Tensor>{Int64s(std::vector<int64_t>(inputs[0].value<int64_t>() % 2 == 0 ? 1 : 5))};
      });
  const auto listing = [](std::vector<uint64_t> counters) {
    return [counters](proto::State& state) { state.mutable_checkpoint()->Assign(counters.begin(), counters.end()); };
  };
  const auto refusal = [&](std::vector<uint64_t> counters) {
    return Refusal(builder, 1, listing(std::move(counters)), bindings);
  };
  EXPECT_EQ(refusal({7, 1, 3, 5, 3}), "");
  EXPECT_THAT(refusal({7, 1, 3, 7, 3}), HasSubstr("the operator held row 7 of 7"));
  EXPECT_THAT(refusal({7, 1, 3, 7, 3}), HasSubstr("bucket_by_length[2]"));
  EXPECT_THAT(refusal({7, 1, 3, ~uint64_t{0}, 3}), HasSubstr("held row 18446744073709551615 of 7"));
  EXPECT_THAT(refusal({7, 3, 1, 5, 3}), HasSubstr("held row 1 after row 3"));
  EXPECT_THAT(refusal({7, 1, 1, 5, 3}), HasSubstr("held row 1 after row 1"));
  EXPECT_THAT(refusal({21, 20, 1}), HasSubstr("gave 21 rows of 20"));
  EXPECT_THAT(refusal({7, 0, ~uint64_t{0}}), HasSubstr("held more rows than its batches have"));
  for (const std::vector<uint64_t>& counters : std::vector<std::vector<uint64_t>>{
           {}, {7}, {7, 1, 3, 5, 2}, {7, 1, 3, 5, 4}, {7, 1, 3, 5, ~uint64_t{0}}, {7, 0, 0}}) {
    EXPECT_THAT(refusal(counters), HasSubstr("the state's counters are those of other operators"));
  }
  EXPECT_THAT(refusal({0, 0, 1}), HasSubstr("held row 0 of 0"));
  // At the start of an epoch there may be zeros for rows that were held before.
  EXPECT_EQ(refusal({0, 0, 0, 0}), "");

  const ir::proto::Graph graph = *builder.Build();
  proto::State state = StateAfter(graph, 1, bindings);
  listing({9, 0, 2, 4, 6, 4})(state);
  IterateOptions options = FromState(state);
  options.bindings = bindings;
  const absl::Status full = ReadAll(Iteration::Start(graph, options), 100);
  EXPECT_EQ(KindOf(full), ErrorKind::kState);
  EXPECT_THAT(DescribeError(full), HasSubstr("the operator held rows that fill a batch"));
}

// Two groups of two classes and three rows, each class of which has one.
TEST(HostileState, ThatBeginsWithinAGroupIsRefused) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(12)}});
  builder.Add("Range", {}, {{"stop", IntValue(12)}});
  builder.Add("PK", {0, 1}, {{"column", ir::StringValue("value")}, {"classes", IntValue(2)}, {"samples", IntValue(3)}});
  const ir::proto::Graph graph = *builder.Build();
  for (const uint64_t base : {0, 3, 6, 7}) {
    proto::State state = StateAfter(graph, 3);
    state.set_base(base);
    state.set_world(2);
    state.set_even("pad");
    IterateOptions options = FromState(state);
    options.world = 2;
    const auto iteration = Iteration::Start(graph, std::move(options));
    if (base % 6 == 0) {
      EXPECT_TRUE(iteration.ok()) << iteration.status();
    } else {
      EXPECT_EQ(KindOf(iteration.status()), ErrorKind::kState);
      EXPECT_THAT(DescribeError(iteration.status()), HasSubstr("within a group of 6"));
    }
  }
}

// What the user's sampler says when the epoch begins decides how many rows there are.
TEST(HostileState, OfACounterBeyondTheEpochIsRefused) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(20)}});
  builder.Add("from_sampler", {0}, {{"size", ir::ReferenceValue("size")}, {"indices", ir::ReferenceValue("indices")}});
  const ir::proto::Graph graph = *builder.Build();
  HostBindings bindings;
  const auto gives = [](Tensor tensor) {
    return std::make_shared<FakeFunction>(
        [tensor](absl::Span<const Tensor>, RowRandom*) -> absl::StatusOr<std::vector<Tensor>> {
          return std::vector<Tensor>{tensor};
        });
  };
  bindings.functions["size"] = gives(*Tensor::Scalar(int64_t{3}));
  bindings.functions["indices"] = gives(Int64s({4, 0, 7}));
  IterateOptions options;
  options.pull = true;
  options.bindings = bindings;
  const auto taken = Iteration::Start(graph, options);
  ASSERT_TRUE(taken.ok()) << taken.status();
  for (const uint64_t given : {3, 4}) {
    proto::State state = *OpenState(*(*taken)->State());
    state.set_checkpoint(0, given);
    options.state = SealState(state);
    const absl::Status status = ReadAll(Iteration::Start(graph, options), 10);
    if (given == 3) {
      EXPECT_TRUE(status.ok()) << status;
    } else {
      EXPECT_EQ(KindOf(status), ErrorKind::kState);
      EXPECT_THAT(DescribeError(status), HasSubstr("the operator gave 4 rows of 3"));
    }
  }
}

TEST(HostileState, OfOtherCountersIsRefused) {
  const GraphBuilder take = Over("take", {{"count", IntValue(9)}});
  const std::string refusal = "other passes of the optimizer";
  EXPECT_THAT(Refusal(take, 3, [](proto::State& state) { state.set_layout(state.layout() + 1); }), HasSubstr(refusal));
  EXPECT_THAT(Refusal(take, 3, [](proto::State& state) { state.add_checkpoint(0); }), HasSubstr(refusal));
}

TEST(HostileState, OfEpochsThatCannotBeCountedIsRefused) {
  const GraphBuilder repeat = Over("repeat", {{"count", IntValue(2)}});
  const ir::proto::Graph graph = *repeat.Build();
  proto::State state = StateAfter(graph, 1);
  state.set_epoch(~uint64_t{0});
  const auto iteration = Iteration::Start(graph, FromState(state));
  EXPECT_THAT(std::string(iteration.status().message()), HasSubstr("cannot be counted"));
}

TEST(HostileState, OfAnotherRankDoesNotOverflow) {
  const ir::proto::Graph graph = *Over("batch", {{"size", IntValue(3)}}).Build();
  for (const uint64_t number : {uint64_t{1} << 40, uint64_t{1} << 62, ~uint64_t{0}}) {
    for (const Change& change : {Change([&](proto::State& state) { state.set_world(number); }), Counter(0, number),
                                 Counter(1, number), Change([&](proto::State& state) { state.set_base(number); })}) {
      proto::State state = StateAfter(graph, 2);
      change(state);
      IterateOptions options = FromState(state);
      options.world = 2;
      const absl::Status status = ReadAll(Iteration::Start(graph, std::move(options)), 100);
      EXPECT_TRUE(status.ok() || KindOf(status) == ErrorKind::kState) << status;
    }
  }
}

}  // namespace
}  // namespace headrace
