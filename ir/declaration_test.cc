#include "ir/declaration.h"

#include <gtest/gtest.h>

#include "ir/attributes.h"
#include "ir/value.h"

namespace headrace::ir {
namespace {

TEST(Registry, FindsDeclarationsAndSortsThem) {
  Registry registry;
  registry.Register({.name = "b"});
  registry.Register({.name = "a"});
  registry.Register({.name = "c"});
  ASSERT_NE(registry.Find("a"), nullptr);
  EXPECT_EQ(registry.Find("a")->name, "a");
  EXPECT_EQ(registry.Find("d"), nullptr);
  ASSERT_EQ(registry.All().size(), 3u);
  EXPECT_EQ(registry.All()[1]->name, "b");
}

TEST(Registry, GivesRandomOperatorsASeed) {
  Registry registry;
  registry.Register({.name = "Flip", .traits = {.random = true}});
  registry.Register({.name = "Resize"});
  const Attribute* seed = registry.Find("Flip")->FindAttribute("seed");
  ASSERT_NE(seed, nullptr);
  EXPECT_TRUE(seed->nullable);
  EXPECT_EQ(seed->default_value, "None");
  EXPECT_EQ(registry.Find("Resize")->FindAttribute("seed"), nullptr);
}

TEST(RegistryDeathTest, RefusesANameDeclaredTwice) {
  Registry registry;
  registry.Register({.name = "a"});
  EXPECT_DEATH(registry.Register({.name = "a"}), "the declaration of a occurs twice");
}

TEST(RegistryDeathTest, RefusesADefaultThatDoesNotFit) {
  Registry registry;
  EXPECT_DEATH(registry.Register({.name = "a", .attributes = {{.name = "x", .default_value = "0", .minimum = 1}}}),
               "x is 0; it must be at least 1");
}

TEST(Declaration, PassesColumnsThatAreWanted) {
  const Schema schema = {{{"a", ColumnType::Unknown()}, {"b", ColumnType::Unknown()}}};
  EXPECT_EQ(PassesColumns()({}, {schema}, {"b", "c"}), (std::vector<ColumnSet>{{"b"}}));
  EXPECT_EQ(*PassesSchema()({}, {schema}), schema);
}

TEST(Attributes, GiveWhatStandsInTheGraph) {
  Attributes attributes;
  attributes.Set("none", NoneValue());
  attributes.Set("bool", BoolValue(true));
  attributes.Set("int", IntValue(-3));
  attributes.Set("float", FloatValue(0.5));
  attributes.Set("text", StringValue("x"));
  attributes.Set("ints", IntsValue({1, 2}));
  attributes.Set("floats", FloatsValue({1, 2.5}));
  attributes.Set("texts", StringsValue({"a"}));
  attributes.Set("dtype", StringValue("int16"));
  attributes.Set("pairs", PairsValue({{"a", "b"}}));
  attributes.Set("reference", ReferenceValue("train.py:f#0"));
  attributes.Set("columns", ColumnsValue({{{"a", ColumnType::Of(DType::kInt8, {2})}}}));
  EXPECT_TRUE(attributes.IsNone("none"));
  EXPECT_FALSE(attributes.IsNone("int"));
  EXPECT_TRUE(attributes.Bool("bool"));
  EXPECT_EQ(attributes.Int("int"), -3);
  EXPECT_EQ(attributes.Float("float"), 0.5);
  EXPECT_EQ(attributes.String("text"), "x");
  EXPECT_EQ(attributes.Ints("ints"), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(attributes.Floats("floats"), (std::vector<double>{1, 2.5}));
  EXPECT_EQ(attributes.Strings("texts"), (std::vector<std::string>{"a"}));
  EXPECT_EQ(attributes.Type("dtype"), DType::kInt16);
  EXPECT_EQ(attributes.Pairs("pairs")[0].second, "b");
  EXPECT_EQ(attributes.ReferenceName("reference"), "train.py:f#0");
  EXPECT_EQ(attributes.Columns("columns").columns[0].name, "a");
  EXPECT_EQ(attributes.Find("other"), nullptr);
}

TEST(AttributesDeathTest, DieForWhatNobodyDeclared) {
  EXPECT_DEATH(Attributes().Int("size"), "attribute \"size\" is missing");
}

}  // namespace
}  // namespace headrace::ir
