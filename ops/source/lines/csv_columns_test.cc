#include "ops/source/lines/csv_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "core/error.h"
#include "io/files/testing/one_file.h"
#include "io/formats/text/line_format.h"
#include "ops/source/declared_fields.h"
#include "ops/source/lines/csv_layout.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

using CsvColumnsTexts = std::vector<std::string>;

struct Table {
  CsvColumnsTexts fields;      // "x int64"
  CsvColumnsTexts names = {};  // of the fields in order, if others are between; empty: no others
  CsvDialect dialect = {};
  std::vector<std::optional<std::string>> missing = {};

  ir::Schema schema() const {
    ir::Schema schema;
    for (const std::string& field : fields) schema.columns.push_back(*ParseField(field));
    return schema;
  }
  std::unique_ptr<RecordColumns> Make() const {
    const ir::Schema all = schema();
    CsvLines lines{dialect, *RunsByNames(names.empty() ? all.Names() : names, all, all.columns), missing};
    lines.missing.resize(fields.size());
    return MakeCsvColumns(all.columns, std::move(lines));
  }
};

// The rows of one message made of each `step`-th line of a text; a line that fails is its error.
CsvColumnsTexts Rows(const Table& table, const std::string& text, size_t step = 1) {
  const OneFile file(text);
  const LineFormat format;
  const auto reader = *format.Open(file, "f", {}, 0, size_t{1} << 20);
  const std::unique_ptr<RecordColumns> columns = table.Make();
  const ir::Schema schema = table.schema();
  CsvColumnsTexts rows;
  std::vector<size_t> good;
  RecordBlock records;
  while (reader->Next(records).ok() && !records.records.empty()) {
    size_t at = 0;
    while (at < records.records.size()) {
      absl::Status wrong;
      const size_t count = (records.records.size() - at - 1) / step + 1;
      const size_t added = columns->Add(records, at, step, count, wrong);
      for (size_t i = 0; i < added; ++i) good.push_back(rows.size() + i);
      rows.resize(rows.size() + added);
      if (!wrong.ok()) {
        EXPECT_EQ(KindOf(wrong), ErrorKind::kData);
        EXPECT_FALSE(IsBeyondRow(wrong));
        rows.emplace_back(wrong.message());
      }
      at += (added + (wrong.ok() ? 0 : 1)) * step;
    }
  }
  if (good.empty()) return rows;
  Block block;
  EXPECT_TRUE(columns->Take(block).ok());
  for (size_t i = 0; i < good.size(); ++i) {
    std::vector<Tensor> values;
    for (const BlockColumn& column : block.columns) {
      EXPECT_TRUE(column.stacked());
      EXPECT_EQ(column.rows(), static_cast<int>(good.size()));
      values.push_back(column.row(static_cast<int>(i)));
    }
    rows[good[i]] = RowText(schema, values);
  }
  return rows;
}

TEST(CsvColumns, HaveTheValuesOfTheirFields) {
  EXPECT_THAT(Rows({{"a int32", "t string", "x float64"}}, "1,one,1.5\n-2,\"t,\"\"wo\",-0\r\n3,,1e3"),
              ElementsAre("a=1, t='one', x=1.5", "a=-2, t='t,\"wo', x=-0", "a=3, t='', x=1000"));
  EXPECT_THAT(Rows({{"t string"}}, "\n\"\"\nx\n"), ElementsAre("t=''", "t=''", "t='x'"));
  EXPECT_THAT(Rows({{"b bool", "c bool"}}, "1,True\nfalse,0\n"), ElementsAre("b=1, c=1", "b=0, c=0"));
}

TEST(CsvColumns, TakeConsecutiveFieldsAsARow) {
  EXPECT_THAT(Rows({{"p uint8 (2, 2)", "y int64"}}, "1,2,3,4,5\n6,7,8,9,0\n"),
              ElementsAre("p=uint8 (2, 2) [1 2 3 4], y=5", "p=uint8 (2, 2) [6 7 8 9], y=0"));
  EXPECT_EQ(Rows({{"t string (2,)"}}, "a,\"b\"\n,d\n").size(), 2u);
}

TEST(CsvColumns, LeaveOutOtherFields) {
  const Table table{{"c int64", "a int64"}, {"a", "b", "c", "d"}};
  EXPECT_THAT(Rows(table, "1,\xFF,3,x\n5,\"6,6\",7,\n"), ElementsAre("c=3, a=1", "c=7, a=5"));
  EXPECT_THAT(Rows(table, "1,2,3\n"), ElementsAre(HasSubstr("the line has 3 fields, where 4 are expected")));
  EXPECT_THAT(Rows(table, "1,2\"2,3,4\n"), ElementsAre(HasSubstr("field 2 has a quote in it")));
}

TEST(CsvColumns, TakeNumbersWithSpacesAndQuotesAroundThem) {
  EXPECT_THAT(Rows({{"a int64", "x float32"}}, " 1 ,\t2.5\n\"3\",\" 4 \"\n+5, +.5 \n"),
              ElementsAre("a=1, x=2.5", "a=3, x=4", "a=5, x=0.5"));
  EXPECT_THAT(Rows({{"a int64", "b int64"}, {}, {' ', '"'}}, "1 2\n"), ElementsAre("a=1, b=2"));
}

TEST(CsvColumns, KeepSpacesOfTexts) {
  EXPECT_THAT(Rows({{"a string", "b string"}}, " x , \n"), ElementsAre("a=' x ', b=' '"));
}

std::string HowToState(std::string_view column, std::string_view type) {
  return Cat(", stated by types={…} or inferred from the first rows; if the value is right, state types={\"", column,
             "\": ", type, ", …}");
}

TEST(CsvColumns, SayWhichFieldIsNoNumber) {
  const Table table{{"a uint8", "x float32", "b bool"}};
  const auto wrong = [&](const char* line) { return Rows(table, Cat(line, "\n")).at(0); };
  EXPECT_EQ(wrong("300,1,1"), Cat("field 1, of \"a\", is 300; the column's type is uint8 ()",
                                  HowToState("a", "\"float64\""), ": 300,1,1"));
  EXPECT_EQ(wrong("-1,1,1"),
            Cat("field 1, of \"a\", is -1; the column's type is uint8 ()", HowToState("a", "\"float64\""), ": -1,1,1"));
  EXPECT_EQ(wrong("3,1e39,1"), Cat("field 2, of \"x\", is 1e39; the column's type is float32 ()",
                                   HowToState("x", "\"float64\""), ": 3,1e39,1"));
  EXPECT_EQ(wrong("3,1,yes"),
            Cat("field 3, of \"b\", is yes; the column's type is bool ()", HowToState("b", "str"), ": 3,1,yes"));
  EXPECT_EQ(wrong("3,1x,1"),
            Cat("field 2, of \"x\", is 1x; the column's type is float32 ()", HowToState("x", "str"), ": 3,1x,1"));
  EXPECT_EQ(wrong("3,,1"), "field 2, of \"x\", is empty; say what that stands for, such as missing={\"x\": 0}: 3,,1");
  EXPECT_THAT(wrong("3,  ,1"), HasSubstr("field 2, of \"x\", is empty"));
  EXPECT_THAT(wrong("3,\"\",1"), HasSubstr("field 2, of \"x\", is empty"));
  EXPECT_THAT(wrong(""), HasSubstr("field 1, of \"a\", is empty"));
  EXPECT_THAT(Rows({{"p int8 (3,)"}}, "1,2,x").at(0), HasSubstr("field 3, of \"p\", is x; the column's type is "));
  EXPECT_THAT(wrong(Cat("x", std::string(100, 'y')).c_str()), HasSubstr("y…"));
}

TEST(CsvColumns, CountTheFieldsOfALine) {
  const Table table{{"a int64", "b string"}};
  EXPECT_THAT(
      Rows(table, "1\n1,2,3\n1,2,\n1,\"x\n1,x,\"\n1,x\n"),
      ElementsAre("the line has 1 field, where 2 are expected: 1", "the line has 3 fields, where 2 are expected: 1,2,3",
                  "the line has 3 fields, where 2 are expected: 1,2,",
                  HasSubstr("the quotes of field 2 are not closed"), HasSubstr("the quotes of field 3 are not closed"),
                  "a=1, b='x'"));
  EXPECT_THAT(Rows({{"t string"}}, "a,b\n"), ElementsAre("the line has 2 fields, where 1 is expected: a,b"));
}

TEST(CsvColumns, GiveWhatIsMissing) {
  Table table{{"a int32", "x float32 (2,)", "t string", "u string"}, {}, {}, {"-1", "nan", "none", std::nullopt}};
  const auto rows = Rows(table, ",,2,,\n5,1,,\"\",x\n  ,\"\", ,y,\n");
  EXPECT_THAT(
      rows, ElementsAre("a=-1, x=float32 (2,) [nan 2], t='none', u=''", "a=5, x=float32 (2,) [1 nan], t='none', u='x'",
                        "a=-1, x=float32 (2,) [nan nan], t='y', u=''"));
  table.missing[2] = std::string(1000, 'm');
  EXPECT_THAT(Rows(table, "1,1,1,,\n").at(0), HasSubstr(std::string(1000, 'm')));
}

TEST(CsvColumns, TakeWordsForWhatIsMissingWhereToldSo) {
  const Table table{{"a int8", "x float32", "t string", "b bool"}, {}, {}, {"-1", "0.5", std::nullopt, "true"}};
  EXPECT_THAT(Rows(table, "NA,NaN,NA,null\n N/A ,null,NaN,\n2,nan,,0\n"),
              ElementsAre("a=-1, x=0.5, t='NA', b=1", "a=-1, x=0.5, t='NaN', b=1", "a=2, x=nan, t='', b=0"));
  EXPECT_THAT(Rows({{"a int8"}}, "NA\n"), ElementsAre(HasSubstr("is NA; say what that stands for")));
  EXPECT_THAT(Rows({{"x float32"}}, "NaN\n"), ElementsAre("x=nan"));
}

TEST(CsvColumns, SayThatATypeMayHaveBeenInferred) {
  EXPECT_THAT(Rows({{"a int64"}}, "1.5\n"),
              ElementsAre(HasSubstr("stated by types={…} or inferred from the first rows; if the value is right, state "
                                    "types={\"a\": \"float64\", …}")));
}

TEST(CsvColumns, RefuseLinesThatEndWithReturnsAlone) {
  EXPECT_THAT(Rows({{"t string"}}, "a\rb\r"), ElementsAre(HasSubstr("field 1 has a carriage return in it")));
  EXPECT_THAT(Rows({{"t string"}}, "\"a\rb\"\n"), ElementsAre("t='a\rb'"));
  EXPECT_THAT(Rows({{"t string", "u string"}}, "a,b\rc,d\r"), ElementsAre(HasSubstr("has carriage returns in it")));
}

TEST(CsvColumns, AreTextInUtf8) {
  const Table table{{"t string", "u string"}};
  const std::string bad = "field 1, of \"t\", is not UTF-8; convert the file: \\xc3,\\xa4";
  for (const size_t step : {1, 2}) {
    EXPECT_THAT(Rows(table, step == 1 ? "ä,ö\n\xC3,\xA4\nü,x\n" : "ä,ö\n\n\xC3,\xA4\n\nü,x\n", step),
                ElementsAre("t='ä', u='ö'", bad, "t='ü', u='x'"));
  }
}

TEST(CsvColumns, KeepRowsBeforeAndBehindOneThatFails) {
  std::string text;
  CsvColumnsTexts expected;
  for (int i = 0; i < 3000; ++i) {
    if (i % 7 == 3) {
      Append(text, i, ",text of a row that fails,x\n");
      expected.push_back(Cat("field 3, of \"b\", is x; the column's type is int64 ()", HowToState("b", "str"), ": ", i,
                             ",text of a row that fails,x"));
    } else {
      Append(text, i, ",text ", i, ",", i * i, "\n");
      expected.push_back(Cat("a=", i, ", t='text ", i, "', b=", i * i));
    }
  }
  EXPECT_THAT(Rows({{"a int64", "t string", "b int64"}}, text), ElementsAreArray(expected));
}

TEST(CsvColumns, TakeOneMessageAfterTheOther) {
  const Table table{{"a int64", "t string"}};
  const std::unique_ptr<RecordColumns> columns = table.Make();
  const OneFile file("1,a\n2,b\n3,c\n4,d\n5,e\n");
  const LineFormat format;
  const auto reader = *format.Open(file, "f", {}, 0, size_t{1} << 20);
  RecordBlock records;
  ASSERT_TRUE(reader->Next(records).ok());
  ASSERT_EQ(records.records.size(), 5u);
  absl::Status wrong;
  CsvColumnsTexts rows;
  size_t first = 0;
  for (const size_t count : {2, 3}) {
    columns->Expect(count);
    EXPECT_EQ(columns->Add(records, first, 1, count, wrong), count);
    first += count;
    Block block;
    EXPECT_TRUE(columns->Take(block).ok());
    ASSERT_EQ(block.columns[0].rows(), static_cast<int>(count));
    for (size_t i = 0; i < count; ++i) {
      const auto row = static_cast<int>(i);
      rows.push_back(RowText(table.schema(), {block.columns[0].row(row), block.columns[1].row(row)}));
    }
  }
  EXPECT_THAT(rows, ElementsAre("a=1, t='a'", "a=2, t='b'", "a=3, t='c'", "a=4, t='d'", "a=5, t='e'"));
}

}  // namespace
}  // namespace headrace
