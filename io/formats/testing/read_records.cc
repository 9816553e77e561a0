#include "io/formats/testing/read_records.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "io/files/testing/one_file.h"
#include "io/formats/split_table.h"

namespace headrace {
namespace {

constexpr size_t kBlocks[] = {1, 2, 3, 5, 8, 16, 61, 4096, 256 << 10};

// Splits of so many bytes, one after the other; stops at the first that fails.
ReadRecords ReadInSplits(const Format& format, const OneFile& file, int64_t size, int64_t split_bytes, size_t block) {
  const SplitTable splits({size}, split_bytes);
  ReadRecords all;
  for (uint64_t i = 0; i < splits.size() && all.error.ok(); ++i) {
    const Split split = splits.At(i).split;
    ReadRecords part = ReadSplit(format, file, "a", split, split.begin, block);
    for (ReadRecord& record : part.records) {
      EXPECT_TRUE(record.offset >= split.begin && record.offset < split.end) << record.offset;
      all.records.push_back(std::move(record));
    }
    all.lost.insert(all.lost.end(), part.lost.begin(), part.lost.end());
    all.error = part.error;
    all.failed = part.failed;
  }
  return all;
}

// The lost bytes, each stretch as one.
std::vector<std::pair<int64_t, int64_t>> Stretches(const std::vector<LostBytes>& lost) {
  std::vector<std::pair<int64_t, int64_t>> stretches;
  for (const LostBytes& each : lost) {
    EXPECT_GT(each.bytes, 0);
    EXPECT_FALSE(each.reason.empty());
    if (stretches.empty() || stretches.back().second != each.offset) stretches.emplace_back(each.offset, each.offset);
    stretches.back().second += each.bytes;
  }
  return stretches;
}

void ExpectSame(const ReadRecords& found, const ReadRecords& expected, int64_t split_bytes, size_t block) {
  ASSERT_EQ(found.error.ok(), expected.error.ok()) << split_bytes << ", " << block << ": " << found.error;
  ASSERT_EQ(found.failed, expected.failed) << split_bytes << ", " << block;
  ASSERT_EQ(Stretches(found.lost), Stretches(expected.lost)) << split_bytes << ", " << block;
  ASSERT_EQ(found.records.size(), expected.records.size()) << split_bytes << ", " << block;
  for (size_t i = 0; i < found.records.size(); ++i) {
    ASSERT_EQ(found.records[i].offset, expected.records[i].offset) << split_bytes << ", " << block << ", " << i;
    ASSERT_EQ(found.records[i].content, expected.records[i].content) << split_bytes << ", " << block << ", " << i;
  }
}

}  // namespace

ReadRecords ReadSplit(const Format& format, const FileSystem& files, const std::string& path, const Split& split,
                      int64_t from, size_t block_bytes) {
  ReadRecords read;
  const auto reader = format.Open(files, path, split, from, block_bytes);
  read.error = reader.status();
  RecordBlock block;
  while (read.error.ok()) {
    read.error = (*reader)->Next(block);
    if (!read.error.ok()) read.failed = (*reader)->offset();
    if (!read.error.ok()) break;
    read.lost.insert(read.lost.end(), block.lost.begin(), block.lost.end());
    if (block.records.empty()) break;
    for (size_t i = 0; i < block.records.size(); ++i) {
      read.records.push_back({block.records[i].offset, std::string(block.content(i)), block.After(i)});
    }
  }
  return read;
}

ReadRecords ReadEveryWay(const Format& format, const std::string& bytes) {
  const OneFile file(bytes);
  const auto size = static_cast<int64_t>(bytes.size());
  ReadRecords whole = ReadSplit(format, file, "a", {}, 0, 1 << 20);
  for (const size_t block : kBlocks) {
    if (bytes.size() / block > 50'000) continue;
    for (const int64_t split_bytes :
         {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{7}, int64_t{64}, size / 2 + 1, size + 1}) {
      if (size / split_bytes > 2000) continue;
      ExpectSame(ReadInSplits(format, file, size, split_bytes, block), whole, split_bytes, block);
    }
  }
  for (size_t i = 0; i < whole.records.size(); i += 1 + whole.records.size() / 50) {
    const ReadRecords rest = ReadSplit(format, file, "a", {}, whole.records[i].after, 61);
    EXPECT_TRUE(std::equal(rest.records.begin(), rest.records.end(), whole.records.begin() + static_cast<long>(i) + 1,
                           whole.records.end()))
        << i;
  }
  return whole;
}

}  // namespace headrace
