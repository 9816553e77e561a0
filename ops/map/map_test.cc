#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "core/error.h"
#include "core/testing/rounds.h"
#include "engine/operator/host_runs.h"
#include "ir/expression.h"
#include "ir/graph.pb.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;
using ir::StringValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Doubles its input and, where it draws, adds a number of the row's own; fails on 13.
class Doubling : public HostFunction {
 public:
  absl::StatusOr<std::vector<Tensor>> Call(absl::Span<const Tensor> inputs, RowRandom* random,
                                           OutputAllocator&) override {
    const int64_t value = inputs[0].value<int64_t>();
    if (value == 13) return MakeError(ErrorKind::kFunction, "unlucky");
    const int64_t drawn = random == nullptr ? 0 : static_cast<int64_t>(random->Below(1000));
    HEADRACE_ASSIGN_OR_RETURN(Tensor result, Tensor::Scalar(value * 2 + drawn));
    return std::vector<Tensor>{std::move(result)};
  }
};

// The same in processes, as it seems: calls are made in runs, whose results come in two parts.
class DoublingInRuns : public Doubling, public RunFunction {
 public:
  absl::StatusOr<std::vector<Tensor>> Call(absl::Span<const Tensor> inputs, RowRandom* random,
                                           OutputAllocator& output) override {
    EXPECT_NE(random, nullptr) << "what a process seeds its generators with";
    return Doubling::Call(inputs, random, output);
  }
  void CallRun(absl::Span<const HostCall> calls, TakeResults take) override {
    if (calls.size() > 1) ++runs_;
    std::vector<Results> results;
    for (const HostCall& call : calls) results.push_back(Call(call.inputs, call.random, *call.output));
    const size_t half = results.size() / 2;
    if (half > 0) take(0, absl::MakeSpan(results).subspan(0, half));
    if (!calls.empty()) take(half, absl::MakeSpan(results).subspan(half));
  }
  int processes() const override { return 2; }
  // Of more than one call.
  int runs() const { return runs_; }

 private:
  std::atomic<int> runs_{0};
};

RunSpec WithFunction() {
  RunSpec spec;
  spec.bindings.functions["double"] = std::make_shared<Doubling>();
  return spec;
}

GraphBuilder RowsMap(int64_t start, int64_t stop) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"start", IntValue(start)}, {"stop", IntValue(stop)}});
  builder.Add("map", {0});
  return builder;
}

TEST(Map, AppliesKernelsInOrder) {
  GraphBuilder builder = RowsMap(0, 3);
  builder.Step("TypeCast", {"value"}, {"value"}, {{"dtype", StringValue("float32")}});
  builder.Step("OneHot", {"value"}, {"hot"}, {{"num_classes", IntValue(3)}});
  EXPECT_THAT(Refusal(builder), HasSubstr("OneHot")) << "OneHot of a float";
  GraphBuilder other = RowsMap(0, 3);
  other.Step("OneHot", {"value"}, {"hot"}, {{"num_classes", IntValue(3)}});
  other.Step("TypeCast", {"value"}, {"value"}, {{"dtype", StringValue("uint8")}});
  const Ran ran = RunEveryWay(other);
  EXPECT_THAT(ran.Texts(0)[2], HasSubstr("value=2, hot="));
  EXPECT_EQ(ran.rows[0].columns[0].dtype(), DType::kUInt8);
}

TEST(Map, CallsTheUsersFunction) {
  GraphBuilder builder = RowsMap(0, 4);
  builder.Step("PythonFunction", {"value"}, {"value"}, {{"function", ir::ReferenceValue("double")}});
  EXPECT_THAT(RunEveryWay(builder, WithFunction()).Ints(), ElementsAre(0, 2, 4, 6));
}

TEST(Map, GivesAFunctionTheRowsOwnNumbers) {
  GraphBuilder builder = RowsMap(0, 4);
  builder.Step("PythonFunction", {"value"}, {"value"},
               {{"function", ir::ReferenceValue("double")}, {"random", ir::BoolValue(true)}});
  const Ran ran = RunEveryWay(builder, WithFunction());
  EXPECT_NE(ran.Ints(0, 0), ran.Ints(0, 1)) << "another epoch draws anew";
}

TEST(Map, NamesTheRowThatFailedAndKeepsThoseBefore) {
  GraphBuilder builder = RowsMap(10, 20);
  builder.Step("PythonFunction", {"value"}, {"value"}, {{"function", ir::ReferenceValue("double")}});
  const Ran ran = RunEveryWay(builder, WithFunction());
  EXPECT_THAT(ran.Ints(), ElementsAre(20, 22, 24));
  EXPECT_EQ(GetErrorField(ran.error, ErrorField::kOperator), "map[1] PythonFunction");
  EXPECT_THAT(GetErrorField(ran.error, ErrorField::kRow), HasSubstr("key 3"));
  EXPECT_THAT(GetErrorField(ran.error, ErrorField::kLocation), HasSubstr("test.py"));
}

// The steps of a map with a function in processes: before it, itself and after it.
GraphBuilder RowsInRuns(int64_t start, int64_t stop) {
  GraphBuilder builder = RowsMap(start, stop);
  builder.Step("TypeCast", {"value"}, {"before"}, {{"dtype", StringValue("int32")}});
  builder.Step("PythonFunction", {"value"}, {"value"}, {{"function", ir::ReferenceValue("double")}});
  builder.Step("TypeCast", {"value"}, {"after"}, {{"dtype", StringValue("float32")}});
  return builder;
}

TEST(Map, MakesRunsOfCallsThatGiveTheSameRows) {
  // The shorter one is restarted after each row. Of the longer one all rows are kept at a cache point, or none.
  for (const int64_t rows : {9, 3000}) {
    const int apart = rows > 9 ? static_cast<int>(OneIn({.quick = 3, .sanitized = 2})) : 1;
    for (int kept_point = -1; kept_point <= 1; kept_point += apart) {
      const auto function = std::make_shared<DoublingInRuns>();
      RunSpec spec;
      spec.bindings.functions["double"] = function;
      spec.restart_every = rows > 9 ? 1000 : 1;
      spec.kept_point = kept_point;
      const Ran ran = RunEveryWay(RowsInRuns(20, 20 + rows), spec);
      EXPECT_TRUE(ran.error.ok());
      EXPECT_EQ(ran.rows.size(), static_cast<size_t>(2 * rows));
      if (kept_point < 0) {
        EXPECT_GT(function->runs(), 0);
      }
    }
  }
}

TEST(Map, LeavesOutTheRowsOfARunThatFail) {
  RunSpec spec;
  const auto function = std::make_shared<DoublingInRuns>();
  spec.bindings.functions["double"] = function;
  GraphBuilder builder = RowsInRuns(0, 2000);
  const Ran failed = RunEveryWay(builder, spec);
  EXPECT_EQ(failed.rows.size(), 13u);
  EXPECT_EQ(GetErrorField(failed.error, ErrorField::kOperator), "map[1] PythonFunction");
  EXPECT_THAT(GetErrorField(failed.error, ErrorField::kRow), HasSubstr("key 13"));
  EXPECT_THAT(GetErrorField(failed.error, ErrorField::kLocation), HasSubstr("test.py"));
  spec.restart_every = 1000;
  const Ran ran = RunEveryWay(builder.SkipFailed(1), spec);
  EXPECT_TRUE(ran.error.ok());
  EXPECT_EQ(ran.rows.size(), 2u * 1999);
  EXPECT_GT(function->runs(), 0);
}

TEST(Map, PassesEmptyMessagesToWhatReadsItsNewColumns) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(6)}});
  const ir::proto::Expression odd = ir::CallExpression(
      "==", ir::CallExpression("%", ir::ColumnExpression("value"), ir::LiteralExpression(IntValue(2))),
      ir::LiteralExpression(IntValue(1)));
  builder.Add("filter", {0}, {{"predicate", ir::ExpressionValue(odd)}});
  builder.Add("map", {1});
  builder.Step("TypeCast", {"value"}, {"same"}, {{"dtype", StringValue("int64")}});
  builder.Add("project", {2}, {{"columns", ir::StringsValue({"same"})}});
  EXPECT_THAT(RunEveryWay(builder).Ints(), ElementsAre(1, 3, 5));
}

TEST(Map, RefusesAFunctionThatIsNotHere) {
  GraphBuilder builder = RowsMap(0, 3);
  builder.Step("PythonFunction", {"value"}, {"value"}, {{"function", ir::ReferenceValue("elsewhere")}});
  EXPECT_THAT(Refusal(builder), HasSubstr("elsewhere is not here"));
}

}  // namespace
}  // namespace headrace
