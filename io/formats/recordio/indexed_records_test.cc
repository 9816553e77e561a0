#include "io/formats/recordio/indexed_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <thread>

#include "core/error.h"
#include "core/row_id.h"
#include "io/files/testing/counted_reads.h"
#include "io/files/testing/delayed_file_system.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/recordio/testing/record_bytes.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kIndexedRecordsMagicWord("\x0a\x23\xd7\xce", 4);

class IndexedRecordsTest : public ::testing::Test {
 protected:
  // Payloads of many lengths, some with magic words.
  static std::vector<std::string> Payloads(int count, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::string> payloads;
    for (int i = 0; i < count; ++i) {
      std::string payload = Cat(seed, "-", i, std::string(random() % 50, 'x'));
      if (i % 5 == 0)
        payload += std::string(random() % 5, 'y') + kIndexedRecordsMagicWord + kIndexedRecordsMagicWord + "z";
      if (i % 17 == 0) payload += std::string(100'000, 'l');
      payloads.push_back(std::move(payload));
    }
    return payloads;
  }
  IndexedRecords Reader(const FileSystem& files, const std::vector<std::string>& paths) {
    auto table = BuildIndices(files, paths, OnDamage::kFail, ChooseAll);
    EXPECT_TRUE(table.ok()) << table.status();
    return IndexedRecords(LocalFileSystem(), std::make_shared<const RecordTable>(*std::move(table)));
  }
  IndexedRecords ReaderOf(const std::string& index, const FileSystem* files = LocalFileSystem()) {
    auto table = ReadIndices(*LocalFileSystem(), {folder_ / "a.rec"}, {folder_.Write("i.idx", index)}, OnDamage::kFail,
                             ChooseAll);
    EXPECT_TRUE(table.ok()) << table.status();
    return IndexedRecords(files, std::make_shared<const RecordTable>(*std::move(table)));
  }
  struct Got {
    std::vector<std::string> texts;
    absl::Status wrong;
  };
  static Got Read(const IndexedRecords& reader, const std::vector<uint64_t>& items) {
    std::vector<RandomAccessReader::Content> contents(items.size());
    Got got;
    const size_t read = reader.Read(items, absl::MakeSpan(contents), got.wrong);
    for (size_t i = 0; i < read; ++i) got.texts.emplace_back(contents[i].bytes);
    return got;
  }

  TemporaryFolder folder_;
};

TEST_F(IndexedRecordsTest, GivesTheRecordsOfAllFilesInAnyOrder) {
  const std::vector<std::string> a = Payloads(60, 1), b = Payloads(40, 2);
  const std::vector<std::string> paths = {folder_.Write("a.rec", RecordBytes(a)), folder_.Write("b.rec", ""),
                                          folder_.Write("c.rec", RecordBytes(b))};
  const IndexedRecords reader = Reader(*LocalFileSystem(), paths);
  std::vector<std::string> all = a;
  all.insert(all.end(), b.begin(), b.end());
  ASSERT_EQ(reader.size(), all.size());
  std::vector<uint64_t> items(all.size());
  std::iota(items.begin(), items.end(), uint64_t{0});
  EXPECT_EQ(Read(reader, items).texts, all);
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    std::shuffle(items.begin(), items.end(), random);
    std::vector<uint64_t> some(items.begin(), items.begin() + 1 + static_cast<int>(random() % items.size()));
    if (round % 2 == 0) std::sort(some.begin(), some.end());
    if (round % 3 == 0) some.push_back(some.back());
    const Got got = Read(reader, some);
    ASSERT_TRUE(got.wrong.ok()) << got.wrong;
    for (size_t i = 0; i < some.size(); ++i) ASSERT_EQ(got.texts[i], all[some[i]]);
  }
}

TEST_F(IndexedRecordsTest, ReadsNeighboursTogether) {
  std::vector<std::string> payloads;
  for (int i = 0; i < 100; ++i) payloads.push_back(std::string(1000, 'x'));
  folder_.Write("a.rec", RecordBytes(payloads));
  int reads = 0;
  const FaultyFileSystem files(LocalFileSystem(), [&](std::string_view call, const std::string&) {
    reads += call == "ReadAt" ? 1 : 0;
    return absl::OkStatus();
  });
  const IndexedRecords reader = ReaderOf(IndexBytes(payloads), &files);
  std::vector<uint64_t> items(100);
  std::iota(items.begin(), items.end(), uint64_t{0});
  EXPECT_EQ(Read(reader, items).texts, payloads);
  EXPECT_EQ(reads, 1);
  std::reverse(items.begin(), items.end());
  EXPECT_EQ(Read(reader, items).texts, payloads);
  EXPECT_EQ(reads, 101);
}

TEST_F(IndexedRecordsTest, AsksForAllRecordsBeforeOneHasCome) {
  const std::vector<std::string> payloads(40, std::string(10'000, 'x'));
  folder_.Write("a.rec", RecordBytes(payloads));
  const DelayedFileSystem files(LocalFileSystem());
  const IndexedRecords reader = ReaderOf(IndexBytes(payloads), &files);
  std::vector<uint64_t> items;
  for (uint64_t i = 40; i > 0; i -= 2) items.push_back(i - 1);
  Got got;
  std::thread read([&] { got = Read(reader, items); });
  files.WaitFor(items.size());
  while (files.CompleteOne(7)) {
  }
  read.join();
  EXPECT_EQ(got.texts.size(), items.size());
}

TEST_F(IndexedRecordsTest, ReadsItsRecordsAlone) {
  std::vector<std::string> payloads;
  for (int i = 0; i < 100; ++i) payloads.push_back(std::string(10'000, 'x'));
  folder_.Write("a.rec", RecordBytes(payloads));
  const CountedReads files(LocalFileSystem());
  const IndexedRecords reader = ReaderOf(IndexBytes(payloads), &files);
  Read(reader, {3, 50, 97});
  EXPECT_LE(files.bytes(), 3 * (10'000 + 16));
}

TEST_F(IndexedRecordsTest, ReadsARecordOfWhichTheIndexDoesNotSayTheEnd) {
  const std::string longer(300'000, 'x');
  folder_.Write("a.rec", RecordBytes({"one", longer, "three",
                                      longer + kIndexedRecordsMagicWord + kIndexedRecordsMagicWord + longer, "five"}));
  const IndexedRecords reader = ReaderOf("0\t0\n1\t12\n");
  EXPECT_EQ(Read(reader, {0, 1}).texts, (std::vector<std::string>{"one", longer}));
  const IndexedRecords parts = ReaderOf(Cat("3\t", 12 + 8 + 300'000 + 16, "\n"));
  EXPECT_EQ(Read(parts, {0}).texts,
            (std::vector<std::string>{longer + kIndexedRecordsMagicWord + kIndexedRecordsMagicWord + longer}));
}

TEST_F(IndexedRecordsTest, NamesAnIndexThatPointsBetweenRecords) {
  const std::string path =
      folder_.Write("a.rec", RecordBytes({"one", std::string(100, 'x'), "abcd" + kIndexedRecordsMagicWord}));
  const IndexedRecords reader = ReaderOf("0\t0\n8\t40\n2\t120\n");
  const Got got = Read(reader, {0, 1, 2});
  EXPECT_EQ(got.texts, std::vector<std::string>{"one"});
  EXPECT_EQ(KindOf(got.wrong), ErrorKind::kData);
  EXPECT_THAT(ToStd(got.wrong.message()), AllOf(HasSubstr("i.idx: key 8 points to byte 40 of"), HasSubstr(path)));
  EXPECT_EQ(GetErrorField(got.wrong, ErrorField::kFile), Cat(path, ", record 1, byte 40"));
  EXPECT_EQ(Read(reader, {2}).texts.size(), 1u) << "others are not concerned";
  // The second part of a record is no record.
  const IndexedRecords part = ReaderOf("2\t132\n");
  EXPECT_THAT(ToStd(Read(part, {0}).wrong.message()), HasSubstr("i.idx: key 2 points to byte 132"));
}

TEST_F(IndexedRecordsTest, TakesNoMemoryForWhatARecordClaims) {
  std::string bytes = RecordBytes({"one", "two"}) + std::string(1 << 20, '\0');
  const uint32_t claim = (uint32_t{1} << 29) - 4;
  bytes.replace(16, 4, reinterpret_cast<const char*>(&claim), 4);
  folder_.Write("a.rec", bytes);
  const int64_t before = BufferPool::Global().outstanding_bytes() + BufferPool::Global().kept_bytes();
  const Got got = Read(ReaderOf("0\t0\n1\t12\n"), {1});
  EXPECT_EQ(KindOf(got.wrong), ErrorKind::kData);
  EXPECT_THAT(GetErrorField(got.wrong, ErrorField::kFile), HasSubstr("byte 12"));
  EXPECT_LT(BufferPool::Global().outstanding_bytes() + BufferPool::Global().kept_bytes() - before, 1 << 20);
}

TEST_F(IndexedRecordsTest, NoticesFilesThatChanged) {
  const std::vector<std::string> payloads = {"one", "two"};
  const std::string path = folder_.Write("a.rec", RecordBytes(payloads));
  const IndexedRecords reader = Reader(*LocalFileSystem(), {path});
  folder_.Write("a.rec", RecordBytes({"one", "two", "three"}));
  std::vector<RandomAccessReader::Content> contents(1);
  absl::Status wrong;
  EXPECT_EQ(reader.Read({0}, absl::MakeSpan(contents), wrong), 1u);
  EXPECT_TRUE(contents[0].changed);
  const IndexedRecords other = Reader(*LocalFileSystem(), {path});
  folder_.Write("a.rec", RecordBytes({"one"}));
  EXPECT_EQ(KindOf(Read(other, {2}).wrong), ErrorKind::kData);
}

TEST_F(IndexedRecordsTest, KeepsFewFilesOpen) {
  std::vector<std::string> paths;
  for (int i = 0; i < 100; ++i) paths.push_back(folder_.Write(Cat(i, ".rec"), RecordBytes({Cat(i)})));
  const IndexedRecords reader = Reader(*LocalFileSystem(), paths);
  for (int round = 0; round < 2; ++round) {
    for (uint64_t i = 0; i < 100; ++i) EXPECT_EQ(Read(reader, {i}).texts, std::vector<std::string>{Cat(i)});
  }
}

// Each frame of such a record is known only when the one before was read.
TEST_F(IndexedRecordsTest, ReadsARecordOfVeryManyFramesFewTimes) {
  std::string payload;
  for (int i = 0; i < 100'000; ++i) payload += kIndexedRecordsMagicWord;
  folder_.Write("a.rec", RecordBytes({payload, "next"}));
  const CountedReads files(LocalFileSystem());
  const IndexedRecords reader = ReaderOf("0\t0\n", &files);
  EXPECT_THAT(Read(reader, {0}).texts, ::testing::ElementsAre(payload));
  EXPECT_LT(files.bytes(), 4'000'000) << "the record has 800,008 bytes";
}

}  // namespace
}  // namespace headrace
