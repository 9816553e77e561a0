#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ops/testing/fake_children.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

GraphBuilder FlatMapped(int64_t rows) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(rows)}});
  builder.Add("flat_map", {0}, {{"function", ir::ReferenceValue("children")}});
  return builder;
}

RunSpec Bound(std::shared_ptr<FakeChildren> function) {
  RunSpec spec;
  spec.bindings.functions["children"] = std::move(function);
  return spec;
}

RunSpec Bound(FakeChildren::Child child) { return Bound(std::make_shared<FakeChildren>(std::move(child))); }

// Row i has `count(i)` children, and child c is as long as c says.
FakeChildren::Child OfLength(std::function<int64_t(int64_t)> count) {
  return [count](absl::Span<const Tensor> row, uint64_t i) -> absl::StatusOr<std::vector<Tensor>> {
    const int64_t number = row[0].value<int64_t>();
    if (static_cast<int64_t>(i) >= count(number)) return std::vector<Tensor>();
    return std::vector<Tensor>{Int64s(std::vector<int64_t>(i % 3, number))};
  };
}

TEST(FlatMap, GivesRowsOfDifferentShapes) {
  const Ran ran = RunEveryWay(FlatMapped(4), Bound(OfLength([](int64_t number) { return number; })));
  EXPECT_THAT(ran.Texts(), ElementsAre("value=int64 (0,) []", "value=int64 (0,) []", "value=int64 (1,) [2]",
                                       "value=int64 (0,) []", "value=int64 (1,) [3]", "value=int64 (2,) [3 3]"));
  EXPECT_EQ(ran.Keys()[4], MixKey(3, 1)) << "the row's key, mixed with the number of the child";
}

// More than a run, so that the function is asked several times.
TEST(FlatMap, GivesManyRowsOfOne) {
  RunSpec spec = Bound([](absl::Span<const Tensor> row, uint64_t i) -> absl::StatusOr<std::vector<Tensor>> {
    const int64_t number = row[0].value<int64_t>();
    if (number == 1 || i == 1000) return std::vector<Tensor>();
    return std::vector<Tensor>{Int64Tensor({}, {1000 * number + static_cast<int64_t>(i)})};
  });
  spec.epochs = 1;
  spec.restart_every = 97;
  const Ran ran = RunEveryWay(FlatMapped(3), spec);
  ASSERT_EQ(ran.rows.size(), 2000u);
  for (int64_t i = 0; i < 2000; ++i) ASSERT_EQ(ran.Ints()[static_cast<size_t>(i)], i < 1000 ? i : i + 1000);
}

TEST(FlatMap, AsksForRowsAsTheyAreNeeded) {
  GraphBuilder builder = FlatMapped(3);
  builder.Add("take", {1}, {{"count", IntValue(5)}});
  const FakeChildren::Child endless = [](absl::Span<const Tensor>, uint64_t i) -> absl::StatusOr<std::vector<Tensor>> {
    return std::vector<Tensor>{Int64Tensor({}, {static_cast<int64_t>(i)})};
  };
  EXPECT_THAT(RunEveryWay(builder, Bound(endless)).Ints(), ElementsAre(0, 1, 2, 3, 4));
  const auto pulled = std::make_shared<FakeChildren>(endless);
  const RunSpec spec = Bound(pulled);
  ASSERT_TRUE(RunOnce(*builder.Build(), OptionsOf(spec)).ok());
  EXPECT_LE(pulled->made(), 2 * 12) << "a run of four, and one of eight, in each epoch";
  EXPECT_GE(pulled->closed(), 1) << "where its epoch ends, not where the pipeline does";
}

TEST(FlatMap, GivesTheRowsBeforeAnError) {
  const RunSpec spec = Bound([](absl::Span<const Tensor> row, uint64_t i) -> absl::StatusOr<std::vector<Tensor>> {
    const int64_t number = row[0].value<int64_t>();
    if (number == 1 && i == 2) return DataError("no child 2");
    if (i == 3) return std::vector<Tensor>();
    return std::vector<Tensor>{Int64Tensor({}, {10 * number + static_cast<int64_t>(i)})};
  });
  const Ran ran = RunEveryWay(FlatMapped(3), spec);
  EXPECT_THAT(ran.Ints(), ElementsAre(0, 1, 2, 10, 11));
  EXPECT_THAT(ran.error.ToString(), HasSubstr("no child 2"));
  EXPECT_EQ(GetErrorField(ran.error, ErrorField::kRow), "epoch 0, key 1");
  EXPECT_THAT(GetErrorField(ran.error, ErrorField::kOperator), HasSubstr("flat_map"));

  GraphBuilder skipping;
  skipping.SkipFailed(1);
  skipping.Add("Range", {}, {{"stop", IntValue(3)}});
  skipping.Add("flat_map", {0}, {{"function", ir::ReferenceValue("children")}});
  const Ran skipped = RunEveryWay(skipping, spec);
  EXPECT_TRUE(skipped.error.ok()) << skipped.error;
  EXPECT_THAT(skipped.Ints(0), ElementsAre(0, 1, 2, 10, 11, 20, 21, 22));
}

TEST(FlatMap, ChecksDeclaredTypes) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(3)}});
  const ir::ColumnType vector = ir::ColumnType::Of(DType::kInt64, {ir::kUnknownDim});
  builder.Add("flat_map", {0},
              {{"function", ir::ReferenceValue("children")},
               {"output", ir::StringsValue({"x"})},
               {"types", ir::ColumnsValue(ir::Schema{{{"x", vector}}})}});
  const Ran ran =
      RunEveryWay(builder, Bound([](absl::Span<const Tensor> row, uint64_t i) -> absl::StatusOr<std::vector<Tensor>> {
                    if (i == 2) return std::vector<Tensor>();
                    if (row[0].value<int64_t>() == 1 && i == 1) return std::vector<Tensor>{Int64Tensor({}, {7})};
                    return std::vector<Tensor>{Int64s({1, 2})};
                  }));
  EXPECT_EQ(ran.rows.size(), 3u);
  EXPECT_THAT(ran.error.ToString(),
              HasSubstr("the function gave int64 () for column \"x\", which was declared as int64 (None,)"));
  EXPECT_THAT(ran.error.ToString(), ::testing::Not(HasSubstr("astype")));
}

TEST(FlatMap, NamesAColumnThatIsNotThere) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(3)}});
  builder.Add("flat_map", {0},
              {{"function", ir::ReferenceValue("children")}, {"columns", ir::StringsValue({"valeu"})}});
  EXPECT_THAT(Refusal(builder, Bound(OfLength([](int64_t) { return 1; }))), HasSubstr("value"));
}

}  // namespace
}  // namespace headrace
