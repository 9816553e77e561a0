#include "io/formats/lmdb/lmdb_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/testing/rounds.h"
#include "io/files/testing/counted_reads.h"
#include "io/files/testing/one_file.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kLmdbTestData[] = "io/formats/lmdb/testdata/";

std::string BytesOfFile(const std::string& path) {
  const auto read = LocalFileSystem()->Read(path);
  EXPECT_TRUE(read.ok()) << read.status();
  return {reinterpret_cast<const char*>(read->raw()), read->bytes()};
}

struct LmdbText {
  std::string key;
  std::string value;

  friend bool operator==(const LmdbText&, const LmdbText&) = default;
};

// The entries before the first one that fails.
std::vector<LmdbText> ReadEntries(const FileSystem& files, const LmdbTable& made) {
  const auto table = std::make_shared<const LmdbTable>(made);
  const LmdbRows reader(&files, table);
  std::vector<LmdbText> entries;
  for (uint64_t row = 0; row < table->size(); ++row) {
    const LmdbTable::Place place = table->PlaceOf(row);
    RandomAccessReader::Content content;
    absl::Status wrong;
    if (reader.Read({2 * row}, absl::MakeSpan(&content, 1), wrong) == 0) return entries;
    LmdbText entry{std::string(content.bytes.substr(LmdbEntry::kHead, place.key_bytes)),
                   std::string(content.bytes.substr(LmdbEntry::kHead + place.key_bytes))};
    if (place.value_page != 0) {
      if (reader.Read({2 * row + 1}, absl::MakeSpan(&content, 1), wrong) == 0) return entries;
      entry.value = content.bytes;
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<LmdbText> PlainEntries() {
  std::vector<LmdbText> entries;
  for (int i = 0; i < 300; ++i) {
    if (i == 7) continue;
    const std::string digits = std::to_string(100000 + i).substr(1);
    std::string value = Cat(i, "-", std::string(static_cast<size_t>(i * 37 % 90), 'v'));
    if (i == 100) value = std::string(9000, 'b');
    if (i == 299) value = std::string(4080, 'e');
    entries.push_back({Cat("key-", digits), value});
  }
  return entries;
}

TEST(LmdbRows, AreTheEntriesInTheOrderOfTheirKeys) {
  const auto table = MakeLmdbTable(*LocalFileSystem(), Cat(kLmdbTestData, "plain.mdb"), "");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(ReadEntries(*LocalFileSystem(), *table), PlainEntries());
}

TEST(LmdbRows, AreReadTogether) {
  const auto made = MakeLmdbTable(*LocalFileSystem(), Cat(kLmdbTestData, "plain.mdb"), "");
  ASSERT_TRUE(made.ok()) << made.status();
  const LmdbRows reader(LocalFileSystem(), std::make_shared<const LmdbTable>(*made));
  std::vector<uint64_t> items;
  for (uint64_t row = 0; row < made->size(); ++row) items.push_back(2 * row);
  std::vector<RandomAccessReader::Content> contents(items.size());
  absl::Status wrong;
  ASSERT_EQ(reader.Read(items, absl::MakeSpan(contents), wrong), items.size()) << wrong;
  const std::vector<LmdbText> entries = PlainEntries();
  for (size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(contents[i].bytes.substr(LmdbEntry::kHead, entries[i].key.size()), entries[i].key);
  }
}

TEST(LmdbTable, FindsNamedDatabases) {
  const std::string path = Cat(kLmdbTestData, "named.mdb");
  const auto labels = MakeLmdbTable(*LocalFileSystem(), path, "labels");
  ASSERT_TRUE(labels.ok()) << labels.status();
  const std::vector<LmdbText> entries = ReadEntries(*LocalFileSystem(), *labels);
  ASSERT_EQ(entries.size(), 5u);
  EXPECT_EQ(entries[3], (LmdbText{"3", "l3"}));
  const auto refused = [&](const std::string& database) {
    const auto table = MakeLmdbTable(*LocalFileSystem(), path, database);
    EXPECT_EQ(KindOf(table.status()), ErrorKind::kGraph);
    return std::string(ToStd(table.status().message()));
  };
  EXPECT_THAT(refused(""), AllOf(HasSubstr("database="), HasSubstr("\"images\", \"labels\"")));
  EXPECT_THAT(refused("label"), HasSubstr("\"images\", \"labels\""));
  const auto none = MakeLmdbTable(*LocalFileSystem(), Cat(kLmdbTestData, "plain.mdb"), "labels");
  EXPECT_THAT(std::string(ToStd(none.status().message())), HasSubstr("no named databases"));
}

TEST(LmdbTable, RefusesDuplicatesAndTakesEmptyFiles) {
  const auto several = MakeLmdbTable(*LocalFileSystem(), Cat(kLmdbTestData, "dupsort.mdb"), "several");
  EXPECT_EQ(KindOf(several.status()), ErrorKind::kUnsupported);
  EXPECT_THAT(std::string(ToStd(several.status().message())), HasSubstr("dupsort"));
  const auto empty = MakeLmdbTable(*LocalFileSystem(), Cat(kLmdbTestData, "empty.mdb"), "");
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_EQ(empty->size(), 0u);
}

TEST(LmdbTable, IsOfAFolderOrAFile) {
  const TemporaryFolder folder;
  folder.Write("data.mdb", BytesOfFile(Cat(kLmdbTestData, "plain.mdb")));
  EXPECT_EQ(*FindLmdbFile(*LocalFileSystem(), folder.path()), folder / "data.mdb");
  EXPECT_EQ(*FindLmdbFile(*LocalFileSystem(), folder / "data.mdb"), folder / "data.mdb");
}

TEST(LmdbRows, KnowThatSomethingWasCommitted) {
  const TemporaryFolder folder;
  std::string bytes = BytesOfFile(Cat(kLmdbTestData, "plain.mdb"));
  folder.Write("a.mdb", bytes);
  const auto table = MakeLmdbTable(*LocalFileSystem(), folder / "a.mdb", "");
  ASSERT_TRUE(table.ok()) << table.status();
  const LmdbRows reader(LocalFileSystem(), std::make_shared<const LmdbTable>(*table));
  EXPECT_TRUE(reader.CheckUnchanged().ok());
  // The number of the transaction of the first meta page.
  bytes[kLmdbPageHead + 128] = static_cast<char>(bytes[kLmdbPageHead + 128] + 40);
  folder.Write("a.mdb", bytes);
  const absl::Status changed = reader.CheckUnchanged();
  EXPECT_THAT(std::string(ToStd(changed.message())), HasSubstr("run without writers"));
  EXPECT_TRUE(IsBeyondRow(changed));
}

TEST(LmdbRows, OpenTheFileOnce) {
  const CountedReads files(LocalFileSystem());
  const auto table = MakeLmdbTable(*LocalFileSystem(), Cat(kLmdbTestData, "plain.mdb"), "");
  ASSERT_TRUE(table.ok()) << table.status();
  const LmdbRows reader(&files, std::make_shared<const LmdbTable>(*table));
  for (uint64_t row = 0; row < 3; ++row) {
    RandomAccessReader::Content content;
    absl::Status wrong;
    ASSERT_EQ(reader.Read({2 * row}, absl::MakeSpan(&content, 1), wrong), 1u) << wrong;
    ASSERT_TRUE(reader.CheckUnchanged().ok());
  }
  EXPECT_EQ(files.opens(), 1);
}

TEST(LmdbTable, ReadsThePagesOfItsTreeOnce) {
  const CountedReads files(LocalFileSystem());
  const std::string path = Cat(kLmdbTestData, "plain.mdb");
  const auto table = MakeLmdbTable(files, path, "");
  ASSERT_TRUE(table.ok()) << table.status();
  std::set<int64_t> leaves;
  for (uint64_t row = 0; row < table->size(); ++row) leaves.insert(table->PlaceOf(row).at / table->page_bytes());
  // Two meta pages' first bytes, the leaves, and the root above them.
  EXPECT_EQ(files.bytes(),
            static_cast<int64_t>(2 * kLmdbMetaBytes) + static_cast<int64_t>(leaves.size() + 1) * table->page_bytes());
}

TEST(LmdbRows, SayThatTheFileWasCutOff) {
  const TemporaryFolder folder;
  const std::string bytes = BytesOfFile(Cat(kLmdbTestData, "plain.mdb"));
  folder.Write("a.mdb", bytes);
  const auto table = MakeLmdbTable(*LocalFileSystem(), folder / "a.mdb", "");
  ASSERT_TRUE(table.ok()) << table.status();
  const LmdbRows reader(LocalFileSystem(), std::make_shared<const LmdbTable>(*table));
  folder.Write("a.mdb", bytes.substr(0, 2 * 4096));
  std::vector<uint64_t> items;
  for (uint64_t row = 0; row < table->size(); ++row) items.push_back(2 * row);
  std::vector<RandomAccessReader::Content> contents(items.size());
  absl::Status wrong;
  EXPECT_LT(reader.Read(items, absl::MakeSpan(contents), wrong), items.size());
  EXPECT_THAT(DescribeError(wrong), HasSubstr("the entry's page ends at byte"));
}

// The last page of this one is that of the tree of free pages.
TEST(LmdbTable, NeedsThePagesOfItsTreeAlone) {
  const std::string good = BytesOfFile(Cat(kLmdbTestData, "plain.mdb"));
  const OneFile files{good.substr(0, good.size() - 4096)};
  const auto table = MakeLmdbTable(files, "a.mdb", "");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(ReadEntries(files, *table), PlainEntries());
}

TEST(LmdbTable, SaysWhatIsWrong) {
  const std::string good = BytesOfFile(Cat(kLmdbTestData, "plain.mdb"));
  const auto refused = [](std::string bytes) {
    const OneFile files{std::move(bytes)};
    const auto table = MakeLmdbTable(files, "a.mdb", "");
    EXPECT_EQ(GetErrorField(table.status(), ErrorField::kFile), "a.mdb");
    return std::string(ToStd(table.status().message()));
  };
  EXPECT_THAT(refused(""), HasSubstr("not a file of LMDB"));
  EXPECT_THAT(refused(std::string(200, 'x')), HasSubstr("not a file of LMDB"));
  EXPECT_THAT(refused(good.substr(0, 15 * 4096 - 1)), HasSubstr("it has 14 pages of 4096 bytes"));
  std::string narrow = good;
  narrow.erase(0, 4);
  EXPECT_THAT(refused(narrow), HasSubstr("32 bits"));
  std::string later = good;
  later[kLmdbPageHead + 4] = 2;
  EXPECT_THAT(refused(later), HasSubstr("version 2"));
}

TEST(LmdbTable, SurvivesDamageAtEveryByte) {
  const int64_t step = OneIn({.quick = 7, .sanitized = 11});
  for (const char* name : {"named.mdb", "plain.mdb"}) {
    const std::string good = BytesOfFile(Cat(kLmdbTestData, name));
    // Most bytes of a long file are those of values.
    const size_t between = static_cast<size_t>(step) * (name[0] == 'p' ? 61 : 1);
    for (size_t at = 0; at < good.size(); at += between) {
      // What nothing was written to is not looked at.
      if (good[at] == 0 && at % 16 != 0) continue;
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ 0xFF);
      const OneFile files{bytes};
      for (const char* database : {"", "labels"}) {
        const auto table = MakeLmdbTable(files, "a.mdb", database);
        if (table.ok()) ReadEntries(files, *table);
      }
    }
  }
}

}  // namespace
}  // namespace headrace
