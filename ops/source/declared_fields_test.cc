#include "ops/source/declared_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "core/error.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

std::string FieldText(std::string_view text) {
  const auto column = ParseField(text);
  return column.ok() ? Cat(column->name, ": ", ir::TypeName(column->type)) : std::string(column.status().message());
}

TEST(ParseField, ReadsNamesTypesAndShapes) {
  EXPECT_EQ(FieldText("label int64"), "label: int64 ()");
  EXPECT_EQ(FieldText("a name float32 (4,)"), "a name: float32 (4,)");
  EXPECT_EQ(FieldText("words string (None, 2)"), "words: string (None, 2)");
  EXPECT_EQ(FieldText("odd (x) bool ()"), "odd (x): bool ()");
  EXPECT_EQ(FieldText(" uint8"), ": uint8 ()");
}

TEST(ParseField, RefusesOthers) {
  for (const char* text : {"", "x", "x bytes", "x float16", "x complex", "x int64(4)", "x (4,)"}) {
    EXPECT_THAT(FieldText(text), HasSubstr("has no type that a field can have")) << text;
  }
  EXPECT_THAT(FieldText("x int64 (4, y)"), HasSubstr("has the dimension y"));
  EXPECT_THAT(FieldText("x int64 (-1,)"), HasSubstr("has the dimension -1"));
  EXPECT_THAT(FieldText("x int64 (4"), HasSubstr("has no shape in ()"));
  std::string deep = "x int64 (";
  for (int i = 0; i < 40; ++i) deep += "1,";
  EXPECT_THAT(FieldText(deep + ")"), HasSubstr("more than 32 axes"));
}

TEST(ParseTypedName, TakesAnyType) {
  const auto text_of = [](std::string_view text) {
    const auto column = ParseTypedName(text);
    if (!column.ok()) return std::string(column.status().message());
    return column->has_value() ? Cat((*column)->name, ": ", ir::TypeName((*column)->type)) : "none";
  };
  EXPECT_EQ(text_of("a (1).jpg bytes ()"), "a (1).jpg: bytes ()");
  EXPECT_EQ(text_of("x float16 (None,)"), "x: float16 (None,)");
  EXPECT_EQ(text_of("x"), "none");
  EXPECT_EQ(text_of("x complex ()"), "none");
  EXPECT_THAT(text_of("x int64 (y,)"), HasSubstr("has the dimension y"));
}

}  // namespace
}  // namespace headrace
