#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "io/files/testing/temporary_folder.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class JsonLines : public ::testing::Test {
 protected:
  GraphBuilder Source(const std::vector<std::string>& fields, GraphBuilder::Given more = {}) const {
    GraphBuilder builder;
    more.emplace_back("patterns", ir::StringsValue({folder_ / "*.jsonl"}));
    more.emplace_back("fields", ir::StringsValue(fields));
    builder.Add("JsonLines", {}, more);
    return builder;
  }
  TemporaryFolder folder_;
};

TEST_F(JsonLines, GivesTheObjectsOfAllFiles) {
  folder_.Write("a.jsonl", "{\"x\": 1, \"t\": \"one\"}\r\n{\"t\": \"two\", \"x\": 2}");
  folder_.Write("b.jsonl", "");
  folder_.Write("c.jsonl", "\xEF\xBB\xBF{\"x\": 3, \"t\": \"\"}\n");
  const Ran ran = RunEveryWay(Source({"t string", "x int32"}));
  for (const uint64_t epoch : {0, 1}) {
    EXPECT_THAT(ran.Texts(epoch), ElementsAre("t='one', x=1", "t='two', x=2", "t='', x=3"));
  }
}

TEST_F(JsonLines, MakesChosenColumnsAlone) {
  folder_.Write("a.jsonl", "{\"x\": 1, \"t\": 5}\n");
  EXPECT_THAT(RunEveryWay(Source({"t string", "x int32"}, {{"columns", ir::StringsValue({"x"})}})).Texts(),
              ElementsAre("x=1"));
}

TEST_F(JsonLines, GivesTheSameRowsByNumber) {
  folder_.Write("a.jsonl", "{\"x\": 1, \"t\": [1]}\r\n{\"t\": [2, 2], \"x\": 2}");
  folder_.Write("c.jsonl", "\xEF\xBB\xBF{\"x\": 3, \"t\": []}\n");
  const Ran ran = RunEveryWay(Source({"t int8 (None,)", "x int32"}, {{"index", ir::StringValue("build")}}));
  EXPECT_EQ(ran.Texts(1), RunEveryWay(Source({"t int8 (None,)", "x int32"})).Texts(1));
  EXPECT_THAT(ran.Keys(1), ElementsAre(0, 1, 2));
  EXPECT_EQ(ran.cardinality, Cardinality::Of(3));
}

TEST_F(JsonLines, GivesTheElementsOfArraysBesideLines) {
  folder_.Write("a.jsonl", "[\n  {\"x\": 1, \"t\": \"one\"},\n  {\"t\": \"two\", \"x\": 2}\n]\n");
  folder_.Write("b.jsonl", "{\"x\": 3, \"t\": \"\"}\n");
  folder_.Write("c.jsonl", "[]");
  for (const auto& index : {GraphBuilder::Given{}, GraphBuilder::Given{{"index", ir::StringValue("build")}}}) {
    EXPECT_THAT(RunEveryWay(Source({"t string", "x int32"}, index)).Texts(),
                ElementsAre("t='one', x=1", "t='two', x=2", "t='', x=3"));
  }
}

TEST_F(JsonLines, NamesTheElementThatIsWrong) {
  folder_.Write("a.jsonl", "[{\"x\": 1}, {\"x\": 2.5}, [3]]");
  const Ran ran = RunEveryWay(Source({"x int32"}));
  EXPECT_THAT(ran.Texts(), ElementsAre("x=1"));
  EXPECT_THAT(DescribeError(ran.error), HasSubstr("\"x\" is 2.5; the column's type is int32 ()"));
  EXPECT_THAT(DescribeError(ran.error), HasSubstr("a.jsonl, byte 11"));
}

TEST_F(JsonLines, GivesWhatComesBeforeDamageOfAnArray) {
  folder_.Write("a.jsonl", "[{\"x\": 1}, {\"x\": 2} {\"x\": 3}]");
  const Ran ran = RunEveryWay(Source({"x int32"}));
  EXPECT_THAT(ran.Texts(), ElementsAre("x=1"));
  EXPECT_THAT(DescribeError(ran.error), HasSubstr("is missing in front of byte 20"));
  EXPECT_THAT(DescribeError(ran.error), HasSubstr("a.jsonl, byte 11"));
}

TEST_F(JsonLines, GivesTheNumbersOfClasses) {
  folder_.Write("a.jsonl",
                "{\"o\": {\"names\": [\"dog\", \"cat\"]}, \"y\": \"cat\"}\n{\"o\": {\"names\": []}}\n"
                "{\"o\": {\"names\": [\"cow\"]}, \"y\": \"cat\"}\n");
  const std::string names = R"(["cat", "dog"])";
  const Ran ran = RunEveryWay(Source({"o.names string (None,)", "y string"},
                                     {{"class_names", ir::PairsValue({{"o.names", names}, {"y", names}})},
                                      {"missing", ir::PairsValue({{"y", "\"dog\""}})}}));
  EXPECT_THAT(ran.Texts(), ElementsAre("o.names=int32 (2,) [1 0], y=0", "o.names=int32 (0,) [], y=1"));
  EXPECT_THAT(DescribeError(ran.error), HasSubstr("\"o.names\" is cow, not one of the 2 classes"));
}

TEST_F(JsonLines, SaysWhatNullAndAbsentKeysStandFor) {
  folder_.Write("a.jsonl", "{\"x\": 1}\n{\"x\": null, \"t\": \"two\"}\n{}\n");
  const auto missing = [&](std::string name, std::string json) {
    return Source({"x float32", "t string"},
                  {{"missing", ir::PairsValue({{"t", "\"\""}, {std::move(name), std::move(json)}})}});
  };
  EXPECT_THAT(RunEveryWay(missing("x", "NaN")).Texts(), ElementsAre("x=1, t=''", "x=nan, t='two'", "x=nan, t=''"));
  EXPECT_THAT(Refusal(missing("x", "\"none\"")), HasSubstr("missing: \"x\" is \"none\"; the column's type is float32"));
  EXPECT_THAT(Refusal(missing("y", "1")), HasSubstr("no column \"y\""));
  GraphBuilder::Given chosen = {{"columns", ir::StringsValue({"x"})},
                                {"missing", ir::PairsValue({{"t", "\"\""}, {"x", "0"}})}};
  EXPECT_THAT(RunEveryWay(Source({"t string", "x int32"}, chosen)).Texts(), ElementsAre("x=1", "x=0", "x=0"));
  EXPECT_THAT(DescribeError(RunEveryWay(Source({"x int8"})).error), HasSubstr("such as missing={\"x\": 0}"));
}

TEST_F(JsonLines, NamesTheLineThatIsWrong) {
  folder_.Write("a.jsonl", "{\"x\": 1}\n{\"x\": 2.5}\n{\"x\": 3}\n");
  const Ran ran = RunEveryWay(Source({"x int32"}));
  EXPECT_THAT(ran.Texts(), ElementsAre("x=1"));
  EXPECT_THAT(DescribeError(ran.error), HasSubstr("\"x\" is 2.5; the column's type is int32 ()"));
  EXPECT_THAT(DescribeError(ran.error), HasSubstr("a.jsonl, byte 9"));
}

TEST_F(JsonLines, RefusesFieldsThatAreNone) {
  folder_.Write("a.jsonl", "{}");
  EXPECT_THAT(Refusal(Source({})), HasSubstr("has no columns"));
  EXPECT_THAT(Refusal(Source({"x"})), HasSubstr("the field \"x\" has no type"));
  EXPECT_THAT(Refusal(Source({"x int8", "x bool"})), HasSubstr("the field \"x\" comes twice"));
  EXPECT_THAT(Refusal(Source({"x int8"}, {{"columns", ir::StringsValue({"y"})}})), HasSubstr("y"));
}

}  // namespace
}  // namespace headrace
