#include "ir/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph.pb.h"
#include "ir/graph_depth.h"
#include "ir/value.h"
#include "ir/value_text.h"

namespace headrace::ir {
namespace {

const Schema& ColumnsExpression() {
  static const Schema schema = {{{"i8", ColumnType::Of(DType::kInt8, {})},
                                 {"i32", ColumnType::Of(DType::kInt32, {})},
                                 {"u32", ColumnType::Of(DType::kUInt32, {})},
                                 {"u64", ColumnType::Of(DType::kUInt64, {})},
                                 {"i64", ColumnType::Of(DType::kInt64, {})},
                                 {"f16", ColumnType::Of(DType::kFloat16, {})},
                                 {"f32", ColumnType::Of(DType::kFloat32, {})},
                                 {"f64", ColumnType::Of(DType::kFloat64, {})},
                                 {"yes", ColumnType::Of(DType::kBool, {})},
                                 {"path", ColumnType::Of(DType::kString, {})},
                                 {"data", ColumnType::Of(DType::kBytes, {})},
                                 {"any", ColumnType::Unknown()},
                                 {"image", ColumnType::Of(DType::kUInt8, {kUnknownDim, 3})}}};
  return schema;
}

proto::Expression ColExpression(std::string_view name) { return ColumnExpression(name); }
proto::Expression IntExpression(int64_t value) { return LiteralExpression(IntValue(value)); }
proto::Expression FloatExpression(double value) { return LiteralExpression(FloatValue(value)); }
proto::Expression TextExpression(std::string_view value) { return LiteralExpression(StringValue(value)); }

std::string TypeOf(const proto::Expression& expression) {
  absl::StatusOr<ColumnType> type = InferExpression(expression, ColumnsExpression());
  return type.ok() ? std::string(DTypeName(type->dtype)) : std::string(type.status().message());
}

std::string Sum(std::string_view a, std::string_view b) {
  return TypeOf(CallExpression("+", ColExpression(a), ColExpression(b)));
}

TEST(Expression, PromotesAsNumPyDoes) {
  EXPECT_EQ(Sum("i8", "i32"), "int32");
  EXPECT_EQ(Sum("i32", "u32"), "int64");
  EXPECT_EQ(Sum("i64", "u64"), "float64");
  EXPECT_EQ(Sum("i8", "u64"), "float64");
  EXPECT_EQ(Sum("i64", "u32"), "int64");
  EXPECT_EQ(Sum("i8", "f32"), "float32");
  EXPECT_EQ(Sum("i32", "f32"), "float64");
  EXPECT_EQ(Sum("f32", "f64"), "float64");
  EXPECT_EQ(Sum("f16", "f16"), "float32");
  EXPECT_EQ(TypeOf(CallExpression("/", ColExpression("i32"), ColExpression("i32"))), "float64");
  EXPECT_EQ(TypeOf(CallExpression("//", ColExpression("i32"), IntExpression(2))), "int32");
  EXPECT_EQ(TypeOf(CallExpression("/", ColExpression("f32"), IntExpression(2))), "float32");
}

TEST(Expression, TakesLiteralsAsWeak) {
  EXPECT_EQ(TypeOf(CallExpression("+", ColExpression("i8"), IntExpression(1))), "int8");
  EXPECT_EQ(TypeOf(CallExpression("*", FloatExpression(0.5), ColExpression("f32"))), "float32");
  EXPECT_EQ(TypeOf(CallExpression("*", FloatExpression(0.5), ColExpression("i32"))), "float64");
  EXPECT_EQ(TypeOf(CallExpression("+", ColExpression("i8"), CallExpression("+", IntExpression(1), IntExpression(2)))),
            "int8");
}

TEST(Expression, RefusesLiteralsThatTheColumnCannotHold) {
  EXPECT_EQ(TypeOf(CallExpression("+", ColExpression("i8"), IntExpression(128))),
            "col(\"i8\") + 128 computes in int8, which does not hold 128; cast the column first, as with "
            "TypeCast(\"int64\")");
  EXPECT_EQ(TypeOf(CallExpression("+", ColExpression("i8"), IntExpression(127))), "int8");
  EXPECT_EQ(TypeOf(CallExpression("*", IntExpression(-128), ColExpression("i8"))), "int8");
  EXPECT_THAT(TypeOf(CallExpression("*", IntExpression(-129), ColExpression("i8"))),
              testing::HasSubstr("does not hold -129"));
  EXPECT_THAT(TypeOf(CallExpression("-", ColExpression("u32"), IntExpression(-1))),
              testing::HasSubstr("does not hold -1"));
  EXPECT_EQ(TypeOf(CallExpression("//", ColExpression("u32"), IntExpression(4294967295))), "uint32");
  EXPECT_THAT(TypeOf(CallExpression("//", ColExpression("u32"), IntExpression(4294967296))),
              testing::HasSubstr("in uint32"));
  EXPECT_EQ(TypeOf(CallExpression("+", ColExpression("u64"), IntExpression(std::numeric_limits<int64_t>::max()))),
            "uint64");
  EXPECT_EQ(TypeOf(CallExpression("+", ColExpression("i64"), IntExpression(std::numeric_limits<int64_t>::min()))),
            "int64");
  EXPECT_EQ(TypeOf(CallExpression("/", ColExpression("i8"), IntExpression(1000))), "float64");
  EXPECT_EQ(TypeOf(CallExpression("<", ColExpression("i8"), IntExpression(1000))), "bool");
  EXPECT_EQ(TypeOf(CallExpression("+", ColExpression("f32"), IntExpression(1000))), "float32");
}

TEST(Expression, ComparesAndCombines) {
  EXPECT_EQ(TypeOf(CallExpression("<", ColExpression("i32"), FloatExpression(0.5))), "bool");
  EXPECT_EQ(TypeOf(CallExpression("==", ColExpression("path"), TextExpression("a"))), "bool");
  EXPECT_EQ(TypeOf(CallExpression("==", ColExpression("data"), TextExpression("a"))), "bool");
  EXPECT_EQ(TypeOf(CallExpression("and", ColExpression("yes"), CallExpression("not", ColExpression("yes")))), "bool");
  EXPECT_EQ(TypeOf(CallExpression("in", ColExpression("i32"), LiteralExpression(IntsValue({1, 2})))), "bool");
  EXPECT_EQ(TypeOf(CallExpression("neg", ColExpression("f32"))), "float32");
  EXPECT_EQ(TypeOf(CallExpression("<", ColExpression("any"), IntExpression(1))), "bool");
  EXPECT_EQ(TypeOf(CallExpression("+", ColExpression("any"), IntExpression(1))), "unknown");
}

TEST(Expression, RefusesWhatDoesNotGoTogether) {
  EXPECT_EQ(TypeOf(CallExpression("<", ColExpression("path"), IntExpression(1))),
            "col(\"path\") < 1 compares string and int64");
  EXPECT_EQ(TypeOf(CallExpression("+", ColExpression("yes"), IntExpression(1))),
            "col(\"yes\") + 1 computes with bool and int64");
  EXPECT_EQ(TypeOf(CallExpression("and", ColExpression("i32"), ColExpression("yes"))),
            "col(\"i32\") & col(\"yes\") needs two bools; got int32 and bool");
  EXPECT_EQ(TypeOf(CallExpression("not", ColExpression("i32"))), "~col(\"i32\") needs a bool; got int32");
  EXPECT_EQ(TypeOf(CallExpression("in", ColExpression("path"), LiteralExpression(IntsValue({1})))),
            "col(\"path\") in (1,) looks for string in a list of numbers");
  EXPECT_EQ(TypeOf(CallExpression("in", ColExpression("path"), ColExpression("path"))),
            "col(\"path\") in col(\"path\") needs a list of numbers or texts");
  EXPECT_EQ(TypeOf(ColExpression("image")),
            "column \"image\" is uint8 (None, 3); an expression reads scalar columns only");
  EXPECT_EQ(TypeOf(CallExpression("pow", IntExpression(1), IntExpression(2))),
            "an expression calls \"pow\", which is not known");
  EXPECT_EQ(TypeOf(CallExpression("<", IntExpression(1))), "\"<\" in an expression has 1 arguments; it takes 2");
  EXPECT_EQ(TypeOf(LiteralExpression(NoneValue())),
            "an expression holds None; it may hold True, False, numbers and texts");
  EXPECT_EQ(TypeOf({}), "an expression is empty");
}

TEST(Expression, ThatIsTooDeepIsRefused) {
  proto::Expression expression = IntExpression(1);
  for (int i = 1; i < kDeepestExpression; ++i) expression = CallExpression("neg", std::move(expression));
  EXPECT_EQ(TypeOf(expression), "int64");
  EXPECT_EQ(TypeOf(CallExpression("neg", std::move(expression))),
            "an expression is nested more than 250 deep; use several filters, or isin(…) for many values");
}

TEST(Expression, KnowsItsColumnsAndItsText) {
  const proto::Expression expression = CallExpression(
      "or", CallExpression("<", CallExpression("%", ColExpression("i32"), IntExpression(2)), IntExpression(1)),
      CallExpression("not", CallExpression("==", ColExpression("path"), TextExpression("a b"))));
  EXPECT_EQ(ExpressionText(expression), "((col(\"i32\") % 2) < 1) | ~(col(\"path\") == 'a b')");
  EXPECT_EQ(ExpressionColumns(expression), (ColumnSet{"i32", "path"}));
}

}  // namespace
}  // namespace headrace::ir
