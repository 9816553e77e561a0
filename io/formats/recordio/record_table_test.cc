#include "io/formats/recordio/record_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/recordio/testing/record_bytes.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The magic word, at which a record is written in parts.
const std::string kRecordTableMagicWord("\x0a\x23\xd7\xce", 4);

class RecordTableTest : public ::testing::Test {
 protected:
  absl::StatusOr<RecordTable> Build(OnDamage on_damage = OnDamage::kFail) const {
    return BuildIndices(*LocalFileSystem(), {path_}, on_damage, ChooseAll);
  }
  absl::StatusOr<RecordTable> Read(OnDamage on_damage = OnDamage::kFail) const {
    return ReadIndices(*LocalFileSystem(), {path_}, {folder_ / "a.idx"}, on_damage, ChooseAll);
  }
  static std::vector<int64_t> Begins(const RecordTable& table) {
    std::vector<int64_t> begins;
    for (uint64_t i = 0; i < table.size(); ++i) begins.push_back(table.Begin(i, table.FileOf(i)));
    return begins;
  }
  std::string Text(const std::string& name) const {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TemporaryFolder folder_;
  // Records at 0, 12, 20 and 44; the third has two parts.
  const std::vector<std::string> records_ = {"one", "", "abcd" + kRecordTableMagicWord + "efg", "three"};
  const std::string path_ = folder_.Write("a.rec", RecordBytes(records_));
};

TEST_F(RecordTableTest, ScansAFileAndSavesItsIndex) {
  const auto table = Build();
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_THAT(Begins(*table), ElementsAre(0, 12, 20, 44));
  EXPECT_TRUE(table->source(0).complete);
  EXPECT_EQ(Text("a.idx"), IndexBytes(records_));
  EXPECT_EQ(table->End(3, 0), static_cast<int64_t>(std::filesystem::file_size(path_)));
}

TEST_F(RecordTableTest, TakesTheIndexThatIsThere) {
  folder_.Write("a.idx", "5\t0\n6\t12\n3\t44\n7\t20\n");
  const auto table = Build();
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_THAT(Begins(*table), ElementsAre(0, 12, 20, 44));
  EXPECT_EQ(table->Key(3, 0), 3u);
  EXPECT_EQ(table->source(0).index, folder_ / "a.idx");
}

TEST_F(RecordTableTest, NoticesAnIndexThatDoesNotFit) {
  for (const char* stale :
       {"0\t0\n1\t12\n2\t20\n", "0\t12\n1\t20\n2\t44\n", "0\t0\n1\t12\n2\t44\n", "0\t0\n1\t12\n2\t20\n3\t44\n4\t400\n",
        "0\t0\n1\t12\n2\t28\n3\t44\n", "0\t0\n1\t12\n2\t12\n3\t20\n4\t44\n", ""}) {
    folder_.Write("a.idx", stale);
    const auto table = Build();
    ASSERT_TRUE(table.ok()) << table.status();
    EXPECT_THAT(Begins(*table), ElementsAre(0, 12, 20, 44)) << stale;
    EXPECT_EQ(Text("a.idx"), IndexBytes(records_)) << stale;
  }
}

TEST_F(RecordTableTest, NoticesAnyRecordThatAnIndexLeavesOut) {
  const std::vector<std::string> records(500, "some bytes");
  folder_.Write("a.rec", RecordBytes(records));
  const std::string index = IndexBytes(records);
  for (const size_t missing : {1, 7, 250, 498}) {
    std::vector<std::string> lines = absl::StrSplit(index, '\n');
    lines.erase(lines.begin() + static_cast<ptrdiff_t>(missing));
    folder_.Write("a.idx", absl::StrJoin(lines, "\n"));
    const auto table = Build();
    ASSERT_TRUE(table.ok()) << table.status();
    EXPECT_EQ(table->size(), records.size()) << missing;
    EXPECT_EQ(Text("a.idx"), index);
  }
}

TEST_F(RecordTableTest, LooksUpAPartOfManyRecords) {
  const std::vector<std::string> records(40'000, "");
  folder_.Write("a.rec", RecordBytes(records));
  folder_.Write("a.idx", IndexBytes(records));
  int reads = 0;
  const FaultyFileSystem counting(LocalFileSystem(), [&](std::string_view call, const std::string& path) {
    if (call == "ReadAt" && path == path_) ++reads;
    return absl::OkStatus();
  });
  const auto build = [&](OnDamage on_damage) {
    reads = 0;
    const auto table = BuildIndices(counting, {path_}, on_damage, ChooseAll);
    ASSERT_TRUE(table.ok()) << table.status();
    EXPECT_EQ(table->size(), records.size());
  };
  build(OnDamage::kFail);
  EXPECT_EQ(reads, 20'000);
  // Every one, since each is read by its number.
  build(OnDamage::kSkip);
  EXPECT_EQ(reads, 40'000);
  folder_.Write("a.idx", Cat("40000\t80\n", IndexBytes(records)));
  build(OnDamage::kFail);
}

TEST_F(RecordTableTest, LooksUpFewerRecordsOfEachOfManyFiles) {
  const std::vector<std::string> records(1000, "");
  std::vector<std::string> paths;
  std::vector<std::string> indices;
  for (int i = 0; i < 64; ++i) {
    paths.push_back(folder_.Write(Cat("m", i, ".rec"), RecordBytes(records)));
    indices.push_back(folder_.Write(Cat("m", i, ".idx"), IndexBytes(records)));
  }
  int reads = 0;
  const FaultyFileSystem counting(LocalFileSystem(), [&](std::string_view call, const std::string& /*path*/) {
    if (call == "ReadAt") ++reads;
    return absl::OkStatus();
  });
  const auto table = ReadIndices(counting, paths, indices, OnDamage::kFail, ChooseAll);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->size(), 64'000u);
  EXPECT_EQ(reads, 64 * 500);
}

TEST_F(RecordTableTest, AReadThatFailsIsNoDamage) {
  folder_.Write("a.idx", IndexBytes(records_));
  int reads = 0;
  const FaultyFileSystem failing(LocalFileSystem(), [&](std::string_view call, const std::string& path) {
    if (call != "ReadAt" || path != path_ || ++reads != 2) return absl::OkStatus();
    return BeyondRow(DataError("the disk fails"));
  });
  const auto table = ReadIndices(failing, {path_}, {folder_ / "a.idx"}, OnDamage::kSkip, ChooseAll);
  EXPECT_THAT(DescribeError(table.status()), HasSubstr("the disk fails"));
}

TEST_F(RecordTableTest, RefusesTheIndexOfAnotherFile) {
  folder_.Write("a.idx", "0\t0\n1\t16\n2\t24\n3\t32\n4\t48\n");
  const absl::Status status = Read(OnDamage::kSkip).status();
  EXPECT_EQ(KindOf(status), ErrorKind::kData);
  EXPECT_THAT(DescribeError(status),
              AllOf(HasSubstr("4 of the 5 records that it names are not in"), HasSubstr("the index of another file")));
}

TEST_F(RecordTableTest, NamesAThousandDamagedRecords) {
  // Each damaged head makes two damaged records: its own, and the one before, which no other one follows.
  std::string bytes = RecordBytes(std::vector<std::string>(6000, ""));
  for (size_t i = 1; i < 4200; i += 3) bytes[8 * i] = 'x';
  folder_.Write("a.rec", bytes);
  folder_.Write("a.idx", IndexBytes(std::vector<std::string>(6000, "")));
  const auto table = Read(OnDamage::kSkip);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->size(), 3200u);
  ASSERT_GE(table->notes().size(), 1001u);
  EXPECT_THAT(table->notes()[1000].text, HasSubstr("the last of 1800 more records that were left out"));
}

TEST_F(RecordTableTest, LeavesAnotherFileOfThatNameAlone) {
  folder_.Write("a.idx", "my notes");
  EXPECT_THAT(Begins(*Build()), ElementsAre(0, 12, 20, 44));
  EXPECT_EQ(Text("a.idx"), "my notes");
}

TEST_F(RecordTableTest, DoesWithoutSavingWhereNothingMayBeWritten) {
  const FaultyFileSystem files(LocalFileSystem(), [](std::string_view call, const std::string&) {
    return call == "Create" ? NotFoundError("read-only") : absl::OkStatus();
  });
  const auto table = BuildIndices(files, {path_}, OnDamage::kFail, ChooseAll);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_THAT(Begins(*table), ElementsAre(0, 12, 20, 44));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.idx"));
}

TEST_F(RecordTableTest, SavesNothingWhereAGraphIsOnlyLookedAt) {
  const auto table = BuildIndices(*LocalFileSystem(), {path_}, OnDamage::kFail, ChooseAll, /*writes=*/false);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_THAT(Begins(*table), ElementsAre(0, 12, 20, 44));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.idx"));
}

TEST_F(RecordTableTest, ScansNoFurtherOnceItIsInterrupted) {
  folder_.Write("a.rec", RecordBytes(std::vector<std::string>(8, std::string(1 << 20, 'x'))));
  int reads = 0;
  // The second read takes until the interrupt comes.
  const FaultyFileSystem slow(LocalFileSystem(), [&](std::string_view call, const std::string& /*path*/) {
    if (call != "ReadAt" || ++reads != 2) return absl::OkStatus();
    while (Interrupt::Check().ok()) std::this_thread::yield();
    return absl::OkStatus();
  });
  const Interrupt interrupt([&] { return reads > 0; });
  const absl::Status status = BuildIndices(slow, {path_}, OnDamage::kFail, ChooseAll).status();
  EXPECT_EQ(KindOf(status), ErrorKind::kClosed) << status;
  EXPECT_LT(reads, 8);
  EXPECT_EQ(Text("a.idx"), "");
}

TEST_F(RecordTableTest, NotesWhatWasLost) {
  // A record that claims more bytes than follow.
  folder_.Write("a.rec",
                RecordBytes({"one"}) + kRecordTableMagicWord + std::string("\x40\0\0\0oops", 8) + RecordBytes({"two"}));
  EXPECT_THAT(DescribeError(Build().status()), AllOf(HasSubstr("a.rec"), HasSubstr("byte 12")));
  const auto table = Build(OnDamage::kSkip);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_THAT(Begins(*table), ElementsAre(0, 24));
  ASSERT_EQ(table->notes().size(), 1u);
  EXPECT_EQ(table->notes()[0].offset, 12);
  EXPECT_THAT(table->notes()[0].text, HasSubstr("12 bytes left out"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.idx")) << "it would hide the damage";
}

TEST_F(RecordTableTest, ReadsPartsOfFiles) {
  folder_.Write("a.idx", "9\t20\n4\t0\n");
  const auto table = Read();
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_THAT(Begins(*table), ElementsAre(0, 20));
  EXPECT_EQ(table->Key(1, 0), 9u);
  EXPECT_FALSE(table->source(0).complete);
  ASSERT_EQ(table->notes().size(), 1u);
  EXPECT_EQ(table->notes()[0].offset, 44);
  EXPECT_THAT(table->notes()[0].text, HasSubstr("names no record of the last 16 bytes"));
}

TEST_F(RecordTableTest, RefusesAnIndexWithoutARecord) {
  folder_.Write("a.idx", "");
  EXPECT_EQ(KindOf(Read().status()), ErrorKind::kData);
  EXPECT_THAT(DescribeError(Read().status()), AllOf(HasSubstr("a.idx: it names no record"), HasSubstr("60 bytes")));
  folder_.Write("a.rec", "");
  const auto table = Read();
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->size(), 0u);
}

TEST_F(RecordTableTest, RefusesAFileWithoutARecord) {
  folder_.Write("a.rec", "a text of another kind");
  EXPECT_EQ(KindOf(Build(OnDamage::kSkip).status()), ErrorKind::kData);
  EXPECT_THAT(DescribeError(Build(OnDamage::kSkip).status()), HasSubstr("22 bytes and no record"));
}

TEST_F(RecordTableTest, RefusesTwoKeysOfOneRecord) {
  folder_.Write("a.idx", "5\t20\n6\t0\n7\t20\n");
  EXPECT_EQ(KindOf(Read().status()), ErrorKind::kData);
  EXPECT_THAT(DescribeError(Read().status()),
              AllOf(HasSubstr("a.idx: keys 5 and 7 both point to byte 20"), HasSubstr(path_)));
}

TEST_F(RecordTableTest, LeavesDamagedRecordsOutOfAnIndexThatNamesThem) {
  // The head at 20 is overwritten, so the record at 12 is not followed by another one; that at 60 is cut off.
  std::string bytes = RecordBytes(records_);
  bytes[20] = 'x';
  folder_.Write("a.rec", bytes + kRecordTableMagicWord + std::string("\x40\0\0\0oops", 8));
  folder_.Write("a.idx", IndexBytes(records_) + "4\t60\n");
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(Read()->size(), 5u);
  const auto table = Read(OnDamage::kSkip);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_THAT(Begins(*table), ElementsAre(0, 44));
  EXPECT_EQ(table->Key(1, 0), 3u);
  EXPECT_FALSE(table->source(0).complete);
  ASSERT_GE(table->notes().size(), 3u);
  EXPECT_EQ(table->notes()[0].offset, 12);
  EXPECT_THAT(table->notes()[0].text, AllOf(HasSubstr("a.idx names it by key 1"), HasSubstr("ends at byte 20")));
  EXPECT_THAT(table->notes()[1].text, HasSubstr("no whole record is at byte 20"));
  EXPECT_THAT(table->notes()[2].text, HasSubstr("no whole record is at byte 60"));
}

TEST_F(RecordTableTest, NamesTheKeyThatCannotBe) {
  folder_.Write("a.idx", "0\t0\n7\t4000\n");
  EXPECT_THAT(DescribeError(Read().status()),
              AllOf(HasSubstr("a.idx: key 7 points to byte 4000"), HasSubstr("has only 60 bytes")));
  folder_.Write("a.idx", "0\t0\n7\t13\n");
  EXPECT_THAT(DescribeError(Read().status()), HasSubstr("a.idx: key 7 points to byte 13"));
  folder_.Write("a.idx", "0\tzero\n");
  EXPECT_THAT(DescribeError(Read().status()), HasSubstr("a.idx"));
}

TEST_F(RecordTableTest, NumbersRecordsOverFiles) {
  const std::string empty = folder_.Write("b.rec", "");
  const std::string other = folder_.Write("c.rec", RecordBytes({"x", "y"}));
  const auto table = BuildIndices(*LocalFileSystem(), {other, empty, path_, empty}, OnDamage::kFail, ChooseAll);
  ASSERT_TRUE(table.ok()) << table.status();
  ASSERT_EQ(table->size(), 6u);
  std::vector<uint64_t> files;
  for (uint64_t i = 0; i < 6; ++i) files.push_back(table->FileOf(i));
  EXPECT_THAT(files, ElementsAre(0, 0, 2, 2, 2, 2));
  EXPECT_EQ(table->Key(3, 2), 1u);
  EXPECT_EQ(table->End(1, 0), 24);
}

TEST(IndexPathOf, IsBesideTheFile) {
  EXPECT_EQ(IndexPathOf("train.rec"), "train.idx");
  EXPECT_EQ(IndexPathOf("a.rec/train"), "a.rec/train.idx");
  EXPECT_EQ(IndexPathOf(".rec"), ".rec.idx");
}

// As in the test of RecordIoFormat, by an index that names all heads.
TEST_F(RecordTableTest, FollowsFramesOnceThatManyDamagedHeadsLeadTo) {
  constexpr uint32_t kHeads = 2000;
  const auto head = [](uint32_t part, uint32_t length) {
    const uint32_t word = part << 29 | length;
    return kRecordTableMagicWord + std::string(reinterpret_cast<const char*>(&word), sizeof(word));
  };
  // Good records first, so that the index is not that of another file.
  std::string bytes = RecordBytes(std::vector<std::string>(kHeads, ""));
  for (uint32_t i = 0; i < kHeads; ++i) bytes += head(1, 8 * (kHeads - i - 1));
  for (uint32_t i = 0; i < kHeads; ++i) bytes += head(2, 0);
  folder_.Write("a.rec", bytes + "nothing.");
  std::string index;
  for (uint32_t i = 0; i < 2 * kHeads; ++i) Append(index, i, "\t", 8 * i, "\n");
  folder_.Write("a.idx", index);
  int reads = 0;
  const FaultyFileSystem counting(LocalFileSystem(), [&](std::string_view call, const std::string&) {
    reads += call == "ReadAt" ? 1 : 0;
    return absl::OkStatus();
  });
  const auto table = ReadIndices(counting, {path_}, {folder_ / "a.idx"}, OnDamage::kSkip, ChooseAll);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->size(), kHeads);
  EXPECT_LT(reads, static_cast<int>(100 * kHeads));
}

}  // namespace
}  // namespace headrace
