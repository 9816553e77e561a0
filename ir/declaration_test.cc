#include "ir/declaration.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ir/attributes.h"
#include "ir/graph.pb.h"
#include "ir/value.h"

namespace headrace::ir {
namespace {

TEST(Registry, FindsDeclarationsAndSortsThem) {
  Registry registry;
  for (const char* name : {"b", "a", "c"}) RequireRegistered(registry.Register({.name = name}));
  ASSERT_NE(registry.Find("a"), nullptr);
  EXPECT_EQ(registry.Find("a")->name, "a");
  EXPECT_EQ(registry.Find("d"), nullptr);
  ASSERT_EQ(registry.All().size(), 3u);
  EXPECT_EQ(registry.All()[1]->name, "b");
}

TEST(Registry, GivesRandomOperatorsASeed) {
  Registry registry;
  RequireRegistered(registry.Register({.name = "Flip", .traits = {.random = true}}));
  RequireRegistered(registry.Register({.name = "Resize"}));
  const Attribute* seed = registry.Find("Flip")->FindAttribute("seed");
  ASSERT_NE(seed, nullptr);
  EXPECT_TRUE(seed->nullable);
  EXPECT_EQ(seed->default_value, "None");
  EXPECT_EQ(registry.Find("Resize")->FindAttribute("seed"), nullptr);
}

TEST(Registry, RefusesADeclarationThatCannotBeUsed) {
  Registry registry;
  RequireRegistered(registry.Register({.name = "a", .summary = "The first."}));
  const std::vector<std::pair<Declaration, std::string>> wrong = {
      {{.name = ""}, "the declaration of an operator has no name"},
      {{.name = "a"}, "the declaration of a occurs twice"},
      {{.name = "b", .attributes = {{.name = "x"}, {.name = "x"}}}, "the declaration of b has two attributes named x"},
      {{.name = "b", .attributes = {{.name = "x", .default_value = "0", .minimum = 1}}},
       "the declaration of b: default: x is 0; it must be at least 1"},
      {{.name = "b",
        .attributes = {{.name = "x",
                        .type = AttributeType::kString,
                        .choices = {"fast", "slow"},
                        .hashed_as = {{"fast", "slow"}, {"faster", "slow"}}}}},
       "the declaration of b: x hashes faster as slow, and has not both choices"},
  };
  for (const auto& [declaration, message] : wrong) {
    bool made_visible = false;
    const absl::Status status = registry.Register(declaration, [&made_visible] { made_visible = true; });
    EXPECT_EQ(KindOf(status), ErrorKind::kGraph);
    EXPECT_EQ(status.message(), message);
    EXPECT_FALSE(made_visible);
  }
  EXPECT_EQ(registry.Find("a")->summary, "The first.");
  EXPECT_EQ(registry.All().size(), 1u);
}

TEST(RegistryDeathTest, EndsTheProcessForAMistakeBeforeMain) {
  EXPECT_DEATH(RequireRegistered(GraphError("the declaration of a occurs twice")), "the declaration of a occurs twice");
}

// One thread adds operators, the others look for those that it has added so far.
TEST(Registry, IsAddedToWhileOthersLookUp) {
  constexpr int kOperators = 300;
  Registry registry;
  std::atomic<int> added{0};
  std::atomic<int> completed{0};
  std::atomic<bool> wrong{false};
  const auto name_of = [](int i) { return Cat("op", i); };
  const auto look = [&] {
    while (added.load(std::memory_order_acquire) < kOperators) {
      const int before = added.load(std::memory_order_acquire);
      for (int i = 0; i < before; ++i) {
        const Declaration* found = registry.Find(name_of(i));
        if (found == nullptr || found->version != i + 1) wrong = true;
      }
      // What stands in the registry is complete.
      const size_t seen = registry.All().size();
      if (static_cast<int>(seen) > completed.load(std::memory_order_acquire)) wrong = true;
    }
  };
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) readers.emplace_back(look);
  for (int i = 0; i < kOperators; ++i) {
    RequireRegistered(registry.Register({.name = name_of(i), .version = i + 1}, [&] { completed.fetch_add(1); }));
    added.store(i + 1, std::memory_order_release);
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_FALSE(wrong);
  EXPECT_EQ(registry.All().size(), static_cast<size_t>(kOperators));
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
