#include "io/formats/tfrecord/indexed_tf_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/files/testing/counted_reads.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/tfrecord/testing/example_bytes.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class IndexedTfRecordsTest : public ::testing::Test {
 protected:
  static std::shared_ptr<const TfRecordTable> TableFor(const std::vector<std::string>& paths) {
    auto table = BuildTfRecordTable(*LocalFileSystem(), paths, OnDamage::kFail, false);
    EXPECT_TRUE(table.ok()) << table.status();
    return std::make_shared<const TfRecordTable>(*std::move(table));
  }
  struct Got {
    std::vector<std::string> texts;
    std::vector<bool> changed;
    absl::Status wrong;
  };
  static Got ReadItems(const IndexedTfRecords& reader, const std::vector<uint64_t>& items) {
    std::vector<RandomAccessReader::Content> contents(items.size());
    Got got;
    const size_t read = reader.Read(items, absl::MakeSpan(contents), got.wrong);
    for (size_t i = 0; i < read; ++i) {
      got.texts.emplace_back(contents[i].bytes);
      got.changed.push_back(contents[i].changed);
    }
    return got;
  }

  TemporaryFolder folder_;
};

TEST_F(IndexedTfRecordsTest, GivePayloadsByNumber) {
  const std::string a = folder_.Write("a", TfRecordBytes({"one", "", "three"})),
                    b = folder_.Write("b", TfRecordBytes({"four"}));
  const IndexedTfRecords reader(LocalFileSystem(), TableFor({a, b}));
  EXPECT_EQ(reader.size(), 4u);
  EXPECT_THAT(ReadItems(reader, {0, 1, 2, 3}).texts, ElementsAre("one", "", "three", "four"));
  EXPECT_THAT(ReadItems(reader, {3, 0, 2}).texts, ElementsAre("four", "one", "three"));
  EXPECT_EQ(reader.LocationOf(2).offset, 35);
  EXPECT_EQ(reader.LocationOf(3).file, 1u);
  EXPECT_EQ(*reader.Path(1), b);
}

TEST_F(IndexedTfRecordsTest, ReadNoMoreThanTheyNeed) {
  const std::string path = folder_.Write("a", TfRecordBytes(std::vector<std::string>(40, std::string(3000, 'x'))));
  const auto table = TableFor({path});
  const CountedReads files(LocalFileSystem());
  const IndexedTfRecords reader(&files, table);
  EXPECT_EQ(ReadItems(reader, {3, 17, 30}).texts.size(), 3u);
  EXPECT_LE(files.bytes(), 3 * 3016);
}

TEST_F(IndexedTfRecordsTest, ReadLongRecords) {
  const std::string longer(20 << 20, 'x');
  const std::string path = folder_.Write("a", TfRecordBytes({"one", longer, "three"}));
  const IndexedTfRecords reader(LocalFileSystem(), TableFor({path}));
  const Got got = ReadItems(reader, {0, 1, 2});
  ASSERT_EQ(got.texts.size(), 3u) << got.wrong;
  EXPECT_TRUE(got.texts[1] == longer);
  EXPECT_EQ(got.texts[2], "three");
}

TEST_F(IndexedTfRecordsTest, NameTheByteOfDamage) {
  std::string bytes = TfRecordBytes({"one", "two", "three"});
  const std::string path = folder_.Write("a", bytes);
  const IndexedTfRecords reader(LocalFileSystem(), TableFor({path}));
  bytes[19 + 12] ^= 1;
  folder_.Write("a", bytes);
  const Got payload = ReadItems(reader, {0, 1, 2});
  EXPECT_THAT(payload.texts, ElementsAre("one"));
  EXPECT_EQ(KindOf(payload.wrong), ErrorKind::kData);
  EXPECT_FALSE(IsBeyondRow(payload.wrong)) << "the row's own";
  EXPECT_EQ(GetErrorField(payload.wrong, ErrorField::kFile), path + ", byte 19");
  EXPECT_THAT(ReadItems(reader, {2}).texts, ElementsAre("three"));
}

TEST_F(IndexedTfRecordsTest, NoticeThatTheFileWasChanged) {
  const std::string path = folder_.Write("a", TfRecordBytes({"one", "two", "three"}));
  const auto table = TableFor({path});
  folder_.Write("a", TfRecordBytes({"longer", "two", "three"}));
  const IndexedTfRecords reader(LocalFileSystem(), table);
  for (const uint64_t item : {0, 1, 2}) {
    const Got got = ReadItems(reader, {item});
    EXPECT_THAT(ToStd(got.wrong.message()), HasSubstr("where one was found before: the file was changed")) << item;
  }
  folder_.Write("a", TfRecordBytes({"one", "two", "three", "four"}));
  const IndexedTfRecords grown(LocalFileSystem(), table);
  EXPECT_THAT(ReadItems(grown, {0, 2}).changed, ElementsAre(true, true));
  folder_.Write("a", TfRecordBytes({"one", "two", "three"}).substr(0, 50));
  const IndexedTfRecords cut(LocalFileSystem(), table);
  EXPECT_THAT(ReadItems(cut, {1, 2}).texts, ElementsAre("two"));
}

}  // namespace
}  // namespace headrace
