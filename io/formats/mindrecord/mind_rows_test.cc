#include "io/formats/mindrecord/mind_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/testing/rounds.h"
#include "io/files/testing/counted_reads.h"
#include "io/files/testing/delayed_file_system.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/one_file.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/mindrecord/testing/mind_bytes.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct GotItems {
  std::vector<std::string> texts;
  absl::Status wrong;
};

GotItems ReadItems(const MindRows& reader, const std::vector<uint64_t>& items) {
  std::vector<RandomAccessReader::Content> contents(items.size());
  GotItems got;
  const size_t read = reader.Read(items, absl::MakeSpan(contents), got.wrong);
  for (size_t i = 0; i < read; ++i) got.texts.emplace_back(contents[i].bytes);
  return got;
}

class MindRowsTest : public ::testing::Test {
 protected:
  std::shared_ptr<const MindTable> TableOf(const std::vector<std::string>& paths, bool keep = false,
                                           const FileSystem* files = LocalFileSystem()) {
    absl::StatusOr<MindTable> table = MakeMindTable(*files, paths, MindNaming::kList, keep, keep);
    EXPECT_TRUE(table.ok()) << table.status();
    return table.ok() ? std::make_shared<const MindTable>(*std::move(table)) : nullptr;
  }
  // Files of so many rows, whose blobs say which they are.
  std::vector<std::string> WriteFiles(const std::vector<int>& counts, size_t padding = 0) {
    std::vector<std::string> paths;
    for (size_t file = 0; file < counts.size(); ++file) {
      MindBytesOptions options;
      options.rows_in_page = 7;
      options.header_size = 8192;
      options.page_size = 1 << 16;
      std::vector<MindBytesRow> rows;
      for (int i = 0; i < counts[file]; ++i) {
        rows.push_back(MindLabelRow(i, Cat(file, "-", i, std::string(padding, 'x'))));
        blobs_.push_back(rows.back().blob);
        scalars_.push_back(rows.back().scalars);
      }
      paths.push_back(folder_.Write(Cat("f", file), MindFileBytes(rows, options)));
    }
    return paths;
  }

  TemporaryFolder folder_;
  std::vector<std::string> blobs_;
  std::vector<std::string> scalars_;
};

TEST_F(MindRowsTest, GiveTheRowsOfAllFilesInAnyOrder) {
  const std::shared_ptr<const MindTable> table = TableOf(WriteFiles({0, 20, 0, 9, 1, 0}));
  ASSERT_EQ(table->size(), 30u);
  const MindRows reader(LocalFileSystem(), table);
  std::vector<uint64_t> rows(30);
  std::iota(rows.begin(), rows.end(), uint64_t{0});
  std::mt19937_64 random(3);
  for (int round = 0; round < 30; ++round) {
    std::vector<uint64_t> items;
    std::vector<std::string> expected;
    for (const uint64_t row : rows) items.push_back(table->ItemsOf(row).scalars);
    for (const uint64_t row : rows) expected.push_back(scalars_[row]);
    for (const uint64_t row : rows) items.push_back(table->ItemsOf(row).blob);
    for (const uint64_t row : rows) expected.push_back(blobs_[row]);
    const GotItems got = ReadItems(reader, items);
    ASSERT_TRUE(got.wrong.ok()) << got.wrong;
    ASSERT_EQ(got.texts, expected);
    std::shuffle(rows.begin(), rows.end(), random);
  }
  std::set<uint64_t> items;
  for (uint64_t row = 0; row < 30; ++row) {
    const MindTable::RowItems of_row = table->ItemsOf(row);
    items.insert(of_row.scalars);
    items.insert(of_row.blob);
    EXPECT_FALSE(table->PlaceOf(of_row.scalars).in_blob);
    EXPECT_TRUE(table->PlaceOf(of_row.blob).in_blob);
    EXPECT_EQ(table->PlaceOf(of_row.blob).row, row < 20 ? row : row < 29 ? row - 20 : 0);
  }
  EXPECT_EQ(items.size(), 60u);
  EXPECT_EQ(reader.size(), 60u);
}

TEST_F(MindRowsTest, ReadNeighboursTogether) {
  const std::vector<std::string> paths = WriteFiles({7}, 1000);
  int reads = 0;
  const FaultyFileSystem files(LocalFileSystem(), [&](std::string_view call, const std::string&) {
    reads += call == "ReadAt" ? 1 : 0;
    return absl::OkStatus();
  });
  const std::shared_ptr<const MindTable> table = TableOf(paths);
  const MindRows reader(&files, table);
  std::vector<uint64_t> items(14);
  std::iota(items.begin(), items.end(), uint64_t{0});
  EXPECT_EQ(ReadItems(reader, items).texts.size(), 14u);
  EXPECT_EQ(reads, 2) << "the scalars of all, and their blobs";
}

TEST_F(MindRowsTest, AskForAllPiecesBeforeOneHasCome) {
  const std::vector<std::string> paths = WriteFiles({60}, 5000);
  const DelayedFileSystem files(LocalFileSystem());
  const std::shared_ptr<const MindTable> table = TableOf(paths);
  const MindRows reader(&files, table);
  std::vector<uint64_t> items;
  for (uint64_t row = 60; row > 0; row -= 3) items.push_back(table->ItemsOf(row - 1).blob);
  GotItems got;
  std::thread read([&] { got = ReadItems(reader, items); });
  files.WaitFor(items.size());
  while (files.CompleteOne(7)) {
  }
  read.join();
  EXPECT_EQ(got.texts.size(), items.size());
}

TEST_F(MindRowsTest, ReadTheirBytesAlone) {
  const std::vector<std::string> paths = WriteFiles({60}, 5000);
  const CountedReads files(LocalFileSystem());
  const std::shared_ptr<const MindTable> table = TableOf(paths);
  const MindRows reader(&files, table);
  ReadItems(reader, {table->ItemsOf(3).blob, table->ItemsOf(50).blob});
  EXPECT_LE(files.bytes(), 2 * 5020);
}

TEST_F(MindRowsTest, NoticeAFileThatChanged) {
  const std::vector<std::string> paths = WriteFiles({5}, 10);
  const std::shared_ptr<const MindTable> table = TableOf(paths);
  std::string bytes = MindFileBytes({MindLabelRow(0, "other rows")}, {.header_size = 8192, .page_size = 1 << 20});
  folder_.Write("f0", bytes);
  const MindRows reader(LocalFileSystem(), table);
  const GotItems got = ReadItems(reader, {table->ItemsOf(2).blob});
  EXPECT_THAT(DescribeError(got.wrong), AllOf(HasSubstr("the file was changed"), HasSubstr("f0, record 2")));
}

TEST_F(MindRowsTest, KeepWhereTheyAreBesideTheFile) {
  const std::vector<std::string> paths = WriteFiles({12, 5}, 3000);
  const std::shared_ptr<const MindTable> walked = TableOf(paths);
  TableOf(paths, true);
  const CountedReads files(LocalFileSystem());
  const std::shared_ptr<const MindTable> kept = TableOf(paths, true, &files);
  EXPECT_EQ(kept->fingerprint(), walked->fingerprint());
  EXPECT_EQ(kept->size(), 17u);
  // An index of other rows, as if the file had been replaced.
  std::filesystem::copy_file(folder_ / "f0.hridx", folder_ / "f1.hridx",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(TableOf(paths, true)->fingerprint(), walked->fingerprint());
}

TEST_F(MindRowsTest, AreThoseOfMindSpore) {
  const std::string folder = "io/formats/mindrecord/testdata/";
  const std::shared_ptr<const MindTable> pages = TableOf({folder + "pages.mindrecord"});
  EXPECT_EQ(pages->size(), 24u);
  const std::shared_ptr<const MindTable> raw = TableOf({folder + "rawpages.mindrecord"});
  EXPECT_EQ(raw->size(), 5u);
  const MindRows reader(LocalFileSystem(), pages);
  // Three blob pages lie between the scalars of the rows and their blobs.
  std::vector<uint64_t> blobs;
  for (uint64_t row = 0; row < 24; ++row) blobs.push_back(pages->ItemsOf(row).blob);
  const GotItems got = ReadItems(reader, blobs);
  ASSERT_EQ(got.texts.size(), 24u) << got.wrong;
  EXPECT_EQ(got.texts[0].size(), 5000u);
  EXPECT_EQ(got.texts[1].size(), 5037u);
  EXPECT_EQ(pages->PlaceOf(blobs[23]).page, 5);
  EXPECT_EQ(pages->PlaceOf(pages->ItemsOf(23).scalars).page, 1);
  const auto names = NamesOfMindSet(*LocalFileSystem(), folder + "shards.mindrecord2");
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_EQ(TableOf(*names)->size(), 10u);
}

// Each byte of a small file in turn is another one: rows come, or an error that names the file.
TEST_F(MindRowsTest, SurviveDamageAtEveryByte) {
  MindBytesOptions options;
  options.header_size = 1024;
  options.page_size = 128;
  options.rows_in_page = 2;
  const std::string whole =
      MindFileBytes({MindLabelRow(1, "one"), MindLabelRow(2, "two"), MindLabelRow(3, "")}, options);
  const auto step = static_cast<size_t>(OneIn({.quick = 7, .sanitized = 5}));
  size_t refused = 0;
  for (size_t at = 0; at < whole.size(); at += step) {
    for (const char to : {'\0', '\xff', static_cast<char>(whole[at] ^ 1)}) {
      std::string damaged = whole;
      damaged[at] = to;
      const OneFile files(damaged);
      absl::StatusOr<MindTable> table = MakeMindTable(files, {"a"}, MindNaming::kSet, false, false);
      if (!table.ok()) {
        ++refused;
        ASSERT_THAT(DescribeError(table.status()), HasSubstr("file: a"));
        continue;
      }
      const MindRows reader(&files, std::make_shared<const MindTable>(*std::move(table)));
      for (uint64_t item = 0; item < reader.size(); ++item) ASSERT_TRUE(ReadItems(reader, {item}).wrong.ok());
    }
  }
  EXPECT_GT(refused, whole.size() / step / 10);
}

}  // namespace
}  // namespace headrace
