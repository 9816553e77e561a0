// OneHot, Fill, Slice, Concatenate and PadEnd on small tensors written out.
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
  return {dense.data<T>(), dense.data<T>() + dense.elements()};
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
  EXPECT_FALSE(RunKernel("Slice", Range(0, 1, 0), table).ok());
  EXPECT_EQ(RunKernel("Slice", Range(1, 2), table)->buffer().get(), table.buffer().get());
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
