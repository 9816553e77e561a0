#include "io/formats/split_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace headrace {
namespace {

constexpr int64_t kEnd = Split::kFileEnd;

TEST(SplitTable, CutsEachFileByItself) {
  const SplitTable table({10, 0, 20, 1}, 10);
  ASSERT_EQ(table.size(), 5u);
  const std::vector<SplitTable::FileSplit> expected = {
      {0, {0, kEnd}}, {1, {0, kEnd}}, {2, {0, 10}}, {2, {10, kEnd}}, {3, {0, kEnd}}};
  for (uint64_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(table.At(i).file, expected[i].file) << i;
    EXPECT_EQ(table.At(i).split, expected[i].split) << i;
  }
}

TEST(SplitTable, CoversEveryByteOnce) {
  for (const int64_t split_bytes : {1, 2, 3, 7, 100}) {
    const std::vector<int64_t> sizes = {0, 1, 7, 8, 100};
    const SplitTable table(sizes, split_bytes);
    uint64_t file = 0;
    int64_t at = 0;
    for (uint64_t i = 0; i < table.size(); ++i) {
      const SplitTable::FileSplit found = table.At(i);
      EXPECT_EQ(found.file, file);
      EXPECT_EQ(found.split.begin, at);
      at = found.split.end == kEnd ? 0 : found.split.end;
      file += at == 0 ? 1 : 0;
      if (found.split.end != kEnd) continue;
      EXPECT_LE(sizes[found.file] - found.split.begin, split_bytes);
    }
    EXPECT_EQ(file, sizes.size());
  }
}

TEST(SplitTable, HasTheSplitsOfAPart) {
  // 38 bytes in 3 parts: of 13 bytes, or of 16 for frames.
  const std::vector<int64_t> sizes = {10, 0, 20, 8};
  const auto splits = [&](uint64_t number, PartBorders borders) {
    const SplitTable table(sizes, 10, {number, 3, borders});
    std::vector<std::pair<uint64_t, Split>> found;
    for (uint64_t i = 0; i < table.size(); ++i) found.emplace_back(table.At(i).file, table.At(i).split);
    return found;
  };
  using Found = std::vector<std::pair<uint64_t, Split>>;
  EXPECT_EQ(splits(0, {1, false}), (Found{{0, {0, kEnd}}, {2, {0, 3}}}));
  EXPECT_EQ(splits(1, {1, false}), (Found{{2, {3, 13}}, {2, {13, 16}}}));
  EXPECT_EQ(splits(2, {1, false}), (Found{{2, {16, kEnd}}, {3, {0, kEnd}}}));
  EXPECT_EQ(splits(0, {4, false}), (Found{{0, {0, kEnd}}, {2, {0, 6}}}));
  EXPECT_EQ(splits(2, {4, false}), (Found{{3, {2, kEnd}}}));
  // A line that begins at byte 3 of file 2 is the first part's.
  EXPECT_EQ(splits(0, {1, true}), (Found{{0, {0, kEnd}}, {2, {0, 4}}}));
  EXPECT_EQ(splits(1, {1, true}), (Found{{2, {4, 14}}, {2, {14, 17}}}));
}

TEST(SplitTable, GivesEachByteToOnePart) {
  const std::vector<int64_t> sizes = {0, 1, 7, 0, 8, 100, 0};
  for (const PartBorders borders : {PartBorders{1, false}, PartBorders{4, false}, PartBorders{1, true}}) {
    for (const uint64_t parts : {uint64_t{1}, uint64_t{2}, uint64_t{5}, uint64_t{116}, uint64_t{1000}, ~uint64_t{0}}) {
      std::vector<std::pair<uint64_t, int64_t>> bytes;
      // Of very many parts all but the first are empty.
      for (uint64_t part = 0; part < std::min<uint64_t>(parts, 1200); ++part) {
        const SplitTable table(sizes, 3, {part, parts, borders});
        for (uint64_t i = 0; i < table.size(); ++i) {
          const auto [file, split] = table.At(i);
          for (int64_t at = split.begin; at < std::min(split.end, sizes[file]); ++at) bytes.emplace_back(file, at);
        }
      }
      std::vector<std::pair<uint64_t, int64_t>> expected;
      for (uint64_t file = 0; file < sizes.size(); ++file) {
        for (int64_t at = 0; at < sizes[file]; ++at) expected.emplace_back(file, at);
      }
      EXPECT_EQ(bytes, expected) << parts;
      const bool more_than_bytes = parts >= 1000;
      EXPECT_TRUE(!more_than_bytes || SplitTable(sizes, 3, {parts - 1, parts, borders}).size() == 0) << parts;
    }
  }
}

TEST(SplitTable, KeepsFilesWhole) {
  SplitTable table({10, 5, 20, 30}, 10);
  EXPECT_EQ(table.CutFiles(), (std::vector<uint64_t>{2, 3}));
  table.KeepWhole({2});
  const std::vector<SplitTable::FileSplit> expected = {{0, {0, kEnd}}, {1, {0, kEnd}}, {2, {0, kEnd}},
                                                       {3, {0, 10}},   {3, {10, 20}},  {3, {20, kEnd}}};
  ASSERT_EQ(table.size(), expected.size());
  for (uint64_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(table.At(i).file, expected[i].file) << i;
    EXPECT_EQ(table.At(i).split, expected[i].split) << i;
  }
  EXPECT_EQ(table.CutFiles(), (std::vector<uint64_t>{3}));
}

TEST(SplitTable, GivesAWholeFileToThePartOfItsFirstByte) {
  const std::vector<int64_t> sizes = {1, 7, 8, 100, 3};
  for (const PartBorders borders : {PartBorders{1, false}, PartBorders{4, false}, PartBorders{1, true}}) {
    for (const uint64_t parts : {1, 2, 3, 5, 119, 1000}) {
      std::vector<uint64_t> whole;
      int64_t of_three = 0;
      for (uint64_t part = 0; part < parts; ++part) {
        SplitTable table(sizes, 3, {part, parts, borders});
        std::vector<uint64_t> cut = table.CutFiles();
        std::erase(cut, uint64_t{3});
        table.KeepWhole(cut);
        for (uint64_t i = 0; i < table.size(); ++i) {
          const auto [file, split] = table.At(i);
          if (file != 3) {
            EXPECT_EQ(split, Split());
            whole.push_back(file);
          } else {
            of_three += std::min(split.end, sizes[3]) - split.begin;
          }
        }
      }
      EXPECT_EQ(whole, (std::vector<uint64_t>{0, 1, 2, 4})) << parts;
      EXPECT_EQ(of_three, sizes[3]);
    }
  }
}

TEST(SplitTable, HasOneSplitAFileForWholeFiles) {
  EXPECT_EQ(SplitTable({5, 0, 1 << 20}, SplitTable::kWholeFiles).size(), 3u);
}

TEST(SplitTable, CutsAThousandSplitsWithinBounds) {
  EXPECT_EQ(SplitTable::DefaultSplitBytes(0), 64 << 10);
  EXPECT_EQ(SplitTable::DefaultSplitBytes(int64_t{1} << 30), 1 << 20);
  EXPECT_EQ(SplitTable::DefaultSplitBytes(int64_t{1} << 50), 16 << 20);
}

}  // namespace
}  // namespace headrace
