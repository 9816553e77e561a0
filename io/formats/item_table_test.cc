#include "io/formats/item_table.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "core/hash.h"
#include "core/text.h"

namespace headrace {
namespace {

// Items as the table is asked for them, one after the other.
std::vector<std::pair<int64_t, int64_t>> SpansOf(const ItemTable& table) {
  std::vector<std::pair<int64_t, int64_t>> spans;
  for (uint64_t item = 0; item < table.size(); ++item) {
    const uint64_t file = table.FileOf(item);
    spans.emplace_back(table.Begin(item, file), table.End(item, file));
  }
  return spans;
}

TEST(ItemTable, NumbersItemsOverFiles) {
  ItemTable table;
  table.Add("a", 30, {.begins = {0, 10, 20}, .end = 30});
  table.Add("empty", 0, {});
  table.Add("b", 9, {.begins = {2}, .ends = {7}});
  ASSERT_EQ(table.size(), 4u);
  const std::vector<std::pair<int64_t, int64_t>> expected = {{0, 10}, {10, 20}, {20, 30}, {2, 7}};
  EXPECT_EQ(SpansOf(table), expected);
  EXPECT_EQ(table.FileOf(2), 0u);
  EXPECT_EQ(table.FileOf(3), 2u);
  EXPECT_EQ(table.files()[2].path, "b");
  EXPECT_EQ(table.files()[2].size, 9);
  EXPECT_EQ(table.files()[2].first, 3u);
}

TEST(ItemTable, KnowsEndsThatAreNotTheNextBegins) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    ItemTable table;
    std::vector<std::pair<int64_t, int64_t>> expected;
    for (int file = 0; file < 3; ++file) {
      const uint64_t apart_of_ten = random() % 11;
      ItemSpans items;
      int64_t at = 0;
      for (size_t i = random() % 12; i > 0; --i) {
        if (random() % 10 < apart_of_ten) at += 1 + static_cast<int64_t>(random() % 5);
        items.begins.push_back(at);
        at += static_cast<int64_t>(random() % 100);
        items.ends.push_back(at);
        expected.emplace_back(items.begins.back(), at);
      }
      table.Add(Cat(file), at, items);
    }
    EXPECT_EQ(SpansOf(table), expected);
  }
}

TEST(ItemTable, ItemsMayStandInAnyOrder) {
  ItemTable table;
  table.Add("a", 100, {.begins = {50, 0, 20, 90}, .ends = {60, 20, 50, 100}});
  const std::vector<std::pair<int64_t, int64_t>> expected = {{50, 60}, {0, 20}, {20, 50}, {90, 100}};
  EXPECT_EQ(SpansOf(table), expected);
}

// States of runs hold it.
TEST(ItemTable, FingerprintOfItemsThatFollowEachOtherStaysAsItIs) {
  ItemTable table;
  table.Add("a", 30, {.begins = {0, 10, 20}, .end = 30});
  table.Add("b", 5, {.begins = {0}, .end = 5});
  const std::vector<int64_t> offsets = {0, 10, 20, 30, 0, 5};
  EXPECT_EQ(table.fingerprint(),
            HashBytes({reinterpret_cast<const char*>(offsets.data()), offsets.size() * sizeof(int64_t)}, 2));
}

TEST(ItemTable, FingerprintCoversFilesBeginsAndEnds) {
  const auto of = [](const std::vector<ItemSpans>& files) {
    ItemTable table;
    for (const ItemSpans& items : files) table.Add("a", 100, items);
    return table.fingerprint();
  };
  const ItemSpans next = {.begins = {0, 10, 20}, .end = 30};
  const ItemSpans same = {.begins = {0, 10, 20}, .ends = {10, 20, 30}};
  const ItemSpans apart = {.begins = {0, 10, 20}, .ends = {9, 20, 30}};
  const ItemSpans other = {.begins = {0, 10, 20}, .ends = {10, 19, 30}};
  EXPECT_EQ(of({next}), of({same}));
  EXPECT_NE(of({next}), of({apart}));
  EXPECT_NE(of({apart}), of({other}));
  EXPECT_NE(of({apart, next}), of({next, apart}));
  EXPECT_NE(of({next}), of({next, {}}));
}

}  // namespace
}  // namespace headrace
