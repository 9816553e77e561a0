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
