#include "io/formats/split_table.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

constexpr int64_t kEnd = Split::kFileEnd;

TEST(SplitTable, CutsEachFileByItself) {
  const SplitTable table({10, 0, 20, 1}, 10);
  ASSERT_EQ(table.size(), 5u);
  const std::vector<SplitTable::Place> expected = {
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
      const SplitTable::Place place = table.At(i);
      EXPECT_EQ(place.file, file);
      EXPECT_EQ(place.split.begin, at);
      at = place.split.end == kEnd ? 0 : place.split.end;
      file += at == 0 ? 1 : 0;
      if (place.split.end != kEnd) continue;
      EXPECT_LE(sizes[place.file] - place.split.begin, split_bytes);
    }
    EXPECT_EQ(file, sizes.size());
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
