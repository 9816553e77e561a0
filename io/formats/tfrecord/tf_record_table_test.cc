#include "io/formats/tfrecord/tf_record_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/testing/counted_reads.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/compressed/testing/compress.h"
#include "io/formats/tfrecord/testing/example_bytes.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using FromTo = std::pair<int64_t, int64_t>;
using Spans = std::vector<FromTo>;

Spans SpansOf(const TfRecordTable& table) {
  Spans spans;
  for (uint64_t i = 0; i < table.size(); ++i) {
    const uint64_t file = table.records.FileOf(i);
    spans.emplace_back(table.records.Begin(i, file), table.records.End(i, file));
  }
  return spans;
}

class TfRecordTableTest : public ::testing::Test {
 protected:
  TfRecordTable Built(const std::vector<std::string>& paths, OnDamage on_damage = OnDamage::kFail,
                      const FileSystem* files = LocalFileSystem(), bool writes = false) {
    auto table = BuildTfRecordTable(*files, paths, on_damage, writes);
    EXPECT_TRUE(table.ok()) << table.status();
    return table.ok() ? *std::move(table) : TfRecordTable();
  }
  static std::string ErrorOf(const absl::StatusOr<TfRecordTable>& table, ErrorKind kind = ErrorKind::kData) {
    EXPECT_EQ(KindOf(table.status()), kind) << table.status();
    return DescribeError(table.status());
  }
  std::string IndexError(const std::string& path, const std::string& index) {
    return ErrorOf(ReadTfRecordTable(*LocalFileSystem(), {path}, {folder_.Write("a.idx", index)}));
  }

  TemporaryFolder folder_;
};

TEST_F(TfRecordTableTest, IsMadeOfTheHeads) {
  const std::string a = folder_.Write("a", TfRecordBytes({"one", "", "three"})), b = folder_.Write("b", ""),
                    c = folder_.Write("c", TfRecordBytes({"four"}));
  const TfRecordTable table = Built({a, b, c});
  EXPECT_THAT(SpansOf(table), ElementsAre(FromTo(0, 19), FromTo(19, 35), FromTo(35, 56), FromTo(0, 20)));
  EXPECT_EQ(table.records.files()[2].first, 3u);
  EXPECT_THAT(table.indices, IsEmpty());
  EXPECT_THAT(table.notes, IsEmpty());
}

TEST_F(TfRecordTableTest, ReadsHeadsAlone) {
  const std::vector<std::string> payloads(50, std::string(100'000, 'x'));
  const std::string path = folder_.Write("a", TfRecordBytes(payloads));
  const CountedReads files(LocalFileSystem());
  EXPECT_THAT(SpansOf(Built({path}, OnDamage::kFail, &files)), SizeIs(50));
  EXPECT_LE(files.bytes(), 51 * 12);
  // Many short ones are read in blocks, each byte once.
  const std::string many = folder_.Write("b", TfRecordBytes(std::vector<std::string>(20'000, "short")));
  const CountedReads of_many(LocalFileSystem());
  EXPECT_THAT(SpansOf(Built({many}, OnDamage::kFail, &of_many)), SizeIs(20'000));
  EXPECT_LE(of_many.bytes(), 20'000 * 21 + 1000);
}

TEST_F(TfRecordTableTest, IsKeptBesideTheFile) {
  const std::string path = folder_.Write("a", TfRecordBytes(std::vector<std::string>(100, std::string(5000, 'x'))));
  const Spans spans = SpansOf(Built({path}));
  EXPECT_FALSE(LocalFileSystem()->Stat(path + ".hridx").ok()) << "not by a run that may not write";
  EXPECT_EQ(SpansOf(Built({path}, OnDamage::kFail, LocalFileSystem(), true)), spans);
  EXPECT_TRUE(LocalFileSystem()->Stat(path + ".hridx").ok());
  EXPECT_EQ(SpansOf(Built({path})), spans);
  folder_.Write("a", TfRecordBytes({"another file"}));
  EXPECT_THAT(SpansOf(Built({path})), ElementsAre(FromTo(0, 28)));
}

TEST_F(TfRecordTableTest, NamesTheByteOfDamage) {
  const std::string good = TfRecordBytes({"one", "two"});
  const std::string cut = folder_.Write("cut", good + TfRecordBytes({"three"}).substr(0, 17));
  EXPECT_THAT(ErrorOf(BuildTfRecordTable(*LocalFileSystem(), {cut}, OnDamage::kFail, false)),
              ::testing::AllOf(HasSubstr("within the record at byte 38"), HasSubstr(cut + ", byte 38")));
  const std::string no_head = folder_.Write("no_head", good + "these bytes are not a head");
  for (const OnDamage on_damage : {OnDamage::kFail, OnDamage::kSkip}) {
    EXPECT_THAT(ErrorOf(BuildTfRecordTable(*LocalFileSystem(), {no_head}, on_damage, false)),
                ::testing::AllOf(HasSubstr("no record begins at byte 38"), HasSubstr(no_head + ", byte 38")));
  }
  const std::string gzip = folder_.Write("gz", Compress(Compression::kGzip, good));
  EXPECT_THAT(ErrorOf(BuildTfRecordTable(*LocalFileSystem(), {gzip}, OnDamage::kFail, false), ErrorKind::kGraph),
              HasSubstr("compressed by gzip"));
}

TEST_F(TfRecordTableTest, LeavesOutDamage) {
  std::string bytes = TfRecordBytes({"one", "two", "three"});
  bytes[19 + 12] ^= 1;
  const std::string path = folder_.Write("a", bytes + TfRecordBytes({"four"}).substr(0, 18));
  const TfRecordTable table = Built({path}, OnDamage::kSkip, LocalFileSystem(), true);
  EXPECT_THAT(SpansOf(table), ElementsAre(FromTo(0, 19), FromTo(38, 59)));
  ASSERT_THAT(table.notes, SizeIs(2));
  EXPECT_EQ(table.notes[0].offset, 19);
  EXPECT_THAT(table.notes[0].text, HasSubstr("19 bytes left out: the record's CRC"));
  EXPECT_EQ(table.notes[1].offset, 59);
  EXPECT_FALSE(LocalFileSystem()->Stat(path + ".hridx").ok()) << "it would hide the damage from the next run";
}

// As DALI's tfrecord2idx writes it.
TEST_F(TfRecordTableTest, IsReadFromAnIndex) {
  const std::string path = "io/formats/tfrecord/testdata/examples.tfrecord";
  const auto table = ReadTfRecordTable(*LocalFileSystem(), {path}, {path + ".idx"});
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_THAT(SpansOf(*table),
              ElementsAre(FromTo(0, 151), FromTo(151, 327), FromTo(327, 507), FromTo(507, 740), FromTo(740, 985)));
  EXPECT_EQ(SpansOf(*table), SpansOf(Built({path})));
  EXPECT_THAT(table->indices, ElementsAre(path + ".idx"));
  EXPECT_THAT(table->notes, IsEmpty());
}

TEST_F(TfRecordTableTest, MayBeOfAPartOfTheRecords) {
  const std::string path = folder_.Write("a", TfRecordBytes({"one", "two", "three"}));
  const auto table = ReadTfRecordTable(*LocalFileSystem(), {path}, {folder_.Write("a.tfindex", "19 19\r\n\n0\t19 \n")});
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_THAT(SpansOf(*table), ElementsAre(FromTo(0, 19), FromTo(19, 38)));
  ASSERT_THAT(table->notes, SizeIs(1));
  EXPECT_EQ(table->notes[0].offset, 38);
  EXPECT_THAT(table->notes[0].text, HasSubstr("names no record of the last 21 bytes"));
}

TEST_F(TfRecordTableTest, RefusesTheIndexOfAnotherFile) {
  const std::string path = folder_.Write("a", TfRecordBytes({"one", "two", "three"}));
  EXPECT_THAT(IndexError(path, ""), HasSubstr("names no record"));
  EXPECT_THAT(IndexError(path, "0 19\n19 20\n"), HasSubstr("record at byte 19 of "));
  EXPECT_THAT(IndexError(path, "0 19\n19 20\n"), HasSubstr("of 20 bytes, and it has 19"));
  EXPECT_THAT(IndexError(path, "0 19\n20 19\n"), HasSubstr("where none begins"));
  EXPECT_THAT(IndexError(path, "0 19\n38 22\n"), HasSubstr("of 22 bytes, and the file has 59"));
  EXPECT_THAT(IndexError(path, "0 19\n9223372036854775807 19\n"), HasSubstr("and the file has 59"));
  EXPECT_THAT(IndexError(path, "0 19\n0 19\n"), HasSubstr("within the one at byte 0"));
  EXPECT_THAT(IndexError(path, "0 38\n19 19\n"), HasSubstr("within the one at byte 0"));
  EXPECT_THAT(IndexError(path, std::string(10'000, '\n')), HasSubstr("is it an index?"));
  const std::string gzip = folder_.Write("gz", Compress(Compression::kZlib, TfRecordBytes({"one"})));
  EXPECT_THAT(
      ErrorOf(ReadTfRecordTable(*LocalFileSystem(), {gzip}, {folder_.Write("b.idx", "0 19\n")}), ErrorKind::kGraph),
      HasSubstr("compressed by zlib"));
}

TEST(TfRecordIndex, NamesTheLineThatIsWrong) {
  for (const char* line : {"5", "5 x", "x 16", "-1 16", "0 15", "0 16 1", "0,16", "99999999999999999999 16"}) {
    const auto parsed = ParseTfRecordIndex(Cat("0 16\n", line, "\n"), "a.idx");
    EXPECT_EQ(KindOf(parsed.status()), ErrorKind::kData);
    EXPECT_THAT(ToStd(parsed.status().message()), HasSubstr("a.idx, line 2: ")) << line;
  }
  EXPECT_THAT(*ParseTfRecordIndex("0 16\n16 17", "a.idx"),
              ElementsAre(TfRecordIndexLine{0, 16}, TfRecordIndexLine{16, 17}));
}

}  // namespace
}  // namespace headrace
