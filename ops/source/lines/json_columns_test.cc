#include "ops/source/lines/json_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "core/error.h"
#include "ops/source/declared_fields.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

// The row's text, or the error.
std::string Row(std::string_view object, const std::vector<std::string>& fields, JsonMissing missing = {}) {
  ir::Schema schema;
  for (const std::string& field : fields) schema.columns.push_back(*ParseField(field));
  std::vector<Tensor> values(fields.size());
  missing.resize(fields.size());
  const absl::Status status = ParseRow(object, schema.columns, missing, absl::MakeSpan(values));
  if (status.ok()) return RowText(schema, values);
  EXPECT_EQ(KindOf(status), ErrorKind::kData);
  return std::string(status.message());
}

TEST(ParseRow, GivesTheValuesOfTheColumns) {
  EXPECT_EQ(Row(R"({"b": 2, "other": [[1], {}], "a": "x\u00e4y"})", {"a string", "b int64"}), "a='xäy', b=2");
  EXPECT_EQ(Row(R"( {"a": [[1, 2, 3], [4, 5, 6]]} )", {"a int16 (2, None)"}), "a=int16 (2, 3) [1 2 3 4 5 6]");
  EXPECT_EQ(Row(R"({"a": []})", {"a float32 (None, 2)"}), "a=float32 (0, 2) []");
  EXPECT_EQ(Row(R"({"a": 1, "a": 2})", {"a int8"}), "a=2") << "the last one";
  EXPECT_EQ(Row(R"({"": true})", {" bool"}), "=1");
}

TEST(ParseRow, FindsValuesOfNestedObjects) {
  EXPECT_EQ(Row(R"({"o": {"box": [[1, 2]], "p": {"q": 3}}})", {"o.box float32 (None, 2)", "o.p.q int8"}),
            "o.box=float32 (1, 2) [1 2], o.p.q=3");
  EXPECT_EQ(Row(R"({"a.b": 1, "a": {"b": 2}})", {"a.b int8"}), "a.b=1") << "the key itself";
  EXPECT_EQ(Row(R"({"a.b": {"c": 1}, "a": 5})", {"a.b.c int8"}), "a.b.c=1");
  EXPECT_EQ(Row(R"({"a": {"b": null}})", {"a.b int8"}, {"7"}), "a.b=7");
  EXPECT_EQ(Row(R"({"a": [], ".": 1})", {"a.b int8", ". int8"}, {"7", std::nullopt}), "a.b=7, .=1");
  EXPECT_THAT(Row(R"({"a": {"c": 1}})", {"a.b int8"}), HasSubstr("the line has no \"a.b\""));
}

TEST(ParseRow, FollowsNamesToADepth) {
  const auto nested = [](int depth) {
    std::string object = "1", name = "a";
    for (int i = 0; i < depth; ++i) object = Cat("{\"a\": ", object, "}");
    for (int i = 1; i < depth; ++i) name += ".a";
    return Row(object, {name + " int8"});
  };
  EXPECT_THAT(nested(65), HasSubstr("=1"));
  EXPECT_THAT(nested(66), HasSubstr("the line has no"));
  EXPECT_THAT(Row("{\"a\": {}}", {std::string(1'000'000, '.') + " int8"}), HasSubstr("the line has no"));
}

TEST(ParseRow, TakesNumbersThatTheTypeHolds) {
  EXPECT_EQ(Row(R"({"a": 255, "b": -128, "c": 18446744073709551615, "d": 3})",
                {"a uint8", "b int8", "c uint64", "d float64"}),
            "a=255, b=-128, c=18446744073709551615, d=3");
  for (const char* value : {"256", "-1", "1.0", "1e2", "true", "null", "\"1\"", "[1]", "{}"}) {
    EXPECT_THAT(Row(Cat("{\"a\": ", value, "}"), {"a uint8"}), HasSubstr("the column's type is uint8 ()")) << value;
  }
  EXPECT_THAT(Row(R"({"a": 9223372036854775808})", {"a int64"}), HasSubstr("\"a\" is 9223372036854775808"));
  EXPECT_THAT(Row(R"({"a": 1})", {"a bool"}), HasSubstr("type is bool"));
  EXPECT_THAT(Row(R"({"a": 1})", {"a string"}), HasSubstr("type is string"));
  EXPECT_THAT(Row(R"({"a": true})", {"a float64"}), HasSubstr("type is float64"));
}

TEST(ParseRow, ChangesNoNumberWithoutAWord) {
  EXPECT_EQ(Row(R"({"a": 16777216, "b": -9007199254740992, "c": 0.1})", {"a float32", "b float64", "c float64"}),
            "a=1.67772e+07, b=-9.0072e+15, c=0.1");
  for (const char* value : {"16777217", "-16777217", "1e39", "-1e39", "18446744073709551615"}) {
    EXPECT_THAT(Row(Cat("{\"a\": ", value, "}"), {"a float32"}), HasSubstr("type is float32 ()")) << value;
  }
  for (const char* value : {"9007199254740993", "-9007199254740993", "18446744073709551615"}) {
    EXPECT_THAT(Row(Cat("{\"a\": ", value, "}"), {"a float64"}), HasSubstr("type is float64 ()")) << value;
  }
}

TEST(ParseRow, RoundsNoWholeNumberBeyond64Bits) {
  EXPECT_EQ(Row(R"({"a": 18446744073709551616, "b": [-36893488147419103232]})", {"a float64", "b float64 (1,)"}),
            "a=1.84467e+19, b=float64 (1,) [-3.68935e+19]");
  for (const char* value : {"18446744073709551617", "-9223372036854775809", "[1, 18446744073709551617]"}) {
    EXPECT_THAT(Row(Cat("{\"a\": ", value, "}"), {value[0] == '[' ? "a float64 (None,)" : "a float64"}),
                HasSubstr("type is float64"))
        << value;
  }
  EXPECT_THAT(Row(R"({"a": 18446744073709551617})", {"a float64"}),
              HasSubstr("18446744073709551617, which neither 64 bits nor a double hold"));
  EXPECT_EQ(Row(R"({"a": 1, "b": 18446744073709551617})", {"a int8"}), "a=1") << "in a key that is left out";
  EXPECT_EQ(Row(R"({"a": 18446744073709551617e0, "b": 1e300})", {"a float64", "b float64"}), "a=1.84467e+19, b=1e+300");
}

TEST(ParseRow, CallsAnObjectWhatItIsCalled) {
  JsonWords words;
  words.record = "field";
  words.stated = "stated by decode={…}";
  words.statement = "decode={\"json\": {";
  words.rest = ", …}, …}";
  words.prefix = "json.";
  const ir::Columns columns = {*ParseField("a int64")};
  std::vector<Tensor> values(1);
  const auto error_of = [&](std::string_view object) {
    return std::string(ParseRow(object, columns, {std::nullopt}, absl::MakeSpan(values), words).message());
  };
  EXPECT_THAT(error_of("{"), HasSubstr("the field is not JSON"));
  EXPECT_THAT(error_of("[]"), HasSubstr("the field is []; it must be an object"));
  EXPECT_THAT(error_of("{}"),
              HasSubstr("the field has no \"a\"; say what that stands for, such as missing={\"json.a\": 0}"));
  EXPECT_THAT(error_of("{\"a\": 1.5}"),
              HasSubstr("stated by decode={…}; if the value is right, state decode={\"json\": {\"a\": "
                        "\"float64\", …}, …}"));
}

TEST(ParseJsonValue, GivesTheValueOfAWholeText) {
  const ir::Column column = *ParseField("a int64 (None,)");
  const auto value = ParseJsonValue("[1, 2]", column, std::nullopt, {});
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(value->shape(), Shape({2}));
  EXPECT_EQ(ParseJsonValue("null", column, "[]", {})->shape(), Shape({0}));
  for (const char* text : {"", "[1", "null", "{}", "[1e999]"}) {
    const auto wrong = ParseJsonValue(text, column, std::nullopt, {});
    EXPECT_EQ(KindOf(wrong.status()), ErrorKind::kData) << text;
  }
}

TEST(ParseRow, SaysThatATypeMayHaveBeenInferred) {
  EXPECT_THAT(
      Row(R"({"a": 1.5})", {"a int64"}),
      HasSubstr("stated by columns={…} or inferred from the first lines; if the value is right, state columns={\"a\": "
                "\"float64\", …}"));
}

// The first elements claim a box that no memory holds.
TEST(ParseRow, TakesNoMemoryForListsThatAreNoBox) {
  constexpr int kMany = 600'000;
  std::string line = "{\"a\": [[0";
  for (int i = 1; i < kMany; ++i) line += ",0";
  line += "]";
  for (int i = 1; i < kMany; ++i) line += ",[]";
  EXPECT_THAT(Row(line + "]}", {"a float64 (None, None)"}), HasSubstr("a list of other lengths"));
}

TEST(ParseRow, RefusesListsOfAnotherShape) {
  EXPECT_THAT(Row(R"({"a": [1, 2]})", {"a int64 (3,)"}), HasSubstr("a list of other lengths or elements"));
  EXPECT_THAT(Row(R"({"a": [[1], [2, 3]]})", {"a int64 (None, None)"}), HasSubstr("type is int64 (None, None)"));
  EXPECT_THAT(Row(R"({"a": [1, [2]]})", {"a int64 (None,)"}), HasSubstr("type is int64 (None,)"));
}

TEST(ParseRow, PutsWhatStandsForThemInPlaceOfNullAndAbsentKeys) {
  const std::vector<std::string> fields = {"a int8", "t string", "x float32", "v string (None,)"};
  const JsonMissing missing = {"-1", "\"none\"", "NaN", R"(["p", "q"])"};
  const std::string nothing = "a=-1, t='none', x=nan, v=" + Row(R"({"v": ["p", "q"]})", {"v string (None,)"}).substr(2);
  EXPECT_EQ(Row("{}", fields, missing), nothing);
  EXPECT_EQ(Row(R"({"a": null, "t": null, "x": null, "v": null})", fields, missing), nothing);
  EXPECT_EQ(Row(R"({"a": 2, "t": "", "x": 0.5})", {"a int8", "t string", "x float32"}, missing), "a=2, t='', x=0.5");
  EXPECT_EQ(Row("{}", {"x float64"}, {"-Infinity"}), "x=-inf");
  EXPECT_THAT(Row(R"({"v": [null]})", {"v string (None,)"}, {"[]"}), HasSubstr("a list of other lengths or elements"));
  EXPECT_THAT(Row(R"({"a": "-1"})", {"a int8"}, {"-1"}), HasSubstr("the column's type is int8"));
  EXPECT_THAT(Row(R"({"t": null})", {"t string"}), HasSubstr("such as missing={\"t\": \"\"}"));
}

TEST(ParseRow, ChecksWhatStandsForMissingValues) {
  const auto refusal = [](const std::string& field, const std::string& json) {
    const absl::Status status = CheckMissing({*ParseField(field)}, {json});
    EXPECT_TRUE(status.ok() || KindOf(status) == ErrorKind::kGraph);
    return std::string(status.message());
  };
  EXPECT_EQ(refusal("a int8", "127"), "");
  EXPECT_EQ(refusal("a float32 (None, 2)", "[]"), "");
  EXPECT_THAT(refusal("a int8", "128"), HasSubstr("missing: \"a\" is 128; the column's type is int8"));
  EXPECT_THAT(refusal("a int8", "NaN"), HasSubstr("\"a\" is NaN, not JSON"));
  EXPECT_THAT(refusal("a float32", "null"), HasSubstr("\"a\" is null"));
  EXPECT_THAT(refusal("a string", "1"), HasSubstr("type is string"));
}

TEST(ParseRow, NamesWhatIsNoObject) {
  EXPECT_THAT(Row("{\"a\": 1, }", {"a int8"}), HasSubstr("is not JSON: what is wrong begins at its byte 9"));
  EXPECT_THAT(Row("", {"a int8"}), HasSubstr("is not JSON"));
  EXPECT_THAT(Row("{\"a\": \"\xFF\"}", {"a string"}), HasSubstr("is not JSON"));
  EXPECT_THAT(Row("{\"a\": 1e999}", {"a float64"}), HasSubstr("a number beyond a double"));
  EXPECT_THAT(Row("[1]", {"a int8"}), HasSubstr("the line is [1]; it must be an object"));
  EXPECT_THAT(Row("{\"b\": 1}", {"a int8"}),
              HasSubstr("the line has no \"a\"; say what that stands for, such as missing={\"a\": 0}: {\"b\": 1}"));
  EXPECT_THAT(Row(Cat("{\"b\": \"", std::string(100, 'x'), "\"}"), {"a int8"}), HasSubstr("xxx…"));
  const std::string deep(100'000, '[');
  EXPECT_THAT(Row(Cat("{\"a\": ", deep, std::string(100'000, ']'), "}"), {"a int8"}), HasSubstr("a list"));
  EXPECT_THAT(Row(Cat(deep, std::string(100'000, ']')), {"a int8"}), HasSubstr("must be an object"));
}

}  // namespace
}  // namespace headrace
