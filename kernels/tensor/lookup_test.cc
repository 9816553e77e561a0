// Lookup: numbers of texts by a table.
#include <string>
#include <vector>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Floats;
using fixture::Given;
using fixture::InferType;
using fixture::Ints;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

Given LookupTexts(const std::vector<std::string>& texts, Given others = {}) {
  others.emplace_back("texts", ir::StringsValue(texts));
  return others;
}

Tensor WordsToLookUp(const Shape& shape, const std::vector<std::string_view>& words, DType dtype = DType::kString) {
  return *Tensor::CopyBytesArray(dtype, shape, words);
}

TEST(Lookup, GivesPlaces) {
  const Given given = LookupTexts({"cat", "", "dög"});
  const Tensor numbers = *RunKernel("Lookup", given, WordsToLookUp({2, 2}, {"dög", "cat", "", "dög"}));
  EXPECT_EQ(numbers.TypeName(), "int32 (2, 2)");
  EXPECT_THAT(std::vector<int32_t>(numbers.data<int32_t>(), numbers.data<int32_t>() + 4),
              ::testing::ElementsAre(2, 0, 1, 2));
  EXPECT_EQ(ir::TypeName(*InferType("Lookup", given, {ir::ColumnType::Of(DType::kString, {2, 2})})), "int32 (2, 2)");
}

TEST(Lookup, GivesNumbersOfAnyType) {
  const Given given = LookupTexts(
      {"low", "high"},
      {{"numbers", Floats({-0.5, 2.25})}, {"default", ir::FloatValue(9)}, {"dtype", ir::StringValue("float64")}});
  const auto number = [&](std::string_view word) {
    return RunKernel("Lookup", given, WordsToLookUp({}, {word}, DType::kBytes))->data<double>()[0];
  };
  EXPECT_EQ(number("high"), 2.25);
  EXPECT_EQ(number("low"), -0.5);
  EXPECT_EQ(number("Low"), 9);
  EXPECT_EQ(number(std::string_view("low\0", 4)), 9);
  // Not every such number is a double.
  const Given whole = LookupTexts({"x"}, {{"numbers", Ints({9007199254740993})}, {"dtype", ir::StringValue("int64")}});
  EXPECT_EQ(RunKernel("Lookup", whole, WordsToLookUp({}, {"x"}))->data<int64_t>()[0], 9007199254740993);
}

TEST(Lookup, RefusesOtherTextsWithoutADefault) {
  const auto failed = RunKernel("Lookup", LookupTexts({"cat"}), WordsToLookUp({}, {"cow\n"}));
  EXPECT_EQ(KindOf(failed.status()), ErrorKind::kData);
  EXPECT_THAT(MessageOf(failed), HasSubstr("not in the table; add it to `texts`, or give a `default`: "));
  EXPECT_THAT(MessageOf(failed), HasSubstr("cow"));
  const std::string longest(1'000'000, 'x');
  EXPECT_LT(MessageOf(RunKernel("Lookup", LookupTexts({"cat"}), WordsToLookUp({}, {longest}))).size(), 1000U);
}

TEST(Lookup, RefusesTablesThatCannotBe) {
  const std::vector<ir::ColumnType> text = {ir::ColumnType::Of(DType::kString, {})};
  const auto message = [&](const Given& given) { return MessageOf(InferType("Lookup", given, text)); };
  EXPECT_THAT(message(LookupTexts({"a", "b", "a"})), HasSubstr("one occurs twice"));
  EXPECT_THAT(message(LookupTexts({"a", "b"}, {{"numbers", Ints({1})}})), HasSubstr("2 texts and 1 numbers"));
  EXPECT_THAT(message(LookupTexts({"a"}, {{"numbers", Floats({0.5})}})), HasSubstr("int32"));
  EXPECT_THAT(message(LookupTexts({"a"}, {{"default", ir::FloatValue(300)}, {"dtype", ir::StringValue("uint8")}})),
              HasSubstr("uint8"));
  EXPECT_THAT(message(LookupTexts({"a"}, {{"dtype", ir::StringValue("string")}})), HasSubstr("holds no numbers"));
  EXPECT_FALSE(InferType("Lookup", LookupTexts({"a"}), {ir::ColumnType::Of(DType::kInt32, {})}).ok());
}

}  // namespace
}  // namespace headrace
