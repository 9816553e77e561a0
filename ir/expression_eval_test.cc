#include "ir/expression_eval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "core/error.h"
#include "ir/expression.h"
#include "ir/graph.pb.h"
#include "ir/value.h"
#include "ir/value_text.h"

namespace headrace::ir {
namespace {

using Row = std::map<std::string, Tensor, std::less<>>;

Tensor Half(DType dtype, uint16_t bits) {
  Tensor tensor = *Tensor::Allocate(dtype, {});
  std::memcpy(tensor.mutable_raw(), &bits, sizeof(bits));
  return tensor;
}

const Row& ColumnsExpressionEval() {
  static const Row* row = new Row{
      {"i8", *Tensor::Scalar<int8_t>(100)},
      {"i32", *Tensor::Scalar<int32_t>(-7)},
      {"u8", *Tensor::Scalar<uint8_t>(200)},
      {"u64", *Tensor::Scalar<uint64_t>(std::numeric_limits<uint64_t>::max())},
      {"least", *Tensor::Scalar<int64_t>(std::numeric_limits<int64_t>::min())},
      {"zero", *Tensor::Scalar<int32_t>(0)},
      {"f16", Half(DType::kFloat16, 0x3e00)},    // 1.5
      {"bf16", Half(DType::kBFloat16, 0x3fc0)},  // 1.5
      {"f32", *Tensor::Scalar<float>(0.1f)},
      {"f64", *Tensor::Scalar<double>(0.1)},
      {"nan", *Tensor::Scalar<double>(NAN)},
      {"yes", *Tensor::Scalar<bool>(true)},
      {"path", *Tensor::CopyBytes(DType::kString, "cat/1.jpg")},
      {"data", *Tensor::CopyBytes(DType::kBytes, "cat/1.jpg")},
      {"image", *Tensor::Allocate(DType::kUInt8, {2, 3})},
  };
  return *row;
}

const Tensor* Lookup(std::string_view name) {
  auto found = ColumnsExpressionEval().find(name);
  return found == ColumnsExpressionEval().end() ? nullptr : &found->second;
}

proto::Expression ColExpressionEval(std::string_view name) { return ColumnExpression(name); }
proto::Expression IntExpressionEval(int64_t value) { return LiteralExpression(IntValue(value)); }
proto::Expression FloatExpressionEval(double value) { return LiteralExpression(FloatValue(value)); }
proto::Expression TextExpressionEval(std::string_view value) { return LiteralExpression(StringValue(value)); }

// "int32 -4", or the error.
std::string Show(const proto::Expression& expression) {
  absl::StatusOr<Tensor> tensor = EvaluateExpression(expression, Lookup);
  if (!tensor.ok()) return std::string(tensor.status().message());
  const std::string dtype(DTypeName(tensor->dtype()));
  switch (tensor->dtype()) {
    case DType::kBool:
      return tensor->value<bool>() ? "True" : "False";
    case DType::kInt8:
      return Cat(dtype, " ", tensor->value<int8_t>());
    case DType::kUInt8:
      return Cat(dtype, " ", tensor->value<uint8_t>());
    case DType::kInt16:
      return Cat(dtype, " ", tensor->value<int16_t>());
    case DType::kInt32:
      return Cat(dtype, " ", tensor->value<int32_t>());
    case DType::kInt64:
      return Cat(dtype, " ", tensor->value<int64_t>());
    case DType::kUInt64:
      return Cat(dtype, " ", tensor->value<uint64_t>());
    case DType::kFloat32:
      return Cat(dtype, " ", FloatText(tensor->value<float>()));
    case DType::kFloat64:
      return Cat(dtype, " ", FloatText(tensor->value<double>()));
    default:
      return Cat(dtype, " ", tensor->bytes_value());
  }
}

std::string Show(std::string_view function, proto::Expression a, proto::Expression b) {
  return Show(CallExpression(function, std::move(a), std::move(b)));
}

TEST(EvaluateExpression, ComputesAsNumPy) {
  EXPECT_EQ(Show("+", ColExpressionEval("i32"), IntExpressionEval(3)), "int32 -4");
  EXPECT_EQ(Show("//", ColExpressionEval("i32"), IntExpressionEval(2)), "int32 -4");
  EXPECT_EQ(Show("%", ColExpressionEval("i32"), IntExpressionEval(2)), "int32 1");
  EXPECT_EQ(Show("%", ColExpressionEval("i32"), IntExpressionEval(-2)), "int32 -1");
  EXPECT_EQ(Show("/", ColExpressionEval("i32"), IntExpressionEval(2)), "float64 -3.5");
  EXPECT_EQ(Show("+", ColExpressionEval("i8"), IntExpressionEval(100)), "int8 -56");
  EXPECT_EQ(Show("+", ColExpressionEval("u8"), ColExpressionEval("i8")), "int16 300");
  EXPECT_EQ(Show("*", ColExpressionEval("u64"), ColExpressionEval("u64")), "uint64 1");
  EXPECT_EQ(Show("//", ColExpressionEval("least"), IntExpressionEval(-1)), "int64 -9223372036854775808");
  EXPECT_EQ(Show("*", ColExpressionEval("least"), ColExpressionEval("least")), "int64 0");
  EXPECT_EQ(Show(CallExpression("neg", ColExpressionEval("u8"))), "uint8 56");
  EXPECT_EQ(Show(CallExpression("abs", ColExpressionEval("i32"))), "int32 7");
  EXPECT_EQ(Show("*", ColExpressionEval("f64"), IntExpressionEval(3)), "float64 0.30000000000000004");
  EXPECT_EQ(Show("+", ColExpressionEval("f16"), ColExpressionEval("f16")), "float32 3.0");
  EXPECT_EQ(Show("+", ColExpressionEval("bf16"), IntExpressionEval(1)), "float32 2.5");
  EXPECT_EQ(Show(CallExpression("neg", ColExpressionEval("f16"))), "float32 -1.5");
  EXPECT_EQ(Show("//", FloatExpressionEval(-7.5), FloatExpressionEval(2)), "float64 -4.0");
  EXPECT_EQ(Show("%", FloatExpressionEval(-7.5), FloatExpressionEval(2)), "float64 0.5");
  EXPECT_EQ(Show("/", FloatExpressionEval(1), FloatExpressionEval(0)), "float64 float('inf')");
}

TEST(EvaluateExpression, ComparesExactly) {
  EXPECT_EQ(Show("<", ColExpressionEval("i32"), ColExpressionEval("u64")), "True");
  EXPECT_EQ(Show("==", ColExpressionEval("u64"), FloatExpressionEval(0x1p64)), "False");
  EXPECT_EQ(Show("<", ColExpressionEval("u64"), FloatExpressionEval(0x1p64)), "True");
  EXPECT_EQ(Show(">=", ColExpressionEval("i32"), FloatExpressionEval(-7.5)), "True");
  EXPECT_EQ(Show("<", FloatExpressionEval(INFINITY), IntExpressionEval(3)), "False");
  EXPECT_EQ(Show("==", ColExpressionEval("f32"), FloatExpressionEval(0.1)), "True");
  EXPECT_EQ(Show("==", ColExpressionEval("f32"), ColExpressionEval("f64")), "False");
  EXPECT_EQ(Show("<", ColExpressionEval("nan"), IntExpressionEval(0)), "False");
  EXPECT_EQ(Show("!=", ColExpressionEval("nan"), ColExpressionEval("nan")), "True");
  EXPECT_EQ(Show("==", ColExpressionEval("path"), TextExpressionEval("cat/1.jpg")), "True");
  EXPECT_EQ(Show("<", ColExpressionEval("data"), TextExpressionEval("cow")), "True");
  EXPECT_EQ(Show("==", ColExpressionEval("yes"), LiteralExpression(BoolValue(true))), "True");
}

TEST(EvaluateExpression, CombinesAndLooksInLists) {
  const auto in = [](proto::Expression a, proto::Value list) {
    return Show("in", std::move(a), LiteralExpression(std::move(list)));
  };
  EXPECT_EQ(in(ColExpressionEval("i32"), IntsValue({1, -7})), "True");
  EXPECT_EQ(in(ColExpressionEval("i32"), FloatsValue({-7.5})), "False");
  EXPECT_EQ(in(ColExpressionEval("path"), StringsValue({"a", "cat/1.jpg"})), "True");
  EXPECT_EQ(Show(CallExpression("not", ColExpressionEval("yes"))), "False");
  EXPECT_EQ(Show("or", ColExpressionEval("yes"),
                 CallExpression("==", CallExpression("//", IntExpressionEval(1), ColExpressionEval("zero")),
                                IntExpressionEval(1))),
            "True");
  EXPECT_EQ(Show("and", ColExpressionEval("yes"), CallExpression("<", ColExpressionEval("i32"), IntExpressionEval(0))),
            "True");
  EXPECT_EQ(Show(ColExpressionEval("path")), "string cat/1.jpg");
}

TEST(EvaluateExpression, NamesTheCulprit) {
  EXPECT_EQ(Show("+", ColExpressionEval("image"), IntExpressionEval(1)),
            "column \"image\" is uint8 (2, 3); an expression reads scalar columns only");
  EXPECT_EQ(Show(ColExpressionEval("lost")), "no column \"lost\"");
  EXPECT_EQ(Show("<", ColExpressionEval("path"), IntExpressionEval(1)), "cannot compare string and int64");
  EXPECT_EQ(Show("and", ColExpressionEval("i32"), ColExpressionEval("yes")), "\"and\" needs two bools; got int32");
  const absl::Status by_zero =
      EvaluateExpression(CallExpression("%", IntExpressionEval(7), ColExpressionEval("zero")), Lookup).status();
  EXPECT_EQ(by_zero.message(), "division of 7 by zero in an expression");
  EXPECT_EQ(KindOf(by_zero), ErrorKind::kData);
  const absl::Status largest =
      EvaluateExpression(CallExpression("//", ColExpressionEval("u64"), IntExpressionEval(0)), Lookup).status();
  EXPECT_EQ(largest.message(), "division of 18446744073709551615 by zero in an expression");
}

TEST(EvaluatePredicate, WantsABool) {
  EXPECT_EQ(*EvaluatePredicate(CallExpression("<", ColExpressionEval("i32"), IntExpressionEval(0)), Lookup), true);
  EXPECT_EQ(EvaluatePredicate(ColExpressionEval("i32"), Lookup).status().message(),
            "col(\"i32\") gives int32; it must give a bool");
}

// A predicate finds in long lists what a search from their start finds, and fails for the same columns.
TEST(Predicate, LooksInLongListsAsInShortOnes) {
  std::vector<int64_t> integers = {
      3, -7, 0, 255, 1, std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  std::vector<double> reals = {0.5, 0.1, -7.0, 255, 0x1p64, 0x1p63, -0.0, INFINITY, NAN, 1.5};
  std::vector<std::string> texts = {"cow", "cat/1.jpg", ""};
  for (int i = 0; i < 50; ++i) {
    integers.push_back(1000 + i);
    reals.push_back(1000 + i + 0.25);
    texts.push_back(Cat("text ", i));
  }
  const std::vector<proto::Value> lists = {IntsValue(integers), FloatsValue(reals), StringsValue(texts),
                                           IntsValue({2, 4, 6, 8, 10, 12, 14, 16, 18})};
  std::vector<proto::Expression> values = {
      IntExpressionEval(255),    IntExpressionEval(1000),   FloatExpressionEval(0.1),    FloatExpressionEval(1000.25),
      FloatExpressionEval(-0.0), TextExpressionEval("cow"), FloatExpressionEval(0x1p64), FloatExpressionEval(1e300)};
  for (const auto& [name, tensor] : ColumnsExpressionEval()) values.push_back(ColExpressionEval(name));
  for (const char* name : {"f32", "u64", "f16", "i32"})
    values.push_back(CallExpression("+", ColExpressionEval(name), IntExpressionEval(1)));
  int found = 0;
  for (const proto::Value& list : lists) {
    for (const proto::Expression& value : values) {
      const proto::Expression in = CallExpression("in", value, LiteralExpression(list));
      const absl::StatusOr<bool> expected = EvaluatePredicate(in, Lookup);
      const Predicate predicate(in);
      const absl::StatusOr<bool> result = predicate.Evaluate(Lookup);
      ASSERT_EQ(result.ok(), expected.ok()) << ExpressionText(value) << expected.status() << result.status();
      EXPECT_EQ(result.status().message(), expected.status().message());
      if (!result.ok()) continue;
      EXPECT_EQ(*result, *expected) << ExpressionText(in);
      found += *result ? 1 : 0;
    }
  }
  EXPECT_GT(found, 8);
}

// The types promised before the run are those of the run.
TEST(EvaluateExpression, GivesTheInferredType) {
  Schema schema;
  std::vector<proto::Expression> operands = {IntExpressionEval(3), FloatExpressionEval(0.5)};
  for (const auto& [name, tensor] : ColumnsExpressionEval()) {
    schema.columns.push_back({name, ColumnType::Of(tensor.dtype(), tensor.shape())});
    if (tensor.rank() == 0) operands.push_back(ColExpressionEval(name));
  }
  int agreed = 0;
  for (const char* function : {"+", "-", "*", "/", "//", "%", "<", "==", "and"}) {
    for (const proto::Expression& a : operands) {
      for (const proto::Expression& b : operands) {
        const proto::Expression expression = CallExpression(function, a, b);
        absl::StatusOr<ColumnType> type = InferExpression(expression, schema);
        absl::StatusOr<Tensor> tensor = EvaluateExpression(expression, Lookup);
        if (!tensor.ok() && KindOf(tensor.status()) == ErrorKind::kData) continue;
        ASSERT_EQ(type.ok(), tensor.ok()) << ExpressionText(expression) << type.status() << tensor.status();
        if (!type.ok()) continue;
        ASSERT_EQ(type->dtype, tensor->dtype()) << ExpressionText(expression);
        ++agreed;
      }
    }
  }
  EXPECT_GT(agreed, 500);
}

}  // namespace
}  // namespace headrace::ir
