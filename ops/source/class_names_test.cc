#include "ops/source/class_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const ClassTable> Table(std::string_view json) { return *ClassTable::Parse(json); }

TEST(ClassTable, NumbersNamesInTheirOrder) {
  const auto table = Table(R"(["dog", "cat", "", "zäh"])");
  EXPECT_EQ(*table->NumberOf("dog"), 0);
  EXPECT_EQ(*table->NumberOf("cat"), 1);
  EXPECT_EQ(*table->NumberOf(""), 2);
  EXPECT_EQ(*table->NumberOf("zäh"), 3);
}

TEST(ClassTable, NumbersTextsThatHaveOtherNames) {
  const auto table = Table(R"([["1", "World"], ["2", "Sports"], "3"])");
  EXPECT_EQ(*table->NumberOf("1"), 0);
  EXPECT_EQ(*table->NumberOf("2"), 1);
  EXPECT_EQ(*table->NumberOf("3"), 2);
  EXPECT_EQ(KindOf(table->NumberOf("World").status()), ErrorKind::kData);
}

TEST(ClassTable, NumbersTextsOfAnyShape) {
  const auto table = Table(R"(["a", "b"])");
  const Tensor numbers = *table->NumbersOf(*Tensor::CopyBytesArray(DType::kString, Shape{2, 1}, {"b", "a"}));
  EXPECT_EQ(numbers.TypeName(), "int32 (2, 1)");
  EXPECT_EQ(numbers.data<int32_t>()[0], 1);
  EXPECT_EQ(numbers.data<int32_t>()[1], 0);
  EXPECT_EQ(table->NumbersOf(*Tensor::CopyBytesArray(DType::kString, Shape{0}, {}))->elements(), 0);
  EXPECT_EQ(*table->NumbersOf(*Tensor::CopyBytes(DType::kString, "b"))->data<int32_t>(), 1);
}

TEST(ClassTable, NamesATextThatIsNoClass) {
  const auto table = Table(R"(["badger", "otter"])");
  const absl::Status wrong = table->NumberOf("bagder").status();
  EXPECT_EQ(KindOf(wrong), ErrorKind::kData);
  EXPECT_EQ(ToStd(wrong.message()), "is bagder, not one of the 2 classes; did you mean \"badger\"?");
  EXPECT_EQ(ToStd(table->NumberOf("heron").status().message()), "is heron, not one of the 2 classes");
  EXPECT_THAT(ToStd(table->NumberOf("a\nb").status().message()), HasSubstr("a\\nb"));
}

TEST(ClassTable, RefusesWhatIsNoListOfDifferentTexts) {
  for (const char* json : {"", "[]", "{}", "[1]", "[\"a\", \"a\"]", "[[\"a\", \"x\"], \"a\"]", "[[\"a\"]]",
                           "[[\"a\", 1]]", "[[[\"a\"], \"b\"]]", "[\"a\"", "\"a\"", "[\"\xff\"]"}) {
    const auto refused = ClassTable::Parse(json);
    EXPECT_EQ(KindOf(refused.status()), ErrorKind::kGraph) << json;
  }
}

}  // namespace
}  // namespace headrace
