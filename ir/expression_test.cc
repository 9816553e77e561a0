#include "ir/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph_depth.h"
#include "ir/value.h"

namespace headrace::ir {
namespace {

const Schema& Columns() {
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

proto::Expression Col(std::string_view name) { return ColumnExpression(name); }
proto::Expression Int(int64_t value) { return LiteralExpression(IntValue(value)); }
proto::Expression Float(double value) { return LiteralExpression(FloatValue(value)); }
proto::Expression Text(std::string_view value) { return LiteralExpression(StringValue(value)); }

std::string TypeOf(const proto::Expression& expression) {
  absl::StatusOr<ColumnType> type = InferExpression(expression, Columns());
  return type.ok() ? std::string(DTypeName(type->dtype)) : std::string(type.status().message());
}

std::string Sum(std::string_view a, std::string_view b) { return TypeOf(CallExpression("+", Col(a), Col(b))); }

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
  EXPECT_EQ(TypeOf(CallExpression("/", Col("i32"), Col("i32"))), "float64");
  EXPECT_EQ(TypeOf(CallExpression("//", Col("i32"), Int(2))), "int32");
  EXPECT_EQ(TypeOf(CallExpression("/", Col("f32"), Int(2))), "float32");
}

TEST(Expression, TakesLiteralsAsWeak) {
  EXPECT_EQ(TypeOf(CallExpression("+", Col("i8"), Int(1))), "int8");
  EXPECT_EQ(TypeOf(CallExpression("*", Float(0.5), Col("f32"))), "float32");
  EXPECT_EQ(TypeOf(CallExpression("*", Float(0.5), Col("i32"))), "float64");
  EXPECT_EQ(TypeOf(CallExpression("+", Col("i8"), CallExpression("+", Int(1), Int(2)))), "int8");
}

TEST(Expression, RefusesLiteralsThatTheColumnCannotHold) {
  EXPECT_EQ(TypeOf(CallExpression("+", Col("i8"), Int(128))),
            "col(\"i8\") + 128 computes in int8, which does not hold 128; cast the column first, as with "
            "TypeCast(\"int64\")");
  EXPECT_EQ(TypeOf(CallExpression("+", Col("i8"), Int(127))), "int8");
  EXPECT_EQ(TypeOf(CallExpression("*", Int(-128), Col("i8"))), "int8");
  EXPECT_THAT(TypeOf(CallExpression("*", Int(-129), Col("i8"))), testing::HasSubstr("does not hold -129"));
  EXPECT_THAT(TypeOf(CallExpression("-", Col("u32"), Int(-1))), testing::HasSubstr("does not hold -1"));
  EXPECT_EQ(TypeOf(CallExpression("//", Col("u32"), Int(4294967295))), "uint32");
  EXPECT_THAT(TypeOf(CallExpression("//", Col("u32"), Int(4294967296))), testing::HasSubstr("in uint32"));
  EXPECT_EQ(TypeOf(CallExpression("+", Col("u64"), Int(std::numeric_limits<int64_t>::max()))), "uint64");
  EXPECT_EQ(TypeOf(CallExpression("+", Col("i64"), Int(std::numeric_limits<int64_t>::min()))), "int64");
  EXPECT_EQ(TypeOf(CallExpression("/", Col("i8"), Int(1000))), "float64");
  EXPECT_EQ(TypeOf(CallExpression("<", Col("i8"), Int(1000))), "bool");
  EXPECT_EQ(TypeOf(CallExpression("+", Col("f32"), Int(1000))), "float32");
}

TEST(Expression, ComparesAndCombines) {
  EXPECT_EQ(TypeOf(CallExpression("<", Col("i32"), Float(0.5))), "bool");
  EXPECT_EQ(TypeOf(CallExpression("==", Col("path"), Text("a"))), "bool");
  EXPECT_EQ(TypeOf(CallExpression("==", Col("data"), Text("a"))), "bool");
  EXPECT_EQ(TypeOf(CallExpression("and", Col("yes"), CallExpression("not", Col("yes")))), "bool");
  EXPECT_EQ(TypeOf(CallExpression("in", Col("i32"), LiteralExpression(IntsValue({1, 2})))), "bool");
  EXPECT_EQ(TypeOf(CallExpression("neg", Col("f32"))), "float32");
  EXPECT_EQ(TypeOf(CallExpression("<", Col("any"), Int(1))), "bool");
  EXPECT_EQ(TypeOf(CallExpression("+", Col("any"), Int(1))), "unknown");
}

TEST(Expression, RefusesWhatDoesNotGoTogether) {
  EXPECT_EQ(TypeOf(CallExpression("<", Col("path"), Int(1))), "col(\"path\") < 1 compares string and int64");
  EXPECT_EQ(TypeOf(CallExpression("+", Col("yes"), Int(1))), "col(\"yes\") + 1 computes with bool and int64");
  EXPECT_EQ(TypeOf(CallExpression("and", Col("i32"), Col("yes"))),
            "col(\"i32\") & col(\"yes\") needs two bools; got int32 and bool");
  EXPECT_EQ(TypeOf(CallExpression("not", Col("i32"))), "~col(\"i32\") needs a bool; got int32");
  EXPECT_EQ(TypeOf(CallExpression("in", Col("path"), LiteralExpression(IntsValue({1})))),
            "col(\"path\") in (1,) looks for string in a list of numbers");
  EXPECT_EQ(TypeOf(CallExpression("in", Col("path"), Col("path"))),
            "col(\"path\") in col(\"path\") needs a list of numbers or texts");
  EXPECT_EQ(TypeOf(Col("image")), "column \"image\" is uint8 (None, 3); an expression reads scalar columns only");
  EXPECT_EQ(TypeOf(CallExpression("pow", Int(1), Int(2))), "an expression calls \"pow\", which is not known");
  EXPECT_EQ(TypeOf(CallExpression("<", Int(1))), "\"<\" in an expression has 1 arguments; it takes 2");
  EXPECT_EQ(TypeOf(LiteralExpression(NoneValue())),
            "an expression holds None; it may hold True, False, numbers and texts");
  EXPECT_EQ(TypeOf({}), "an expression is empty");
}

TEST(Expression, ThatIsTooDeepIsRefused) {
  proto::Expression expression = Int(1);
  for (int i = 1; i < kDeepestExpression; ++i) expression = CallExpression("neg", std::move(expression));
  EXPECT_EQ(TypeOf(expression), "int64");
  EXPECT_EQ(TypeOf(CallExpression("neg", std::move(expression))),
            "an expression is nested more than 250 deep; use several filters, or isin(…) for many values");
}

TEST(Expression, KnowsItsColumnsAndItsText) {
  const proto::Expression expression =
      CallExpression("or", CallExpression("<", CallExpression("%", Col("i32"), Int(2)), Int(1)),
                     CallExpression("not", CallExpression("==", Col("path"), Text("a b"))));
  EXPECT_EQ(ExpressionText(expression), "((col(\"i32\") % 2) < 1) | ~(col(\"path\") == 'a b')");
  EXPECT_EQ(ExpressionColumns(expression), (ColumnSet{"i32", "path"}));
}

}  // namespace
}  // namespace headrace::ir
