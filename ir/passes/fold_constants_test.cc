#include "ir/passes/fold_constants.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "ir/dump.h"
#include "ir/expression.h"
#include "ir/expression_eval.h"
#include "ir/graph.pb.h"
#include "ir/testing/fake_ops.h"
#include "ir/value_text.h"

namespace headrace::ir {
namespace {

using Expression = proto::Expression;

Expression IntFoldConstants(int64_t value) { return LiteralExpression(IntValue(value)); }
Expression Real(double value) { return LiteralExpression(FloatValue(value)); }
Expression Bool(bool value) { return LiteralExpression(BoolValue(value)); }
Expression ColFoldConstants(std::string_view name) { return ColumnExpression(name); }
Expression Call(std::string_view function, Expression a, Expression b) {
  return CallExpression(function, std::move(a), std::move(b));
}

const Schema& ColumnsFoldConstants() {
  static const Schema schema = {{{"i", ColumnType::Of(DType::kInt32, {})},
                                 {"f", ColumnType::Of(DType::kFloat32, {})},
                                 {"b", ColumnType::Of(DType::kBool, {})},
                                 {"unknown", ColumnType::Unknown()}}};
  return schema;
}

std::string TextOf(const Expression& expression) { return ExpressionText(Folded(expression, ColumnsFoldConstants())); }

TEST(FoldConstants, Computes) {
  EXPECT_EQ(TextOf(Call("<", ColFoldConstants("i"), Call("*", IntFoldConstants(6), IntFoldConstants(7)))),
            "col(\"i\") < 42");
  EXPECT_EQ(TextOf(Call("==", ColFoldConstants("f"), Call("/", IntFoldConstants(1), IntFoldConstants(4)))),
            "col(\"f\") == 0.25");
  EXPECT_EQ(TextOf(Call("<", IntFoldConstants(3), Real(3.5))), "True");
  EXPECT_EQ(TextOf(CallExpression(
                "not", Call("==", LiteralExpression(StringValue("a")), LiteralExpression(StringValue("b"))))),
            "True");
  const std::vector<int64_t> listed = {1, 2};
  EXPECT_EQ(
      TextOf(Call("in", Call("+", IntFoldConstants(1), IntFoldConstants(1)), LiteralExpression(IntsValue(listed)))),
      "True");
  EXPECT_EQ(TextOf(Call("in", ColFoldConstants("i"), LiteralExpression(IntsValue(listed)))), "col(\"i\") in (1, 2)");
}

TEST(FoldConstants, KeepsWhatIsAnErrorOfARow) {
  EXPECT_EQ(TextOf(Call("<", ColFoldConstants("i"), Call("//", IntFoldConstants(1), IntFoldConstants(0)))),
            "col(\"i\") < (1 // 0)");
}

TEST(FoldConstants, OfAndAndOr) {
  const Expression can_fail = Call("==", Call("//", IntFoldConstants(1), ColFoldConstants("i")), IntFoldConstants(1));
  const Expression cannot_fail = Call("<", ColFoldConstants("i"), IntFoldConstants(3));
  EXPECT_EQ(TextOf(Call("and", Bool(false), can_fail)), "False");
  EXPECT_EQ(TextOf(Call("or", Bool(true), can_fail)), "True");
  EXPECT_EQ(TextOf(Call("and", Bool(true), can_fail)), ExpressionText(can_fail));
  EXPECT_EQ(TextOf(Call("or", can_fail, Bool(false))), ExpressionText(can_fail));
  EXPECT_EQ(TextOf(Call("and", can_fail, Bool(false))), ExpressionText(Call("and", can_fail, Bool(false))));
  EXPECT_EQ(TextOf(Call("and", cannot_fail, Bool(false))), "False");
  EXPECT_EQ(TextOf(Call("or", cannot_fail, Bool(true))), "True");
}

// What is of no known type may be no bool, and then it is an error.
TEST(FoldConstants, KeepsWhatMayBeNoBool) {
  const Expression second = Call("and", Bool(true), ColFoldConstants("unknown"));
  EXPECT_EQ(TextOf(second), ExpressionText(second));
  const Expression first = Call("or", ColFoldConstants("unknown"), Bool(true));
  EXPECT_EQ(TextOf(first), ExpressionText(first));
}

TEST(FoldConstants, OfAFilter) {
  GraphBuilder builder;
  builder.Add("numbers");
  builder.Add("filter", {0},
              {{"predicate", ExpressionValue(Call("and", Call("<", IntFoldConstants(1), IntFoldConstants(2)),
                                                  Call("<", ColFoldConstants("value"), IntFoldConstants(5))))}});
  EXPECT_EQ(GraphDump(*FoldConstants(builder.Canonical())),
            "#0  numbers(stop=10)\n"
            "#1  filter(#0, predicate=col(\"value\") < 5)\n");
}

class RandomExpression {
 public:
  explicit RandomExpression(uint64_t seed) : random_(seed) {}

  Expression Truth(int depth) {
    const uint64_t kind = Below(depth == 0 ? 2 : 6);
    if (kind == 0) return Below(4) == 0 ? ColFoldConstants("unknown") : ColFoldConstants("b");
    if (kind == 1) return Bool(Below(2) == 0);
    if (kind == 2) return CallExpression("not", Truth(depth - 1));
    if (kind == 3) return Call(Any({"<", "<=", ">", ">=", "==", "!="}), Number(depth - 1), Number(depth - 1));
    return Call(Any({"and", "or"}), Truth(depth - 1), Truth(depth - 1));
  }

 private:
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  std::string_view Any(std::vector<std::string_view> names) { return names[Below(names.size())]; }

  Expression Number(int depth) {
    const uint64_t kind = Below(depth <= 0 ? 4 : 7);
    if (kind == 0) return ColFoldConstants("i");
    if (kind == 1) return ColFoldConstants("f");
    if (kind == 2) return IntFoldConstants(static_cast<int64_t>(Below(7)) - 3);
    if (kind == 3) return Real(static_cast<double>(Below(70)) / 10 - 3);
    if (kind == 4) return CallExpression(Any({"neg", "abs"}), Number(depth - 1));
    return Call(Any({"+", "-", "*", "/", "//", "%"}), Number(depth - 1), Number(depth - 1));
  }

  std::mt19937_64 random_;
};

std::string Result(const Expression& expression, const std::map<std::string, Tensor>& row) {
  const absl::StatusOr<bool> result = EvaluatePredicate(expression, [&](std::string_view name) {
    const auto found = row.find(std::string(name));
    return found == row.end() ? nullptr : &found->second;
  });
  return result.ok() ? (*result ? "True" : "False") : result.status().ToString();
}

TEST(FoldConstants, OfRandomExpressionsGivesTheSame) {
  constexpr int kExpressions = 20000;
  int folded = 0;
  for (int seed = 0; seed < kExpressions; ++seed) {
    const Expression expression = RandomExpression(seed).Truth(5);
    if (!InferExpression(expression, ColumnsFoldConstants()).ok()) continue;
    const Expression after = Folded(expression, ColumnsFoldConstants());
    folded += ExpressionText(after) != ExpressionText(expression) ? 1 : 0;
    for (int32_t i = -2; i < 3; ++i) {
      const std::map<std::string, Tensor> row = {{"i", *Tensor::Scalar(i)},
                                                 {"f", *Tensor::Scalar(static_cast<float>(i) * 0.7f)},
                                                 {"b", *Tensor::Scalar(i % 2 == 0)},
                                                 {"unknown", i < 0 ? *Tensor::Scalar(i) : *Tensor::Scalar(i == 1)}};
      const std::string expected = Result(expression, row);
      const std::string got = Result(after, row);
      // An error quotes the expression that gives no bool.
      const bool quotes = expected.find("it must give a bool") != std::string::npos;
      ASSERT_TRUE(got == expected || (quotes && got.find("it must give a bool") != std::string::npos))
          << ExpressionText(expression) << " became " << ExpressionText(after) << " for row " << i << ": " << expected
          << " became " << got;
    }
  }
  EXPECT_GT(folded, kExpressions / 10);
  std::printf("HEADRACE-COUNT fuzz=%d\n", kExpressions);
}

}  // namespace
}  // namespace headrace::ir
