#include "ir/name_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/text.h"

namespace headrace::ir {
namespace {

std::string NumberedName(int number) { return Cat("name ", number); }

TEST(NameTable, FindsWhatWasAdded) {
  NameTable<int> table;
  EXPECT_EQ(table.Find("one"), nullptr);
  EXPECT_TRUE(table.All().empty());
  std::vector<const int*> found;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(table.Add(NumberedName(i), i));
    found.push_back(table.Find(NumberedName(i)));
  }
  for (int i = 0; i < 1000; ++i) {
    ASSERT_NE(found[i], nullptr);
    EXPECT_EQ(*found[i], i);
    EXPECT_EQ(table.Find(NumberedName(i)), found[i]) << "a pointer stays valid";
  }
  EXPECT_EQ(table.Find(NumberedName(1000)), nullptr);
  EXPECT_EQ(table.Find(""), nullptr);
}

TEST(NameTable, KeepsTheFirstOfAName) {
  NameTable<int> table;
  EXPECT_TRUE(table.Add("one", 1));
  EXPECT_FALSE(table.Add("one", 2));
  EXPECT_EQ(*table.Find("one"), 1);
  EXPECT_EQ(table.All().size(), 1U);
}

TEST(NameTable, ListsByName) {
  NameTable<std::string> table;
  for (const char* name : {"c", "a", "B", "ab", "b"}) table.Add(name, name);
  std::string names;
  for (const std::string* each : table.All()) names += *each + " ";
  EXPECT_EQ(names, "B a ab b c ");
}

TEST(NameTable, TakesWhatCannotBeCopied) {
  NameTable<std::unique_ptr<int>> table;
  table.Add("one", std::make_unique<int>(1));
  EXPECT_EQ(**table.Find("one"), 1);
}

TEST(NameTable, IsReadWhileItGrows) {
  NameTable<int> table;
  table.Add(NumberedName(0), 0);
  std::atomic<int> added{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&table, &added] {
      for (int last = 0; last < 2000;) {
        last = added.load(std::memory_order_acquire);
        const int* const found = table.Find(NumberedName(last));
        ASSERT_NE(found, nullptr);
        ASSERT_EQ(*found, last);
        ASSERT_GE(table.All().size(), static_cast<size_t>(last) + 1);
      }
    });
  }
  for (int i = 1; i <= 2000; ++i) {
    table.Add(NumberedName(i), i);
    added.store(i, std::memory_order_release);
  }
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace headrace::ir
