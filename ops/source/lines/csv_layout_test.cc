#include "ops/source/lines/csv_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "ops/source/declared_fields.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

ir::Schema Declared(const std::vector<std::string>& fields) {
  ir::Schema schema;
  for (const std::string& field : fields) schema.columns.push_back(*ParseField(field));
  return schema;
}

// "0 -*2 1*3": column 0, two fields of none, column 1 of three; or the error.
std::string TextCsvLayout(const absl::StatusOr<std::vector<CsvRun>>& runs) {
  if (!runs.ok()) return std::string(runs.status().message());
  std::string text;
  for (const CsvRun& run : *runs) {
    Append(text, text.empty() ? "" : " ", run.column < 0 ? "-" : Cat(run.column));
    if (run.fields != 1) Append(text, "*", run.fields);
  }
  return text;
}

std::string ByNames(const std::vector<std::string>& names, const std::vector<std::string>& declared,
                    const std::vector<std::string>& made) {
  return TextCsvLayout(RunsByNames(names, Declared(declared), Declared(made).columns));
}

std::string ByHeader(const std::vector<std::string>& header, const std::vector<std::string>& declared,
                     const std::vector<std::string>& made) {
  return TextCsvLayout(RunsByHeader(header, Declared(declared), Declared(made).columns));
}

TEST(RunsByNames, GiveEachColumnItsFields) {
  const std::vector<std::string> all = {"p float32 (2, 3)", "y int32"};
  EXPECT_EQ(ByNames({"p", "y"}, all, all), "0*6 1");
  EXPECT_EQ(ByNames({"y", "id", "p"}, all, all), "1 - 0*6");
  EXPECT_EQ(ByNames({"y", "id", "p"}, all, {all[1]}), "0 -*7") << "p is not made, and has its fields";
  EXPECT_EQ(ByNames({"a", "b", "p", "y", "c"}, all, {all[0]}), "-*2 0*6 -*2");
}

TEST(RunsByNames, RefuseOthers) {
  EXPECT_THAT(ByNames({"x", "x"}, {"x int8"}, {}), HasSubstr("columns names \"x\" twice"));
  EXPECT_THAT(ByNames({"price", "y"}, {"prize int8"}, {}),
              HasSubstr("columns has no \"prize\"; did you mean \"price\"? (price, y)"));
  EXPECT_THAT(ByNames({"x"}, {"x int8 (None,)"}, {}), HasSubstr("say how many fields it takes"));
}

TEST(RunsByHeader, FindColumnsByName) {
  const std::vector<std::string> header = {"id", "y", "p0", "p1", "p2", "t", "t"};
  EXPECT_EQ(ByHeader(header, {"p0 float32 (3,)", "y int8"}, {"y int8", "p0 float32 (3,)"}), "- 0 1*3 -*2");
  EXPECT_EQ(ByHeader(header, {"p0 float32 (3,)", "y int8"}, {"y int8"}), "- 0 -*5");
  EXPECT_EQ(ByHeader({""}, {" string"}, {" string"}), "0");
}

TEST(RunsByHeader, RefuseOthers) {
  EXPECT_THAT(ByHeader({"a", "t", "t"}, {"t string"}, {}), HasSubstr("the header has the name \"t\" twice"));
  EXPECT_THAT(ByHeader({"a", "b"}, {"c string"}, {}), HasSubstr("the header has no \"c\""));
  EXPECT_THAT(ByHeader({"a", "b"}, {"b int8 (2,)"}, {}), HasSubstr("takes 2 fields, and the header has 1"));
  EXPECT_THAT(ByHeader({"a", "b"}, {"b int8", "a int8 (2,)"}, {}), HasSubstr("with them that of \"b\""));
  EXPECT_THAT(ByHeader(std::vector<std::string>(50, "a"), {"c string"}, {}), HasSubstr(", a, …)"));
}

TEST(FieldsOfColumn, AreCounted) {
  const auto fields = [](const char* field) { return FieldsOfColumn(*ParseField(field)); };
  EXPECT_EQ(*fields("x int8"), 1u);
  EXPECT_EQ(*fields("x int8 (2, 3)"), 6u);
  for (const char* none : {"x int8 (0,)", "x int8 (3, None)", "x string (None,)"}) {
    EXPECT_THAT(fields(none).status().message(), HasSubstr("at least 1")) << none;
  }
  EXPECT_THAT(fields("x int8 (9223372036854775807, 9223372036854775807)").status().message(), HasSubstr("more than"));
}

}  // namespace
}  // namespace headrace
