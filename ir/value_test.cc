#include "ir/value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "core/path_text.h"
#include "ir/graph.pb.h"
#include "ir/value_text.h"

namespace headrace::ir {
namespace {

proto::Value Parse(std::string_view text) {
  absl::StatusOr<proto::Value> value = ParseValue(text);
  EXPECT_TRUE(value.ok()) << text << ": " << value.status();
  return value.ok() ? *value : proto::Value();
}

proto::Value Fitted(const Attribute& attribute, proto::Value value) {
  FitValue(attribute, value);
  return value;
}

std::string Wrong(const Attribute& attribute, const proto::Value& value) {
  const std::vector<std::string> wrong = CheckValue(attribute, value);
  return wrong.empty() ? "" : wrong[0];
}

TEST(ValueText, IsPythonsAndReadsBack) {
  for (const char* text : {"None",
                           "True",
                           "False",
                           "0",
                           "-17",
                           "9223372036854775807",
                           "0.5",
                           "-1.0",
                           "1e-05",
                           "1e+16",
                           "123456.75",
                           "''",
                           "'bilinear'",
                           "'it\\'s\\n\\x01'",
                           "()",
                           "(1,)",
                           "(1, 2)",
                           "(0.08, 1.0)",
                           "('a', 'b')",
                           "{'a': 'b', 'c': 'd'}",
                           "float('inf')",
                           "float('-inf')",
                           "float('nan')",
                           "'grün'",
                           "'\\u202ea\\x1b[31m\\r\\t'",
                           "'\\U000e0001\\u0085\\\\'"}) {
    EXPECT_EQ(ValueText(Parse(text)), text);
  }
  EXPECT_EQ(ValueText(Parse("[1, 2.5]")), "(1.0, 2.5)");
  EXPECT_EQ(ValueText(Parse(" ( 1 , ) ")), "(1,)");
  EXPECT_EQ(ValueText(Parse("178_956_970")), "178956970");
}

TEST(ValueText, OfAPathOfOtherBytesShowsThem) {
  EXPECT_EQ(ValueText(StringValue(TextOfPath("caf\xE9's"))), "'caf\\xe9\\'s'");
}

TEST(ValueText, CutsLongListsShort) {
  EXPECT_EQ(ValueText(IntsValue(std::vector<int64_t>(1000, 3))), "(3, 3, 3, 3, 3, 3, 3, 3, … 1000 values)");
  const std::string whole = ValueText(IntsValue(std::vector<int64_t>(64, 3)));
  EXPECT_EQ(ValueText(Parse(whole)), whole);
}

TEST(ValueText, RefusesWhatIsNoValue) {
  for (const char* text : {"", "x", "(1", "1 2", "'a", "('a', 1)", "(1, (2,))", "{1: 2}", "--1", "1.2.3", "(1 2)",
                           "99999999999999999999", "'\\q'", "'\\u12'", "'\\ud800'", "'\\U00110000'"}) {
    EXPECT_FALSE(ParseValue(text).ok()) << text;
  }
}

TEST(ValueText, OfAnyRealReadsBackToTheSameBits) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 10'000; ++i) {
    const uint64_t bits = random();
    double number;
    std::memcpy(&number, &bits, sizeof(number));
    if (!std::isfinite(number)) continue;
    EXPECT_EQ(Parse(FloatText(number)).real(), number) << FloatText(number);
  }
}

TEST(Value, IsFittedWhereNothingIsLost) {
  const Attribute real = {.name = "x", .type = AttributeType::kFloat};
  EXPECT_EQ(ValueText(Fitted(real, IntValue(2))), "2.0");
  EXPECT_EQ(ValueText(Fitted(real, BoolValue(true))), "True");
  const Attribute size = {.name = "size", .type = AttributeType::kInts, .lengths = {2}, .broadcast = true};
  EXPECT_EQ(ValueText(Fitted(size, IntValue(256))), "(256, 256)");
  EXPECT_EQ(ValueText(Fitted(size, IntsValue({1}))), "(1,)");
  EXPECT_EQ(ValueText(Fitted(size, FloatValue(256))), "256.0");
  const Attribute reals = {.name = "mean", .type = AttributeType::kFloats};
  EXPECT_EQ(ValueText(Fitted(reals, IntsValue({1, 2}))), "(1.0, 2.0)");
  EXPECT_EQ(ValueText(Fitted(reals, IntValue(1))), "(1.0,)");
  EXPECT_TRUE(Fitted(reals, IntsValue({})).has_reals());
  const Attribute texts = {.name = "columns", .type = AttributeType::kStrings};
  EXPECT_EQ(ValueText(Fitted(texts, StringValue("image"))), "('image',)");
  EXPECT_TRUE(Fitted(texts, IntsValue({})).has_texts());
}

TEST(Value, OfAnotherTypeIsRefused) {
  EXPECT_EQ(Wrong({.name = "size"}, FloatValue(1.5)), "is 1.5; it must be a whole number");
  EXPECT_EQ(Wrong({.name = "size", .nullable = true}, StringValue("a")), "is 'a'; it must be a whole number or None");
  EXPECT_EQ(Wrong({.name = "size"}, NoneValue()), "is None; it must be a whole number");
  EXPECT_EQ(Wrong({.name = "size", .nullable = true}, NoneValue()), "");
  EXPECT_EQ(Wrong({.name = "size"}, BoolValue(true)), "is True; it must be a whole number");
}

TEST(Value, OutOfBoundsIsRefused) {
  const Attribute size = {.name = "size", .minimum = 1, .maximum = 10};
  EXPECT_EQ(Wrong(size, IntValue(0)), "is 0; it must be at least 1");
  EXPECT_EQ(Wrong(size, IntValue(11)), "is 11; it must be at most 10");
  EXPECT_EQ(Wrong(size, IntValue(10)), "");
  const Attribute scale = {.name = "scale", .type = AttributeType::kFloats, .minimum = 0, .exclusive_minimum = true};
  EXPECT_EQ(Wrong(scale, FloatsValue({1, 0, 0})), "is (1.0, 0.0, 0.0); it must be above 0");
  EXPECT_EQ(CheckValue(scale, FloatsValue({0, 0})).size(), 1u);
  EXPECT_EQ(Wrong(scale, FloatsValue({NAN})), "is (float('nan'),); it must be a number");
}

TEST(Value, ThatIsNotFiniteIsRefusedUnlessItIsStored) {
  const Attribute angle = {.name = "angle", .type = AttributeType::kFloat};
  EXPECT_EQ(Wrong(angle, FloatValue(NAN)), "is float('nan'); it must be a number");
  EXPECT_EQ(Wrong(angle, FloatValue(INFINITY)), "is float('inf'); it must be finite");
  EXPECT_EQ(Wrong(angle, FloatValue(1e308)), "");
  const Attribute sigma = {.name = "sigma", .type = AttributeType::kFloats, .minimum = 0};
  EXPECT_EQ(Wrong(sigma, FloatsValue({1, INFINITY})), "is (1.0, float('inf')); it must be finite");
  const Attribute fill = {.name = "fill", .type = AttributeType::kFloats, .keeps_whole = true};
  EXPECT_EQ(Wrong(fill, FloatsValue({NAN, -INFINITY})), "");
}

TEST(Value, OfAnotherLengthIsRefused) {
  const Attribute size = {.name = "size", .type = AttributeType::kInts, .lengths = {1, 2}};
  EXPECT_EQ(Wrong(size, IntsValue({1, 2, 3})), "is (1, 2, 3), a list of 3; it must have 1 or 2");
  EXPECT_EQ(Wrong(size, IntsValue({1})), "");
}

TEST(Value, OfTooFewOrTooManyElementsIsRefused) {
  const Attribute mean = {.name = "mean", .type = AttributeType::kFloats, .length = ListLength{1, 3}};
  EXPECT_EQ(Wrong(mean, FloatsValue({})), "is empty; give at least one");
  EXPECT_EQ(Wrong(mean, FloatsValue({1, 2, 3})), "");
  EXPECT_EQ(Wrong(mean, FloatsValue({1, 2, 3, 4})), "has 4 elements; give at most 3");
  const Attribute ends = {.name = "ends", .type = AttributeType::kInts, .length = ListLength{.least = 2}};
  EXPECT_EQ(Wrong(ends, IntsValue({1})), "has 1 element; give at least 2");
  EXPECT_EQ(Wrong(ends, IntsValue(std::vector<int64_t>(1000, 1))), "");
  const Attribute names = {.name = "names", .type = AttributeType::kStrings, .length = ListLength{.least = 0}};
  EXPECT_EQ(Wrong(names, StringsValue({})), "");
}

TEST(Value, IsDescribedInTheAttributesOwnWords) {
  const Attribute size = {
      .name = "size", .type = AttributeType::kInts, .in_words = "a whole number or (height, width)", .lengths = {1, 2}};
  const std::string wanted = "; it must be a whole number or (height, width)";
  EXPECT_EQ(Wrong(size, StringValue("224")), "is '224'" + wanted);
  EXPECT_EQ(Wrong(size, NoneValue()), "is None" + wanted);
  EXPECT_EQ(Wrong(size, IntsValue({1, 2, 3})), "is (1, 2, 3), a list of 3" + wanted);
}

TEST(Value, OutsideItsChoicesIsRefusedWithASuggestion) {
  const Attribute how = {.name = "how", .type = AttributeType::kString, .choices = {"nearest", "bilinear"}};
  EXPECT_EQ(Wrong(how, StringValue("bilnear")),
            "is 'bilnear'; did you mean \"bilinear\"? (one of 'nearest', 'bilinear')");
  EXPECT_EQ(Wrong(how, StringValue("nearest")), "");
  const Attribute dtype = {.name = "dtype", .type = AttributeType::kDType};
  EXPECT_EQ(Wrong(dtype, StringValue("flaot32")), "is 'flaot32', not a dtype; did you mean \"float32\"?");
  EXPECT_NE(Wrong(dtype, StringValue("unknown")), "");
  EXPECT_EQ(Wrong(dtype, StringValue("uint8")), "");
}

TEST(Value, OfADefaultIsFittedToItsType) {
  absl::StatusOr<proto::Value> value = DefaultValue(
      {.name = "mean", .type = AttributeType::kFloats, .default_value = "0", .lengths = {3}, .broadcast = true});
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(ValueText(*value), "(0.0, 0.0, 0.0)");
  EXPECT_FALSE(DefaultValue({.name = "x", .default_value = "'text'"}).ok());
}

}  // namespace
}  // namespace headrace::ir
