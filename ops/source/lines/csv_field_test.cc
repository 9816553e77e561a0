#include "ops/source/lines/csv_field.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using CsvFieldTexts = std::vector<std::string>;

constexpr CsvDialect kComma;
constexpr CsvDialect kNoQuotes{',', std::nullopt};

CsvFieldTexts Fields(std::string_view line, const CsvDialect& dialect = kComma) {
  const auto texts = SplitLine(line, dialect);
  return texts.ok() ? *texts : CsvFieldTexts{std::string(texts.status().message())};
}

TEST(SplitLine, CutsAtDelimiters) {
  EXPECT_THAT(Fields(""), ElementsAre(""));
  EXPECT_THAT(Fields(","), ElementsAre("", ""));
  EXPECT_THAT(Fields("a,b c, d ,"), ElementsAre("a", "b c", " d ", ""));
  EXPECT_THAT(Fields("a\tb,c", {'\t', '"'}), ElementsAre("a", "b,c"));
  const std::string longer(100, 'x');
  EXPECT_THAT(Fields(longer + "," + longer), ElementsAre(longer, longer));
}

TEST(SplitLine, RefusesReturnsOutsideOfQuotes) {
  EXPECT_THAT(Fields("a,\"b\r\"\n"), ElementsAre(HasSubstr("goes on after its closing quote")));
  EXPECT_THAT(Fields("a,\"b\rc\",d"), ElementsAre("a", "b\rc", "d"));
  EXPECT_THAT(Fields("a,b\rc,d"), ElementsAre(HasSubstr("field 2 has a carriage return in it")));
}

TEST(SplitLine, TakesOffQuotes) {
  EXPECT_THAT(Fields(R"("a","b,c","","d""e","""","""x""")"), ElementsAre("a", "b,c", "", "d\"e", "\"", "\"x\""));
  EXPECT_THAT(Fields("'a,b',\"c\"", {',', '\''}), ElementsAre("a,b", "\"c\""));
  EXPECT_THAT(Fields(R"(a"b,"c)", kNoQuotes), ElementsAre("a\"b", "\"c"));
}

TEST(SplitLine, FindsAnyDelimiterAtAnyPlace) {
  for (size_t before = 0; before < 40; ++before) {
    for (size_t behind = 0; behind < 40; ++behind) {
      const std::string a(before, 'a'), b(behind, 'b');
      EXPECT_THAT(Fields(Cat(a, ",", b)), ElementsAre(a, b));
    }
  }
}

TEST(SplitLine, NamesTheFieldWhoseQuotesAreWrong) {
  EXPECT_THAT(Fields("a,\"b"), ElementsAre(HasSubstr("the quotes of field 2 are not closed in the line")));
  EXPECT_THAT(Fields("\""), ElementsAre(HasSubstr("the quotes of field 1 are not closed")));
  EXPECT_THAT(Fields("\"a\"\""), ElementsAre(HasSubstr("the quotes of field 1 are not closed")));
  EXPECT_THAT(Fields("a,5\" pipe"), ElementsAre(HasSubstr("field 2 has a quote in it and none around it")));
  EXPECT_THAT(Fields("a, \"b\""), ElementsAre(HasSubstr("field 2 has a quote in it and none around it")));
  EXPECT_THAT(Fields("\"a\" ,b"), ElementsAre(HasSubstr("field 1 goes on after its closing quote")));
  EXPECT_THAT(Fields("\"a\"b"), ElementsAre(HasSubstr("field 1 goes on after its closing quote")));
}

TEST(CsvDialect, IsOfCharactersThatNumbersDoNotHave) {
  EXPECT_EQ(CsvDialect::Of("\t", "'")->quote, '\'');
  EXPECT_EQ(CsvDialect::Of(" ", std::nullopt)->delimiter, ' ');
  for (const char* delimiter : {"", ",,", "a", "Z", "0", "9", "-", "+", ".", "\n", "\r", "ä", "\x80"}) {
    EXPECT_THAT(CsvDialect::Of(delimiter, "\"").status().message(), HasSubstr("delimiter is '")) << delimiter;
  }
  EXPECT_FALSE(CsvDialect::Of(std::string(1, '\0'), "\"").ok());
  for (const char* quote : {"", "\"\"", "x", "1", ",", " ", "\t", "\n"}) {
    EXPECT_THAT(CsvDialect::Of(",", quote).status().message(), HasSubstr("quote is '")) << quote;
  }
}

}  // namespace
}  // namespace headrace
