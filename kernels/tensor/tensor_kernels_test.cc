// OneHot, Fill, Slice, Concatenate, Stack, Duplicate, Mask and PadEnd on small tensors written out.
#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::InferType;
using fixture::Ints;
using fixture::MessageOf;
using fixture::RunKernel;
using fixture::WithGaps;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename T>
Tensor Of(Shape shape, std::initializer_list<T> values) {
  Tensor tensor = *Tensor::Allocate(DTypeOf<T>::value, shape);
  std::copy(values.begin(), values.end(), tensor.mutable_data<T>());
  return tensor;
}

template <typename T>
std::vector<T> ValuesOf(const Tensor& tensor) {
  const Tensor dense = *tensor.Contiguous();
  return std::vector<T>(dense.data<T>(), dense.data<T>() + dense.elements());
}

std::vector<std::string> TextsOf(const Tensor& tensor) {
  std::vector<std::string> texts;
  for (int64_t i = 0; i < tensor.elements(); ++i) texts.emplace_back(tensor.bytes_at(i));
  return texts;
}

Tensor Texts(Shape shape, std::vector<std::string_view> texts) {
  return *Tensor::CopyBytesArray(DType::kString, shape, texts);
}

fixture::Given Int(std::string name, int64_t value) { return {{std::move(name), ir::IntValue(value)}}; }

TEST(OneHot, MarksTheClass) {
  const Tensor scalar = *RunKernel("OneHot", Int("num_classes", 4), *Tensor::Scalar<int32_t>(2));
  EXPECT_EQ(scalar.TypeName(), "float32 (4,)");
  EXPECT_THAT(ValuesOf<float>(scalar), ElementsAre(0, 0, 1, 0));
  const Tensor many = *RunKernel("OneHot", {{"num_classes", ir::IntValue(3)}, {"dtype", ir::StringValue("int64")}},
                                 WithGaps(Of<uint8_t>({1, 2}, {1, 0})));
  EXPECT_EQ(many.TypeName(), "int64 (1, 2, 3)");
  EXPECT_THAT(ValuesOf<int64_t>(many), ElementsAre(0, 1, 0, 1, 0, 0));
}

TEST(OneHot, SpreadsAShareOfTheLabel) {
  const fixture::Given given = {{"num_classes", ir::IntValue(4)}, {"smoothing", ir::FloatValue(0.2)}};
  const std::vector<float> smooth = ValuesOf<float>(*RunKernel("OneHot", given, *Tensor::Scalar<int32_t>(1)));
  EXPECT_THAT(smooth, ElementsAre(static_cast<float>(0.2 / 4), static_cast<float>(1 - 0.2 + 0.2 / 4),
                                  static_cast<float>(0.2 / 4), static_cast<float>(0.2 / 4)));
  const fixture::Given whole = {
      {"num_classes", ir::IntValue(4)}, {"smoothing", ir::FloatValue(0.2)}, {"dtype", ir::StringValue("int32")}};
  EXPECT_THAT(MessageOf(RunKernel("OneHot", whole, *Tensor::Scalar<int32_t>(1))),
              HasSubstr("smoothing = 0.2 gives fractions, which dtype = int32 cannot hold"));
  EXPECT_FALSE(InferType("OneHot", whole, {ir::ColumnType::Of(DType::kInt8, {})}).ok());
}

TEST(OneHot, RefusesClassesOutside) {
  const auto past = RunKernel("OneHot", Int("num_classes", 3), Of<int32_t>({2}, {1, 3}));
  EXPECT_EQ(KindOf(past.status()), ErrorKind::kData);
  EXPECT_THAT(MessageOf(past), HasSubstr("class 3 is not one of 0 … 2"));
  EXPECT_FALSE(RunKernel("OneHot", Int("num_classes", 3), *Tensor::Scalar<int64_t>(-1)).ok());
  EXPECT_THAT(MessageOf(RunKernel("OneHot", Int("num_classes", 3), *Tensor::Scalar(1.0f))),
              HasSubstr("got float32 ()"));
  EXPECT_FALSE(RunKernel("OneHot", Int("num_classes", 0), *Tensor::Scalar<int64_t>(0)).ok());
}

TEST(Fill, ReplacesEveryElement) {
  const Tensor filled = *RunKernel("Fill", {{"value", ir::FloatValue(-3)}}, WithGaps(Of<int16_t>({2, 3}, {1, 2, 3})));
  EXPECT_EQ(filled.TypeName(), "int16 (2, 3)");
  EXPECT_THAT(ValuesOf<int16_t>(filled), ElementsAre(-3, -3, -3, -3, -3, -3));
  EXPECT_EQ(RunKernel("Fill", {{"value", ir::FloatValue(0.5)}}, *Tensor::Scalar(1.0f))->value<float>(), 0.5f);
  EXPECT_EQ(RunKernel("Fill", {{"value", ir::IntValue(1)}}, *Tensor::Scalar(false))->value<bool>(), true);
  EXPECT_EQ(RunKernel("Fill", {{"value", ir::IntValue(1)}}, *Tensor::Allocate(DType::kInt8, {0, 3}))->elements(), 0);
}

TEST(Fill, RefusesWhatDoesNotFit) {
  const auto fraction = RunKernel("Fill", {{"value", ir::FloatValue(0.5)}}, *Tensor::Scalar<int32_t>(1));
  EXPECT_EQ(KindOf(fraction.status()), ErrorKind::kGraph);
  EXPECT_THAT(MessageOf(fraction), HasSubstr("value = 0.5 does not fit dtype int32"));
  EXPECT_FALSE(RunKernel("Fill", {{"value", ir::FloatValue(-1)}}, *Tensor::Scalar<uint8_t>(1)).ok());
  EXPECT_FALSE(RunKernel("Fill", {{"value", ir::FloatValue(1)}}, Texts({}, {"a"})).ok());
  EXPECT_FALSE(InferType("Fill", {{"value", ir::FloatValue(0.5)}}, {ir::ColumnType::Of(DType::kInt8, {})}).ok());
}

fixture::Given Range(std::optional<int64_t> start, std::optional<int64_t> stop, int64_t step = 1, int64_t axis = 0) {
  const auto value = [](std::optional<int64_t> end) { return end ? ir::IntValue(*end) : ir::NoneValue(); };
  return {{"start", value(start)}, {"stop", value(stop)}, {"step", ir::IntValue(step)}, {"axis", ir::IntValue(axis)}};
}

TEST(Slice, FollowsPython) {
  const Tensor five = Of<int32_t>({5}, {0, 1, 2, 3, 4});
  const auto slice = [&](const fixture::Given& given) { return ValuesOf<int32_t>(*RunKernel("Slice", given, five)); };
  EXPECT_THAT(slice(Range(1, 3)), ElementsAre(1, 2));
  EXPECT_THAT(slice(Range(-2, std::nullopt)), ElementsAre(3, 4));
  EXPECT_THAT(slice(Range(std::nullopt, -3)), ElementsAre(0, 1));
  EXPECT_THAT(slice(Range(0, 100, 2)), ElementsAre(0, 2, 4));
  EXPECT_THAT(slice(Range(-100, 100, 3)), ElementsAre(0, 3));
  EXPECT_THAT(slice(Range(1, std::nullopt, 2)), ElementsAre(1, 3));
  EXPECT_THAT(slice(Range(4, 2)), ElementsAre());
  EXPECT_THAT(slice(Range(9, 12)), ElementsAre());
  EXPECT_THAT(slice(Range(std::nullopt, std::nullopt)), ElementsAre(0, 1, 2, 3, 4));
}

TEST(Slice, TakesAnyAxis) {
  const Tensor table = Of<int32_t>({2, 3}, {0, 1, 2, 3, 4, 5});
  for (const Tensor& input : {table, WithGaps(table)}) {
    EXPECT_THAT(ValuesOf<int32_t>(*RunKernel("Slice", Range(1, 3, 1, 1), input)), ElementsAre(1, 2, 4, 5));
    EXPECT_THAT(ValuesOf<int32_t>(*RunKernel("Slice", Range(0, 3, 2, -1), input)), ElementsAre(0, 2, 3, 5));
    EXPECT_THAT(ValuesOf<int32_t>(*RunKernel("Slice", Range(1, 2), input)), ElementsAre(3, 4, 5));
  }
  EXPECT_THAT(MessageOf(RunKernel("Slice", Range(0, 1, 1, 2), table)), HasSubstr("axis = 2 does not exist"));
  EXPECT_FALSE(RunKernel("Slice", Range(0, 1), *Tensor::Scalar(1)).ok());
  EXPECT_THAT(MessageOf(RunKernel("Slice", Range(0, 1, 0), table)), HasSubstr("step = 0 keeps no position"));
  EXPECT_EQ(RunKernel("Slice", Range(1, 2), table)->buffer().get(), table.buffer().get());
}

TEST(Slice, GoesBackwards) {
  const Tensor five = Of<int32_t>({5}, {0, 1, 2, 3, 4});
  const auto slice = [&](const fixture::Given& given) { return ValuesOf<int32_t>(*RunKernel("Slice", given, five)); };
  EXPECT_THAT(slice(Range(std::nullopt, std::nullopt, -1)), ElementsAre(4, 3, 2, 1, 0));
  EXPECT_THAT(slice(Range(std::nullopt, std::nullopt, -2)), ElementsAre(4, 2, 0));
  EXPECT_THAT(slice(Range(3, 0, -1)), ElementsAre(3, 2, 1));
  EXPECT_THAT(slice(Range(-2, -9, -2)), ElementsAre(3, 1));
  EXPECT_THAT(slice(Range(9, 1, -1)), ElementsAre(4, 3, 2));
  EXPECT_THAT(slice(Range(1, 3, -1)), ElementsAre());
  EXPECT_THAT(slice(Range(std::nullopt, std::nullopt, -9)), ElementsAre(4));
  const Tensor one = Of<int32_t>({1}, {7});
  EXPECT_THAT(ValuesOf<int32_t>(*RunKernel("Slice", Range(std::nullopt, std::nullopt, -1), one)), ElementsAre(7));
  const Tensor table = Of<int32_t>({2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_THAT(ValuesOf<int32_t>(*RunKernel("Slice", Range(std::nullopt, std::nullopt, -1, 1), WithGaps(table))),
              ElementsAre(2, 1, 0, 5, 4, 3));
  EXPECT_EQ(ir::TypeName(*InferType("Slice", Range(std::nullopt, 1, -2), {ir::ColumnType::Of(DType::kInt8, {6})})),
            "int8 (2,)");
}

TEST(Slice, TakesChosenPositions) {
  const Tensor table = Of<int32_t>({2, 3}, {0, 1, 2, 3, 4, 5});
  const fixture::Given last_first = {{"indices", Ints({-1, 0, 0})}, {"axis", ir::IntValue(1)}};
  EXPECT_THAT(ValuesOf<int32_t>(*RunKernel("Slice", last_first, WithGaps(table))), ElementsAre(2, 0, 0, 5, 3, 3));
  EXPECT_THAT(TextsOf(*RunKernel("Slice", {{"indices", Ints({2, 0})}}, Texts({3}, {"a", "bb", "c"}))),
              ElementsAre("c", "a"));
  EXPECT_EQ(RunKernel("Slice", {{"indices", Ints({})}}, table)->TypeName(), "int32 (0, 3)");
  // As many as there are, in another order.
  EXPECT_THAT(ValuesOf<int32_t>(*RunKernel("Slice", {{"indices", Ints({1, 0})}}, table)),
              ElementsAre(3, 4, 5, 0, 1, 2));
  EXPECT_THAT(MessageOf(RunKernel("Slice", {{"indices", Ints({0, 2})}}, table)),
              HasSubstr("indices hold 2, and the axis has 2 positions"));
  EXPECT_FALSE(RunKernel("Slice", {{"indices", Ints({-3})}}, table).ok());
  EXPECT_FALSE(RunKernel("Slice", {{"indices", Ints({0})}, {"start", ir::IntValue(1)}}, table).ok());
  const ir::ColumnType type = ir::ColumnType::Of(DType::kInt8, {5, -1});
  EXPECT_EQ(ir::TypeName(*InferType("Slice", last_first, {type})), "int8 (5, 3)");
  EXPECT_FALSE(InferType("Slice", {{"indices", Ints({5})}}, {type}).ok());
}

TEST(Slice, TakesTexts) {
  const Tensor texts = Texts({2, 2}, {"a", "bb", "", "dddd"});
  EXPECT_THAT(TextsOf(*RunKernel("Slice", Range(1, 2), texts)), ElementsAre("", "dddd"));
  EXPECT_THAT(TextsOf(*RunKernel("Slice", Range(1, 2, 1, 1), texts)), ElementsAre("bb", "dddd"));
}

TEST(Slice, InfersLengths) {
  const ir::ColumnType type = ir::ColumnType::Of(DType::kInt8, {5, -1});
  EXPECT_EQ(ir::TypeName(*InferType("Slice", Range(1, -1), {type})), "int8 (3, None)");
  EXPECT_EQ(ir::TypeName(*InferType("Slice", Range(1, 3, 1, 1), {type})), "int8 (5, None)");
}

TEST(Concatenate, JoinsAlongAnAxis) {
  const Tensor a = Of<int32_t>({2, 2}, {0, 1, 2, 3});
  const Tensor b = Of<int32_t>({2, 1}, {8, 9});
  const Tensor wide = *RunKernel("Concatenate", Int("axis", -1), {WithGaps(a), WithGaps(b), a});
  EXPECT_EQ(wide.TypeName(), "int32 (2, 5)");
  EXPECT_THAT(ValuesOf<int32_t>(wide), ElementsAre(0, 1, 8, 0, 1, 2, 3, 9, 2, 3));
  const Tensor tall = *RunKernel("Concatenate", {}, {a, a});
  EXPECT_THAT(ValuesOf<int32_t>(tall), ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
}

TEST(Concatenate, JoinsTexts) {
  const Tensor joined =
      *RunKernel("Concatenate", Int("axis", 1), {Texts({2, 1}, {"a", "bb"}), Texts({2, 1}, {"", "d"})});
  EXPECT_THAT(TextsOf(joined), ElementsAre("a", "", "bb", "d"));
}

TEST(Concatenate, NamesWhatDoesNotFit) {
  const Tensor a = Of<int32_t>({2}, {0, 1});
  const auto dtypes = RunKernel("Concatenate", {}, {a, Of<float>({2}, {0, 1})});
  EXPECT_EQ(KindOf(dtypes.status()), ErrorKind::kGraph);
  EXPECT_THAT(MessageOf(dtypes), HasSubstr("cannot join int32 (2,) and float32 (2,)"));
  EXPECT_FALSE(RunKernel("Concatenate", {}, {a, Of<int32_t>({1, 2}, {0, 1})}).ok());
  EXPECT_FALSE(RunKernel("Concatenate", {}, {*Tensor::Scalar(1)}).ok());
}

TEST(Concatenate, PutsNumbersAround) {
  const fixture::Given around = {{"prepend", Ints({101})}, {"append", Ints({102, 0})}};
  const Tensor framed = *RunKernel("Concatenate", around, {Of<int16_t>({2}, {7, 8})});
  EXPECT_EQ(framed.TypeName(), "int16 (5,)");
  EXPECT_THAT(ValuesOf<int16_t>(framed), ElementsAre(101, 7, 8, 102, 0));
  EXPECT_THAT(ValuesOf<int16_t>(*RunKernel("Concatenate", around, {*Tensor::Allocate(DType::kInt16, {0})})),
              ElementsAre(101, 102, 0));
  EXPECT_EQ(ir::TypeName(*InferType("Concatenate", around, {ir::ColumnType::Of(DType::kInt16, {4})})), "int16 (7,)");
  EXPECT_EQ(ir::TypeName(*InferType("Concatenate", around, {ir::ColumnType::Of(DType::kInt16, {-1})})),
            "int16 (None,)");
  EXPECT_FALSE(RunKernel("Concatenate", {{"append", ir::FloatsValue({0.5})}}, {Of<int16_t>({1}, {7})}).ok());
  EXPECT_FALSE(RunKernel("Concatenate", around, {Of<int16_t>({1, 1}, {7})}).ok());
  EXPECT_FALSE(InferType("Concatenate", around, {ir::ColumnType::Of(DType::kInt16, {4, 4})}).ok());
  EXPECT_FALSE(InferType("Concatenate", {{"append", Ints({-1})}}, {ir::ColumnType::Of(DType::kUInt8, {4})}).ok());
}

TEST(Concatenate, SaysWhatJoinsScalars) {
  EXPECT_THAT(MessageOf(RunKernel("Concatenate", {}, {*Tensor::Scalar(1), *Tensor::Scalar(2)})),
              HasSubstr("T.Stack() makes a vector of them"));
  EXPECT_THAT(std::string(InferType("Concatenate", {}, {ir::ColumnType::Of(DType::kInt8, {})}).status().message()),
              HasSubstr("T.Stack()"));
  // Whatever else does not fit.
  EXPECT_THAT(MessageOf(RunKernel("Concatenate", {}, {Of<int32_t>({2}, {0, 1}), *Tensor::Scalar(2.0f)})),
              HasSubstr("T.Stack() makes a vector of them, of one dtype (T.TypeCast before it"));
  for (const ir::ColumnType& other : {ir::ColumnType::Of(DType::kFloat32, {}), ir::ColumnType::Of(DType::kInt8, {4})}) {
    EXPECT_THAT(MessageOf(InferType("Concatenate", {}, {other, ir::ColumnType::Of(DType::kInt8, {})})),
                HasSubstr("T.Stack()"));
  }
  EXPECT_THAT(MessageOf(InferType("Concatenate", {},
                                  {ir::ColumnType::Of(DType::kFloat32, {4}), ir::ColumnType::Of(DType::kInt8, {4})})),
              HasSubstr("dtypes differ (T.TypeCast before it makes them equal)"));
}

TEST(Stack, JoinsAlongANewAxis) {
  const Tensor vector = *RunKernel("Stack", {}, {*Tensor::Scalar(1.5f), *Tensor::Scalar(2.5f), *Tensor::Scalar(3.5f)});
  EXPECT_EQ(vector.TypeName(), "float32 (3,)");
  EXPECT_THAT(ValuesOf<float>(vector), ElementsAre(1.5, 2.5, 3.5));
  const Tensor a = Of<int32_t>({2, 2}, {0, 1, 2, 3});
  const Tensor b = Of<int32_t>({2, 2}, {4, 5, 6, 7});
  EXPECT_THAT(ValuesOf<int32_t>(*RunKernel("Stack", {}, {a, b})), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(ValuesOf<int32_t>(*RunKernel("Stack", Int("axis", 1), {WithGaps(a), b})),
              ElementsAre(0, 1, 4, 5, 2, 3, 6, 7));
  EXPECT_THAT(ValuesOf<int32_t>(*RunKernel("Stack", Int("axis", -1), {a, b})), ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
  EXPECT_THAT(TextsOf(*RunKernel("Stack", Int("axis", 1), {Texts({2}, {"a", "bb"}), Texts({2}, {"", "d"})})),
              ElementsAre("a", "", "bb", "d"));
}

TEST(Stack, NamesWhatDiffers) {
  EXPECT_THAT(MessageOf(RunKernel("Stack", {}, {*Tensor::Scalar(1), *Tensor::Scalar(2.5f)})),
              HasSubstr("cannot stack int32 () and float32 ()"));
  EXPECT_FALSE(RunKernel("Stack", {}, {Of<int32_t>({1}, {1}), Of<int32_t>({2}, {1, 2})}).ok());
  EXPECT_FALSE(RunKernel("Stack", Int("axis", 2), {Of<int32_t>({1}, {1})}).ok());
  const ir::ColumnType a = ir::ColumnType::Of(DType::kInt8, {5, -1});
  const ir::ColumnType b = ir::ColumnType::Of(DType::kInt8, {-1, 7});
  EXPECT_EQ(ir::TypeName(*InferType("Stack", Int("axis", -1), {a, b})), "int8 (5, 7, 2)");
  EXPECT_FALSE(InferType("Stack", {}, {a, ir::ColumnType::Of(DType::kInt8, {4, 7})}).ok());
  EXPECT_FALSE(InferType("Stack", {}, {a, ir::ColumnType::Of(DType::kInt16, {5, 7})}).ok());
}

TEST(Duplicate, GivesTheTensorTwice) {
  const Tensor given = Of<int32_t>({2}, {4, 5});
  const Tensors twice = *fixture::RunKernelOutputs("Duplicate", {}, {given});
  ASSERT_EQ(twice.size(), 2u);
  for (const Tensor& each : twice) EXPECT_TRUE(TensorsEqual(each, given));
}

TEST(Mask, ComparesExactly) {
  const auto masked = [](std::string_view relation, ir::proto::Value constant, const Tensor& input) {
    return ValuesOf<bool>(*RunKernel("Mask", {{"relation", ir::StringValue(relation)}, {"constant", constant}}, input));
  };
  const Tensor numbers = Of<int16_t>({4}, {-1, 0, 1, 2});
  EXPECT_THAT(masked("==", ir::IntValue(1), numbers), ElementsAre(false, false, true, false));
  EXPECT_THAT(masked("!=", ir::IntValue(1), numbers), ElementsAre(true, true, false, true));
  EXPECT_THAT(masked("<", ir::FloatValue(0.5), WithGaps(numbers)), ElementsAre(true, true, false, false));
  EXPECT_THAT(masked("<=", ir::IntValue(0), numbers), ElementsAre(true, true, false, false));
  EXPECT_THAT(masked(">", ir::IntValue(0), numbers), ElementsAre(false, false, true, true));
  EXPECT_THAT(masked(">=", ir::IntValue(2), numbers), ElementsAre(false, false, false, true));
  // Doubles would not tell these apart.
  const int64_t large = (int64_t{1} << 60) + 1;
  EXPECT_THAT(masked("==", ir::IntValue(large), Of<int64_t>({2}, {large, large - 1})), ElementsAre(true, false));
  EXPECT_THAT(masked("<", ir::IntValue(-1), Of<uint64_t>({1}, {~uint64_t{0}})), ElementsAre(false));
  EXPECT_THAT(masked("!=", ir::FloatValue(0), Of<float>({2}, {std::nanf(""), -0.0f})), ElementsAre(true, false));
}

TEST(Mask, GivesTheTypeAskedFor) {
  const fixture::Given given = {
      {"relation", ir::StringValue(">")}, {"constant", ir::IntValue(0)}, {"dtype", ir::StringValue("float32")}};
  EXPECT_THAT(ValuesOf<float>(*RunKernel("Mask", given, Of<int8_t>({3}, {-1, 1, 0}))), ElementsAre(0, 1, 0));
  EXPECT_EQ(ir::TypeName(*InferType("Mask", given, {ir::ColumnType::Of(DType::kInt8, {3})})), "float32 (3,)");
  EXPECT_FALSE(RunKernel("Mask", given, Texts({1}, {"a"})).ok());
  EXPECT_FALSE(InferType("Mask", given, {ir::ColumnType::Of(DType::kString, {})}).ok());
}

TEST(Concatenate, InfersTheSum) {
  const ir::ColumnType a = ir::ColumnType::Of(DType::kInt8, {5, -1});
  const ir::ColumnType b = ir::ColumnType::Of(DType::kInt8, {2, 7});
  EXPECT_EQ(ir::TypeName(*InferType("Concatenate", {}, {a, b})), "int8 (7, 7)");
  EXPECT_FALSE(InferType("Concatenate", Int("axis", 1), {a, b}).ok());
}

TEST(PadEnd, FillsTheEnds) {
  const fixture::Given given = {{"shape", Ints({3, 4})}, {"value", ir::FloatValue(7)}};
  const Tensor padded = *RunKernel("PadEnd", given, WithGaps(Of<int8_t>({2, 2}, {1, 2, 3, 4})));
  EXPECT_EQ(padded.TypeName(), "int8 (3, 4)");
  EXPECT_THAT(ValuesOf<int8_t>(padded), ElementsAre(1, 2, 7, 7, 3, 4, 7, 7, 7, 7, 7, 7));
  const Tensor kept = *RunKernel("PadEnd", {{"shape", Ints({-1, 3})}}, Of<float>({1, 2}, {1, 2}));
  EXPECT_THAT(ValuesOf<float>(kept), ElementsAre(1, 2, 0));
  EXPECT_THAT(ValuesOf<int8_t>(*RunKernel("PadEnd", {{"shape", Ints({2})}}, *Tensor::Allocate(DType::kInt8, {0}))),
              ElementsAre(0, 0));
}

TEST(PadEnd, CutsOffWhenAsked) {
  const auto pad = [](std::vector<int64_t> shape, const Tensor& input) {
    return ValuesOf<int8_t>(*RunKernel(
        "PadEnd", {{"shape", ir::IntsValue(shape)}, {"value", ir::IntValue(9)}, {"truncate", ir::BoolValue(true)}},
        input));
  };
  const Tensor table = Of<int8_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(pad({1, 2}, table), ElementsAre(1, 2));
  EXPECT_THAT(pad({3, 2}, WithGaps(table)), ElementsAre(1, 2, 4, 5, 9, 9));
  EXPECT_THAT(pad({1, 4}, table), ElementsAre(1, 2, 3, 9));
  EXPECT_THAT(pad({0, 4}, table), ElementsAre());
  EXPECT_THAT(pad({-1, 1}, table), ElementsAre(1, 4));
  EXPECT_EQ(ir::TypeName(*InferType("PadEnd", {{"shape", Ints({1})}, {"truncate", ir::BoolValue(true)}},
                                    {ir::ColumnType::Of(DType::kInt8, {2})})),
            "int8 (1,)");
}

TEST(PadEnd, CutsNothingOff) {
  const auto longer = RunKernel("PadEnd", {{"shape", Ints({1})}}, Of<int8_t>({2}, {1, 2}));
  EXPECT_EQ(KindOf(longer.status()), ErrorKind::kGraph);
  EXPECT_THAT(MessageOf(longer), HasSubstr("cannot pad int8 (2,) to (1,)"));
  EXPECT_FALSE(RunKernel("PadEnd", {{"shape", Ints({2, 2})}}, Of<int8_t>({2}, {1, 2})).ok());
  EXPECT_FALSE(RunKernel("PadEnd", {{"shape", Ints({2})}}, Texts({1}, {"a"})).ok());
  EXPECT_FALSE(InferType("PadEnd", {{"shape", Ints({1})}}, {ir::ColumnType::Of(DType::kInt8, {2})}).ok());
  EXPECT_EQ(ir::TypeName(*InferType("PadEnd", {{"shape", Ints({5, -1})}}, {ir::ColumnType::AnyShape(DType::kInt8)})),
            "int8 (5, None)");
}

}  // namespace
}  // namespace headrace
