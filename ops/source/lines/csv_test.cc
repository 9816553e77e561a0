#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "io/files/testing/temporary_folder.h"
#include "ir/graph.pb.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ir::StringsValue;
using ir::StringValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

class Csv : public ::testing::Test {
 protected:
  GraphBuilder Source(const std::vector<std::string>& fields, GraphBuilder::Given more = {}) const {
    GraphBuilder builder;
    more.emplace_back("patterns", StringsValue({folder_ / "*.csv"}));
    more.emplace_back("fields", StringsValue(fields));
    builder.Add("Csv", {}, more);
    return builder;
  }
  TemporaryFolder folder_;
};

TEST_F(Csv, GivesTheLinesOfAllFilesBelowTheirHeaders) {
  folder_.Write("a.csv", "\xEF\xBB\xBFid,t,x\r\n1,one,1.5\r\n2,two,2.5\r\n");
  folder_.Write("b.csv", "");
  folder_.Write("c.csv", "id,t,x\n3,\"th,ree\",3.5");
  const Ran ran = RunEveryWay(Source({"x float32", "t string"}));
  for (const uint64_t epoch : {0, 1}) {
    EXPECT_THAT(ran.Texts(epoch), ElementsAre("x=1.5, t='one'", "x=2.5, t='two'", "x=3.5, t='th,ree'"));
  }
  EXPECT_THAT(ran.Keys(0), ElementsAre(MixKey(0, 11), MixKey(0, 22), MixKey(2, 7)));
}

TEST_F(Csv, GivesLinesWithoutHeaders) {
  folder_.Write("a.csv", "1;2;3\n4;5;6\n");
  const GraphBuilder::Given dialect = {{"header", BoolValue(false)}, {"delimiter", StringValue(";")}};
  EXPECT_THAT(RunEveryWay(Source({"p int8 (2,)", "y int64"}, dialect)).Texts(),
              ElementsAre("p=int8 (2,) [1 2], y=3", "p=int8 (2,) [4 5], y=6"));
  GraphBuilder::Given named = dialect;
  named.emplace_back("names", StringsValue({"a", "b", "c"}));
  EXPECT_THAT(RunEveryWay(Source({"c int64"}, named)).Texts(), ElementsAre("c=3", "c=6"));
}

TEST_F(Csv, GivesTheNumbersOfClasses) {
  folder_.Write("a.csv", "animal,x\ncat,1\n\"d\"\"g\",2\n,3\ncat,4\nbear,5\n");
  GraphBuilder::Given classes = {{"class_names", ir::PairsValue({{"animal", R"(["d\"g", "cat"])"}})},
                                 {"missing", ir::PairsValue({{"animal", "cat"}})}};
  const Ran ran = RunEveryWay(Source({"animal string", "x int8"}, classes));
  EXPECT_THAT(ran.Texts(), ElementsAre("animal=1, x=1", "animal=0, x=2", "animal=1, x=3", "animal=1, x=4"));
  EXPECT_THAT(DescribeError(ran.error), HasSubstr("field 1, of \"animal\", is bear, not one of the 2 classes"));
  EXPECT_THAT(DescribeError(ran.error), HasSubstr("a.csv, byte 33"));
  classes.emplace_back("columns", StringsValue({"x"}));
  EXPECT_EQ(RunEveryWay(Source({"animal string", "x int8"}, classes)).Texts().size(), 5u);
}

TEST_F(Csv, RefusesClassesOfNumbers) {
  folder_.Write("a.csv", "x\n1\n");
  const auto of = [&](std::string name, std::string json) {
    return Source({"x int8", "t string"}, {{"class_names", ir::PairsValue({{std::move(name), std::move(json)}})}});
  };
  EXPECT_THAT(Refusal(of("x", "[\"a\"]")), HasSubstr("\"x\" has classes, and its type is int8 ()"));
  EXPECT_THAT(Refusal(of("y", "[\"a\"]")), HasSubstr("no column \"y\""));
  EXPECT_THAT(Refusal(of("t", "[1]")), HasSubstr("not a list of different texts"));
}

TEST_F(Csv, NamesReplaceThoseOfTheHeader) {
  folder_.Write("a.csv", "label,p0,p1\n7,1,2\n");
  EXPECT_THAT(RunEveryWay(Source({"p int8 (2,)", "y int64"}, {{"names", StringsValue({"y", "p"})}})).Texts(),
              ElementsAre("p=int8 (2,) [1 2], y=7"));
  EXPECT_THAT(RunEveryWay(Source({"p0 int8 (2,)"})).Texts(), ElementsAre("p0=int8 (2,) [1 2]"));
}

TEST_F(Csv, MakesChosenColumnsAlone) {
  folder_.Write("a.csv", "x,t\n1,no number\n");
  EXPECT_THAT(RunEveryWay(Source({"t int64", "x int32"}, {{"columns", StringsValue({"x"})}})).Texts(),
              ElementsAre("x=1"));
}

TEST_F(Csv, SaysWhatEmptyFieldsStandFor) {
  folder_.Write("a.csv", "x,t\n,a\n1,\n");
  const auto missing = [&](std::string name, std::string text) {
    return Source({"x float32", "t string"}, {{"missing", ir::PairsValue({{std::move(name), std::move(text)}})}});
  };
  EXPECT_THAT(RunEveryWay(missing("x", "nan")).Texts(), ElementsAre("x=nan, t='a'", "x=1, t=''"));
  EXPECT_THAT(Refusal(missing("x", "none")), HasSubstr("missing gives \"x\" as none; the column's type is float32"));
  EXPECT_THAT(Refusal(missing("y", "1")), HasSubstr("no column \"y\""));
  const Ran ran = RunEveryWay(Source({"x float32", "t string"}));
  EXPECT_THAT(DescribeError(ran.error), HasSubstr("field 1, of \"x\", is empty"));
}

TEST_F(Csv, NamesTheLineThatIsWrong) {
  folder_.Write("a.csv", "x,y\n1,2\n2.5,3\n3,4\n");
  const Ran ran = RunEveryWay(Source({"x int32"}));
  EXPECT_THAT(ran.Texts(), ElementsAre("x=1"));
  EXPECT_THAT(DescribeError(ran.error),
              HasSubstr("field 1, of \"x\", is 2.5; the column's type is int32 (), stated by types={…} or inferred"));
  EXPECT_THAT(DescribeError(ran.error), HasSubstr(", …}: 2.5,3"));
  EXPECT_THAT(DescribeError(ran.error), HasSubstr("a.csv, byte 8"));
}

// The line with the open quote fails; a line end in quotes never makes one row of two lines, or two of one in silence.
TEST_F(Csv, RefusesLineEndsInQuotes) {
  folder_.Write("a.csv", "x,t\n1,\"one\nline\"\n2,two\n");
  const Ran ran = RunEveryWay(Source({"t string"}));
  EXPECT_THAT(ran.Texts(), IsEmpty());
  EXPECT_THAT(DescribeError(ran.error), HasSubstr("the quotes of field 2 are not closed in the line"));
  EXPECT_THAT(DescribeError(ran.error), HasSubstr("read with newlines_in_values=True"));
  EXPECT_THAT(DescribeError(ran.error), HasSubstr("a.csv, byte 4"));
}

TEST_F(Csv, ReadsLineEndsInQuotesWhereToldSo) {
  folder_.Write("a.csv", "x,\"t\nu\"\r\n1,\"one\nli\"\"ne\"\r\n\r\n2,two\n");
  folder_.Write("b.csv", "x,\"t\nu\"\n3,\"\r\n\"");
  const std::vector<std::string> expected = {"x=1, t\nu='one\nli\"ne'", "x=2, t\nu='two'", "x=3, t\nu='\r\n'"};
  for (GraphBuilder::Given way : {GraphBuilder::Given{},
                                  {{"index", StringValue("build")}},
                                  {{"sharding", StringValue("splits")}, {"interleave", IntValue(2)}},
                                  {{"shuffle", BoolValue(true)}},
                                  {{"shuffle", BoolValue(true)}, {"index", StringValue("build")}}}) {
    way.emplace_back("newlines_in_values", BoolValue(true));
    const Ran ran = RunEveryWay(Source({"x int64", "t\nu string"}, way));
    EXPECT_THAT(ran.Texts(), UnorderedElementsAreArray(expected));
  }
  folder_.Write("b.csv", "x,\"t\nu\"\n3,\"\r\n");
  const Ran ran = RunEveryWay(Source({"x int64"}, {{"newlines_in_values", BoolValue(true)}}));
  EXPECT_THAT(ran.Texts(), ElementsAre("x=1", "x=2"));
  EXPECT_THAT(DescribeError(ran.error), HasSubstr("the quotes of field 2 are not closed in the file"));
}

TEST_F(Csv, RefusesToCutFilesWhoseLinesGoOn) {
  folder_.Write("a.csv", "x\n1\n");
  const auto refusal = [&](std::string name, ir::proto::Value value) {
    return Refusal(Source({"x int64"}, {{"newlines_in_values", BoolValue(true)}, {std::move(name), std::move(value)}}));
  };
  EXPECT_THAT(refusal("split_bytes", IntValue(100)), HasSubstr("split_bytes= cuts files within"));
  EXPECT_THAT(refusal("sharding", StringValue("contiguous")), HasSubstr("sharding=\"contiguous\" cuts files within"));
  EXPECT_THAT(refusal("quote", ir::NoneValue()), HasSubstr("quote=None says that there are none"));
}

TEST_F(Csv, RefusesAFileWhoseLinesEndWithReturnsAlone) {
  folder_.Write("a.csv", "id,name\r1,cat\r2,dog\r");
  for (const GraphBuilder::Given& more : {GraphBuilder::Given{},
                                          {{"names", StringsValue({"id", "name"})}},
                                          {{"newlines_in_values", BoolValue(true)}},
                                          {{"index", StringValue("build")}}}) {
    EXPECT_THAT(Refusal(Source({"id int64"}, more)), HasSubstr("field 2 has a carriage return in it"));
  }
}

TEST_F(Csv, HasNoRowsInAFileOfAMarkAlone) {
  folder_.Write("a.csv", "\xEF\xBB\xBF");
  folder_.Write("b.csv", "x\n1\n");
  EXPECT_THAT(RunEveryWay(Source({"x int64"})).Texts(), ElementsAre("x=1"));
}

TEST_F(Csv, LeavesOutBlankLinesWhereLinesHaveSeveralFields) {
  folder_.Write("a.csv", "x,t\r\n\r\n1,one\r\n\r\n\r\n2,two\r\n\r\n");
  folder_.Write("b.csv", "x,t\n\n\n");
  folder_.Write("c.csv", "x,t\n3,three\n\n");
  for (const GraphBuilder::Given& way : {GraphBuilder::Given{},
                                         {{"index", StringValue("build")}},
                                         {{"split_bytes", IntValue(3)}, {"interleave", IntValue(2)}}}) {
    EXPECT_THAT(RunEveryWay(Source({"x int32"}, way)).Texts(1), UnorderedElementsAreArray({"x=1", "x=2", "x=3"}));
  }
  folder_.Write("a.csv", "x,t\n \n");
  EXPECT_THAT(DescribeError(RunEveryWay(Source({"x int32"})).error), HasSubstr("field 1, of \"x\", is empty"));
}

TEST_F(Csv, TakesBlankLinesOfOneColumnAsEmptyFields) {
  folder_.Write("a.csv", "t\none\n\n");
  for (const GraphBuilder::Given& way : {GraphBuilder::Given{}, {{"index", StringValue("build")}}}) {
    EXPECT_THAT(RunEveryWay(Source({"t string"}, way)).Texts(), ElementsAre("t='one'", "t=''"));
  }
}

TEST_F(Csv, GivesTheSameRowsByNumber) {
  folder_.Write("a.csv", "\xEF\xBB\xBFid,t,x\r\n1,one,1.5\r\n2,\"t\"\"wo\",2.5\r\n");
  folder_.Write("b.csv", "");
  folder_.Write("c.csv", "id,t,x\n3,\"th,ree\",3.5");
  const std::vector<std::string> fields = {"x float32", "t string"};
  const Ran ran = RunEveryWay(Source(fields, {{"index", StringValue("build")}}));
  EXPECT_EQ(ran.Texts(1), RunEveryWay(Source(fields)).Texts(1));
  EXPECT_THAT(ran.Keys(1), ElementsAre(0, 1, 2));
  EXPECT_EQ(ran.cardinality, Cardinality::Of(3));
  GraphBuilder chosen = Source(fields, {{"index", StringValue("build")}});
  chosen.Add("select", {0}, {{"indices", ir::IntsValue({2, 0, 2})}});
  EXPECT_THAT(RunEveryWay(chosen).Texts(1), ElementsAre("x=3.5, t='th,ree'", "x=1.5, t='one'", "x=3.5, t='th,ree'"));
}

TEST_F(Csv, NamesTheLineThatIsWrongByNumber) {
  const std::string path = folder_.Write("a.csv", "x,y\n1,2\n2.5,3\n3,4\n");
  const GraphBuilder::Given by_number = {{"index", StringValue("build")}};
  const Ran ran = RunEveryWay(Source({"x int32"}, by_number));
  EXPECT_EQ(ran.Texts(), std::vector<std::string>{"x=1"});
  EXPECT_THAT(DescribeError(ran.error),
              HasSubstr("field 1, of \"x\", is 2.5; the column's type is int32 (), stated by types={…} or inferred"));
  EXPECT_THAT(DescribeError(ran.error), HasSubstr(", …}: 2.5,3"));
  EXPECT_EQ(GetErrorField(ran.error, ErrorField::kFile), Cat(path, ", byte 8"));
  GraphBuilder skipping = Source({"x int32"}, by_number);
  skipping.SkipFailed(1);
  EXPECT_THAT(RunEveryWay(skipping).Texts(1), ElementsAre("x=1", "x=3"));
}

// Another header is found when the files are read for where lines are, before any row.
TEST_F(Csv, RefusesOtherHeadersWhenItNumbersLines) {
  folder_.Write("a.csv", "x,y\n1,2\n");
  folder_.Write("b.csv", "y,x\n3,4\n");
  EXPECT_THAT(Refusal(Source({"x int32"}, {{"index", StringValue("build")}})), HasSubstr("the header of"));
}

TEST_F(Csv, RefusesAFileWithAnotherHeaderBeforeItsFirstRow) {
  folder_.Write("a.csv", "x,y\n1,2\n");
  folder_.Write("b.csv", "y,x\n3,4\n5,6\n7,8\n");
  for (const int64_t split_bytes : {3, 5, 1000}) {
    for (const bool shuffle : {false, true}) {
      GraphBuilder builder =
          Source({"x int32"}, {{"split_bytes", IntValue(split_bytes)}, {"shuffle", BoolValue(shuffle)}});
      builder.SkipFailed(10);
      const Ran ran = RunEveryWay(builder);
      EXPECT_EQ(KindOf(ran.error), ErrorKind::kData);
      EXPECT_THAT(DescribeError(ran.error), HasSubstr(Cat("the header of ", folder_ / "a.csv")));
      EXPECT_EQ(GetErrorField(ran.error, ErrorField::kFile), Cat(folder_ / "b.csv", ", byte 0"));
      for (const std::string& row : ran.Texts()) EXPECT_EQ(row, "x=1");
    }
  }
}

TEST_F(Csv, GivesEachRowBelowHeadersOnceToAnyRanks) {
  std::vector<std::string> expected;
  for (const char* file : {"a", "b", "c"}) {
    std::string text = "x,t\n";
    for (int i = 0; i < 20; ++i) {
      Append(text, i, ",", file, "\n");
      expected.push_back(Cat("x=", i, ", t='", file, "'"));
    }
    folder_.Write(Cat(file, ".csv"), text);
  }
  for (const char* sharding : {"rows", "splits", "contiguous"}) {
    for (const int64_t split_bytes : {2, 4, 11, 1000}) {
      std::vector<std::string> all;
      for (const Ran& rank : RunRanks(Source({"x int32", "t string"}, {{"sharding", StringValue(sharding)},
                                                                       {"split_bytes", IntValue(split_bytes)}}),
                                      3)) {
        const std::vector<std::string> texts = rank.Texts();
        all.insert(all.end(), texts.begin(), texts.end());
      }
      EXPECT_THAT(all, UnorderedElementsAreArray(expected));
    }
  }
}

TEST_F(Csv, LooksForColumnsInTheHeader) {
  folder_.Write("a.csv", "");
  EXPECT_THAT(Refusal(Source({"x int32"})), HasSubstr("none of the 1 files has a header"));
  folder_.Write("b.csv", "price,\"a \"\"b\"\"\"\n");
  EXPECT_THAT(RunEveryWay(Source({"a \"b\" int8"})).Texts(), IsEmpty());
  EXPECT_THAT(Refusal(Source({"prize int32"})), HasSubstr("the header has no \"prize\"; did you mean \"price\"?"));
  folder_.Write("b.csv", "price,\"a\n");
  EXPECT_THAT(Refusal(Source({"price int32"})), HasSubstr("the quotes of field 2 are not closed"));
}

TEST_F(Csv, RefusesWhatNoLineCanHave) {
  folder_.Write("a.csv", "x\n");
  EXPECT_THAT(Refusal(Source({})), HasSubstr("has no columns"));
  EXPECT_THAT(Refusal(Source({"x int8 (None,)"})), HasSubstr("say how many fields it takes"));
  EXPECT_THAT(Refusal(Source({"x int8"}, {{"delimiter", StringValue("ab")}})), HasSubstr("delimiter is 'ab'"));
  EXPECT_THAT(Refusal(Source({"x int8"}, {{"quote", StringValue(",")}})), HasSubstr("quote is ','"));
  EXPECT_THAT(Refusal(Source({"x int8"}, {{"names", StringsValue({"y"})}})), HasSubstr("columns has no \"x\""));
  EXPECT_THAT(Refusal(Source({"x int8"}, {{"columns", StringsValue({"y"})}})), HasSubstr("y"));
}

}  // namespace
}  // namespace headrace
