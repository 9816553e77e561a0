// Fuzzes expressions over a row that has a scalar of each dtype: typing, folding, writing and evaluating must agree.
#include <google/protobuf/io/coded_stream.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/testing/require.h"
#include "ir/expression.h"
#include "ir/expression_eval.h"
#include "ir/graph.pb.h"
#include "ir/graph_depth.h"
#include "ir/passes/fold_constants.h"
#include "ir/value_text.h"

namespace headrace::ir {
namespace {

struct Row {
  Row() {
    Add("b", *Tensor::Scalar(true));
    Add("i8", *Tensor::Scalar(int8_t{-128}));
    Add("i16", *Tensor::Scalar(int16_t{300}));
    Add("i32", *Tensor::Scalar(int32_t{-7}));
    Add("i64", *Tensor::Scalar((int64_t{1} << 53) + 1));
    Add("u8", *Tensor::Scalar(uint8_t{255}));
    Add("u16", *Tensor::Scalar(uint16_t{0}));
    Add("u32", *Tensor::Scalar(~uint32_t{0}));
    Add("u64", *Tensor::Scalar(~uint64_t{0}));
    Add("f32", *Tensor::Scalar(0.1f));
    Add("f64", *Tensor::Scalar(-1e300));
    Add("text", *Tensor::CopyBytes(DType::kString, "abc"));
    Add("bytes", *Tensor::CopyBytes(DType::kBytes, std::string_view("\0\xff", 2)));
  }
  void Add(std::string name, Tensor tensor) {
    schema.columns.push_back({name, ColumnType::Of(tensor.dtype(), {})});
    tensors.emplace(std::move(name), std::move(tensor));
  }

  Schema schema;
  std::map<std::string, Tensor, std::less<>> tensors;
};

// Compares bits, so that NaN equals itself.
std::string Bits(const Tensor& tensor) {
  if (IsVariableLength(tensor.dtype())) return std::string(tensor.bytes_value());
  std::string bits(tensor.bytes(), '\0');
  tensor.CopyTo(bits.data());
  return bits;
}

void Check(const proto::Expression& expression) {
  static const Row row;
  const ColumnLookup lookup = [](std::string_view name) -> const Tensor* {
    const auto found = row.tensors.find(name);
    return found == row.tensors.end() ? nullptr : &found->second;
  };
  ExpressionText(expression);
  ExpressionColumns(expression);
  const absl::StatusOr<ColumnType> type = InferExpression(expression, row.schema);
  if (!type.ok()) return;
  const absl::StatusOr<Tensor> value = EvaluateExpression(expression, lookup);
  const absl::StatusOr<Tensor> folded = EvaluateExpression(Folded(expression, row.schema), lookup);
  Require(value.ok() == folded.ok(), "a folded expression fails for the same rows");
  if (!value.ok()) {
    Require(KindOf(value.status()) == ErrorKind::kData,
            "an expression that has a type fails for the row's values alone");
    Require(!CannotFail(expression, row.schema), "what cannot fail does not");
    return;
  }
  Require(value->dtype() == type->dtype && value->rank() == 0, "the value has the type that was inferred");
  if (value->dtype() == DType::kBool) {
    const absl::StatusOr<bool> holds = Predicate(expression).Evaluate(lookup);
    Require(holds.ok() && *holds == value->value<bool>(), "a predicate for many rows gives what one evaluation gives");
  }
  Require(folded->dtype() == value->dtype() && Bits(*folded) == Bits(*value), "a folded expression has the same value");
}

}  // namespace
}  // namespace headrace::ir

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  google::protobuf::io::CodedInputStream stream(data, static_cast<int>(size));
  stream.SetRecursionLimit(headrace::ir::kDeepestMessage);
  headrace::ir::proto::Expression expression;
  if (expression.ParseFromCodedStream(&stream)) headrace::ir::Check(expression);
  return 0;
}
