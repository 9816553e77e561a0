// Rows that differ in length, joined to batches and taken apart again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;
using ir::PairsValue;
using ir::StringValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Options = GraphBuilder::Given;

const ir::ColumnType& Boxes() {
  static const auto* const type = new ir::ColumnType(ir::ColumnType::Of(DType::kInt64, {ir::kUnknownDim, 2}));
  return *type;
}

// Row i has boxes of the given number, all with the value i, and the value i.
GraphBuilder Rows(const ir::ColumnType& boxes = Boxes()) {
  GraphBuilder builder;
  const ir::Schema schema{{{"boxes", boxes}, {"value", ir::ColumnType::Of(DType::kInt64, {})}}};
  builder.Add("Generator", {}, {{"function", ir::ReferenceValue("rows")}, {"columns", ir::ColumnsValue(schema)}});
  return builder;
}

GraphBuilder BatchedRaggedBatch(Options options, int64_t size = 2, const ir::ColumnType& boxes = Boxes()) {
  GraphBuilder builder = Rows(boxes);
  options.emplace_back("size", IntValue(size));
  builder.Add("batch", {0}, options);
  return builder;
}

Options Splits() { return {{"ragged", StringValue("splits")}}; }
Options Lists() { return {{"ragged", StringValue("list")}}; }

absl::StatusOr<Tensor> BoxesOf(int64_t count, int64_t value, int64_t width) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor boxes, Tensor::Allocate(DType::kInt64, {count, width}));
  for (int64_t i = 0; i < boxes.elements(); ++i) boxes.mutable_data<int64_t>()[i] = value;
  return boxes;
}

RunSpec Counts(std::vector<int64_t> counts, int64_t odd_one = -1) {
  RunSpec spec;
  BindIterator(spec.bindings, "rows", [counts, odd_one](uint64_t, uint64_t i) -> absl::StatusOr<std::vector<Tensor>> {
    if (i >= counts.size()) return std::vector<Tensor>();
    const auto value = static_cast<int64_t>(i);
    HEADRACE_ASSIGN_OR_RETURN(Tensor boxes, BoxesOf(counts[i], value, value == odd_one ? 3 : 2));
    HEADRACE_ASSIGN_OR_RETURN(Tensor number, Tensor::Scalar(value));
    return std::vector<Tensor>{std::move(boxes), std::move(number)};
  });
  return spec;
}

TEST(RaggedBatch, JoinsRowsAlongTheirFirstAxisWithSplits) {
  const Ran ran = RunEveryWay(BatchedRaggedBatch(Splits()), Counts({1, 2, 0, 0, 2}));
  EXPECT_THAT(ran.Texts(0),
              ElementsAre("boxes=int64 (3, 2) [0 0 1 1 1 1], boxes_splits=int64 (3,) [0 1 3], value=int64 (2,) [0 1]",
                          "boxes=int64 (0, 2) [], boxes_splits=int64 (3,) [0 0 0], value=int64 (2,) [2 3]",
                          "boxes=int64 (2, 2) [4 4 4 4], boxes_splits=int64 (2,) [0 2], value=int64 (1,) [4]"));
  EXPECT_EQ(ran.Texts(0), ran.Texts(1));
}

// The splits of a list have a name that no column of a user's has.
TEST(RaggedBatch, OfListsHasTheSameValues) {
  EXPECT_THAT(
      RunEveryWay(BatchedRaggedBatch(Lists()), Counts({1, 2})).Texts(0),
      ElementsAre("boxes=int64 (3, 2) [0 0 1 1 1 1], boxes[splits]=int64 (3,) [0 1 3], value=int64 (2,) [0 1]"));
}

class RaggedUnbatch : public ::testing::TestWithParam<const char*> {};

TEST_P(RaggedUnbatch, GivesTheRowsBack) {
  const RunSpec spec = Counts({1, 2, 0, 0, 0, 3, 1});
  GraphBuilder unbatched = BatchedRaggedBatch({{"ragged", StringValue(GetParam())}}, 3);
  unbatched.Add("unbatch", {1});
  const std::vector<std::string> rows = RunEveryWay(Rows(), spec).Texts(0);
  EXPECT_EQ(RunEveryWay(unbatched, spec).Texts(0), rows);
  EXPECT_EQ(rows.size(), 7u);
  unbatched.Add("shuffle", {2}, {{"window", IntValue(3)}});
  unbatched.Add("batch", {3}, {{"size", IntValue(2)}, {"ragged", StringValue("splits")}});
  unbatched.Add("repeat", {4}, {{"count", IntValue(2)}});
  EXPECT_EQ(RunEveryWay(unbatched, spec).Texts(0).size(), 8u);
}

INSTANTIATE_TEST_SUITE_P(Forms, RaggedUnbatch, ::testing::Values("splits", "list"));

TEST(RaggedBatch, JoinsTheColumnsThatAreNamed) {
  const ir::ColumnType unknown = ir::ColumnType::Unknown();
  const GraphBuilder named = BatchedRaggedBatch({{"ragged_columns", PairsValue({{"boxes", "splits"}})}}, 2, unknown);
  EXPECT_THAT(RunEveryWay(named, Counts({0, 1})).Texts(0),
              ElementsAre("boxes=int64 (1, 2) [1 1], boxes_splits=int64 (3,) [0 0 1], value=int64 (2,) [0 1]"));
  EXPECT_THAT(Refusal(BatchedRaggedBatch(Splits(), 2, unknown), Counts({})),
              HasSubstr("the shape of column \"boxes\" is not known before the run; say which columns are ragged, "
                        "ragged={\"boxes\": \"splits\"}"));
}

TEST(RaggedBatch, PadsByColumn) {
  const Options options = {{"ragged_columns", PairsValue({{"boxes", "pad"}})},
                           {"pad_columns", ir::StringsValue({"boxes"})},
                           {"pad_values", ir::FloatsValue({-1})}};
  EXPECT_THAT(RunEveryWay(BatchedRaggedBatch(options), Counts({1, 2})).Texts(0),
              ElementsAre("boxes=int64 (2, 2, 2) [0 0 -1 -1 1 1 1 1], value=int64 (2,) [0 1]"));
}

TEST(RaggedBatch, RepeatsRowsAsFillers) {
  GraphBuilder builder;
  const ir::Schema schema{{{"x", ir::ColumnType::Of(DType::kInt64, {1})}}};
  builder.Add("Numpy", {}, {{"arrays", ir::ReferenceValue("x")}, {"columns", ir::ColumnsValue(schema)}});
  builder.Add("batch", {0},
              {{"size", IntValue(2)},
               {"ragged_columns", PairsValue({{"x", "splits"}})},
               {"mark_padding", ir::BoolValue(true)}});
  RunSpec spec;
  spec.bindings.arrays["x"].columns = {{"x", Int64Tensor({3, 1}, {0, 1, 2})}};
  spec.shard.even = ShardAssignment::Even::kPad;
  const std::vector<Ran> ranks = RunRanks(builder, 2, spec);
  EXPECT_THAT(ranks[1].Texts(0), ElementsAre("x=int64 (2,) [1 0], x_splits=int64 (3,) [0 1 2], _pad=bool (2,) [0 1]"));
}

TEST(RaggedBatch, NamesTheRowThatDiffersInAnotherAxis) {
  ir::ColumnType any = Boxes();
  any.shape = Shape{ir::kUnknownDim, ir::kUnknownDim};
  const Ran ran = RunEveryWay(BatchedRaggedBatch(Splits(), 4, any), Counts({1, 0, 2, 1}, 2));
  EXPECT_THAT(
      std::string(ran.error.message()),
      HasSubstr("column \"boxes\", in the row of epoch 0, key 2: rows of a batch differ: int64 (None, 2) before, "
                "and here int64 (2, 3); their first axis alone may differ"));
}

TEST(RaggedBatch, RefusesWhatCannotBeJoinedSo) {
  EXPECT_THAT(Refusal(BatchedRaggedBatch({{"ragged_columns", PairsValue({{"value", "splits"}})}}), Counts({})),
              HasSubstr("column \"value\" is int64 (): a ragged column needs a first axis"));
  EXPECT_THAT(Refusal(BatchedRaggedBatch({{"ragged_columns", PairsValue({{"box", "splits"}})}}), Counts({})),
              HasSubstr("no column \"box\" (columns: boxes, value)"));
  EXPECT_THAT(Refusal(BatchedRaggedBatch({{"ragged_columns", PairsValue({{"boxes", "rows"}})}}), Counts({})),
              HasSubstr("ragged is \"rows\""));
  EXPECT_THAT(
      Refusal(BatchedRaggedBatch({{"pad_columns", ir::StringsValue({"boxes"})}, {"pad_values", ir::FloatsValue({1})}}),
              Counts({})),
      HasSubstr("pad_value names column \"boxes\", which is not padded"));
  EXPECT_THAT(
      Refusal(BatchedRaggedBatch({{"pad", ir::BoolValue(true)}, {"ragged", StringValue("splits")}}), Counts({})),
      HasSubstr("give one of pad and ragged=\"splits\""));
  GraphBuilder clash = Rows();
  clash.Add("rename", {0}, {{"mapping", PairsValue({{"value", "boxes_splits"}})}});
  clash.Add("batch", {1}, {{"size", IntValue(2)}, {"ragged", StringValue("splits")}});
  EXPECT_THAT(Refusal(clash, Counts({})), HasSubstr("are to be column \"boxes_splits\", and there is a column of that "
                                                    "name; rename one of the two"));
  GraphBuilder twice = BatchedRaggedBatch(Splits());
  twice.Add("batch", {1}, {{"size", IntValue(2)}});
  EXPECT_THAT(Refusal(twice, Counts({})), HasSubstr("column \"boxes\" is ragged already"));
}

TEST(RaggedBatch, NeedsItsSplitsToBeTakenApart) {
  GraphBuilder builder = BatchedRaggedBatch(Splits());
  builder.Add("rename", {1}, {{"mapping", PairsValue({{"boxes", "b"}})}});
  builder.Add("unbatch", {2});
  EXPECT_THAT(Refusal(builder, Counts({})), HasSubstr("column \"boxes_splits\" holds the splits of a ragged column"));
}

// Of a list, the splits are chosen with the values; what would part them is refused.
TEST(RaggedBatch, KeepsListsWhole) {
  GraphBuilder builder = BatchedRaggedBatch(Lists());
  builder.Add("project", {1}, {{"columns", ir::StringsValue({"value", "boxes"})}});
  EXPECT_THAT(RunEveryWay(builder, Counts({1, 1})).Texts(0),
              ElementsAre("value=int64 (2,) [0 1], boxes=int64 (2, 2) [0 0 1 1], boxes[splits]=int64 (3,) [0 1 2]"));
  GraphBuilder renamed = BatchedRaggedBatch(Lists());
  renamed.Add("rename", {1}, {{"mapping", PairsValue({{"boxes", "b"}})}});
  EXPECT_THAT(Refusal(renamed, Counts({})), HasSubstr("it cannot be renamed; do that below batch"));
  GraphBuilder mapped = BatchedRaggedBatch(Lists());
  mapped.Add("map", {1});
  mapped.Step("TypeCast", {"boxes"}, {"boxes"}, {{"dtype", ir::StringValue("float32")}});
  EXPECT_THAT(Refusal(mapped, Counts({})), HasSubstr("it cannot be mapped; do that below batch"));
}

// Their type says which columns are splits, not their names alone.
TEST(RaggedBatch, LeavesColumnsThatAreCalledAsSplitsAlone) {
  GraphBuilder given;
  const ir::Schema schema{
      {{"x", ir::ColumnType::Of(DType::kInt64, {})}, {"x[splits]", ir::ColumnType::Of(DType::kInt64, {})}}};
  given.Add("Numpy", {}, {{"arrays", ir::ReferenceValue("x")}, {"columns", ir::ColumnsValue(schema)}});
  RunSpec spec;
  spec.bindings.arrays["x"].columns = {{"x", Int64s({1, 2})}, {"x[splits]", Int64s({10, 20})}};
  GraphBuilder chosen = given;
  chosen.Add("project", {0}, {{"columns", ir::StringsValue({"x"})}});
  EXPECT_THAT(RunEveryWay(chosen, spec).Texts(0), ElementsAre("x=1", "x=2"));
  GraphBuilder mapped = given;
  mapped.Add("map", {0});
  mapped.Step("TypeCast", {"x[splits]"}, {"x[splits]"}, {{"dtype", StringValue("int32")}});
  mapped.Step("TypeCast", {"x"}, {"x"}, {{"dtype", StringValue("int32")}});
  mapped.Add("rename", {1}, {{"mapping", PairsValue({{"x", "y"}})}});
  EXPECT_THAT(RunEveryWay(mapped, spec).Texts(0), ElementsAre("y=1, x[splits]=10", "y=2, x[splits]=20"));
}

TEST(RaggedBatch, DropsColumnsThatNothingReads) {
  GraphBuilder builder = BatchedRaggedBatch(Splits());
  builder.Add("project", {1}, {{"columns", ir::StringsValue({"boxes_splits"})}});
  EXPECT_THAT(RunEveryWay(builder, Counts({2, 1})).Texts(0), ElementsAre("boxes_splits=int64 (3,) [0 2 3]"));
}

TEST(RaggedBatch, JoinsStrings) {
  GraphBuilder builder;
  const ir::Schema schema{{{"names", ir::ColumnType::Of(DType::kString, {ir::kUnknownDim})}}};
  builder.Add("Generator", {}, {{"function", ir::ReferenceValue("rows")}, {"columns", ir::ColumnsValue(schema)}});
  RunSpec spec;
  BindIterator(spec.bindings, "rows", [](uint64_t, uint64_t i) -> absl::StatusOr<std::vector<Tensor>> {
    if (i >= 3) return std::vector<Tensor>();
    const std::vector<std::string_view> names(i, "boat");
    HEADRACE_ASSIGN_OR_RETURN(Tensor row, Tensor::CopyBytesArray(DType::kString, {static_cast<int64_t>(i)}, names));
    return std::vector<Tensor>{std::move(row)};
  });
  const std::vector<std::string> rows = RunEveryWay(builder, spec).Texts(0);
  builder.Add("batch", {0}, {{"size", IntValue(2)}, {"ragged", StringValue("splits")}});
  builder.Add("unbatch", {1});
  EXPECT_EQ(RunEveryWay(builder, spec).Texts(0), rows);
}

}  // namespace
}  // namespace headrace
