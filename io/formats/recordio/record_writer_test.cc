#include "io/formats/recordio/record_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/files/file_system.h"
#include "io/files/testing/one_file.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/recordio/record_frame.h"
#include "io/formats/recordio/record_io_format.h"
#include "io/formats/testing/read_records.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const FileSystem& Files() { return *LocalFileSystem(); }

std::unique_ptr<RecordWriter> Create(const std::string& path) {
  absl::StatusOr<std::unique_ptr<RecordWriter>> writer = RecordWriter::Create(Files(), path);
  EXPECT_TRUE(writer.ok()) << writer.status();
  return *std::move(writer);
}

int64_t Append(RecordWriter& writer, std::string_view payload) {
  const absl::StatusOr<int64_t> offset = writer.Append({payload});
  EXPECT_TRUE(offset.ok()) << offset.status();
  return *offset;
}

std::vector<std::string> ReadRecordWriter(const std::string& path) {
  const ReadRecords read = ReadSplit(RecordIoFormat(), Files(), path, {}, 0, 4096);
  EXPECT_TRUE(read.error.ok()) << read.error;
  std::vector<std::string> payloads;
  for (const ReadRecord& record : read.records) payloads.push_back(record.content);
  return payloads;
}

TEST(RecordWriter, GivesTheFileItsNameWhenAllIsThere) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.rec";
  const auto writer = Create(path);
  EXPECT_EQ(Append(*writer, "one"), 0);
  EXPECT_EQ(Append(*writer, ""), 12);
  EXPECT_EQ(Append(*writer, "three"), 20);
  EXPECT_EQ(writer->offset(), 36);
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(std::filesystem::exists(RecordWriter::DraftPath(path)));
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_THAT(ReadRecordWriter(path), ElementsAre("one", "", "three"));
  EXPECT_FALSE(std::filesystem::exists(RecordWriter::DraftPath(path)));
}

TEST(RecordWriter, WritesAnEmptyFile) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.rec";
  ASSERT_TRUE(Create(path)->Commit().ok());
  EXPECT_EQ(std::filesystem::file_size(path), 0u);
}

TEST(RecordWriter, GivesOffsetsOfMoreThanItHoldsBack) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.rec";
  const auto writer = Create(path);
  std::vector<int64_t> offsets;
  const std::string payload(300'000, 'x');
  for (int i = 0; i < 20; ++i) offsets.push_back(Append(*writer, payload));
  ASSERT_TRUE(writer->Commit().ok());
  const ReadRecords read = ReadSplit(RecordIoFormat(), Files(), path, {}, 0, 1 << 20);
  ASSERT_EQ(read.records.size(), 20u);
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(read.records[i].offset, offsets[i]);
}

TEST(RecordWriter, RemovesItsDraftIfItIsDropped) {
  const TemporaryFolder folder;
  folder.Write("a.rec", "before");
  Append(*Create(folder / "a.rec"), "one");
  EXPECT_FALSE(std::filesystem::exists(folder / "a.rec.draft"));
  EXPECT_EQ(std::filesystem::file_size(folder / "a.rec"), 6u) << "what was there is still there";
}

TEST(RecordWriter, RefusesASecondWriterOfTheSameFile) {
  const TemporaryFolder folder;
  const auto first = Create(folder / "a.rec");
  Append(*first, "first");
  for (const bool resumes : {false, true}) {
    const absl::Status second = resumes ? RecordWriter::Resume(Files(), folder / "a.rec", 0).status()
                                        : RecordWriter::Create(Files(), folder / "a.rec").status();
    EXPECT_EQ(KindOf(second), ErrorKind::kUnsupported);
    EXPECT_THAT(std::string(ToStd(second.message())), HasSubstr("a.rec.draft is being written by another"));
  }
  ASSERT_TRUE(first->Commit().ok());
  EXPECT_THAT(ReadRecordWriter(folder / "a.rec"), ElementsAre("first"));
  ASSERT_TRUE(Create(folder / "a.rec")->Commit().ok());
}

// As a killed one leaves it: there, and not locked.
TEST(RecordWriter, WritesOverADraftThatWasLeft) {
  const TemporaryFolder folder;
  folder.Write("a.rec.draft", std::string(1000, 'x'));
  const auto writer = Create(folder / "a.rec");
  Append(*writer, "one");
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_THAT(ReadRecordWriter(folder / "a.rec"), ElementsAre("one"));
}

TEST(RecordWriter, GoesOnWithADraftThatWasKept) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.rec";
  auto writer = Create(path);
  Append(*writer, "one");
  const int64_t second = Append(*writer, "two");
  Append(*writer, "three");
  ASSERT_TRUE(writer->Keep().ok());
  writer.reset();
  auto resumed = RecordWriter::Resume(Files(), path, second);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  EXPECT_EQ(Append(**resumed, "zwei"), second);
  ASSERT_TRUE((*resumed)->Commit().ok());
  EXPECT_THAT(ReadRecordWriter(path), ElementsAre("one", "zwei"));
}

TEST(RecordWriter, RefusesToGoOnWhereNoRecordEnds) {
  const TemporaryFolder folder;
  EXPECT_EQ(KindOf(RecordWriter::Resume(Files(), folder / "a.rec", 0).status()), ErrorKind::kNotFound);
  folder.Write("a.rec.draft", std::string(100, 'x'));
  for (const int64_t offset : {-4, 2, 104}) {
    EXPECT_EQ(KindOf(RecordWriter::Resume(Files(), folder / "a.rec", offset).status()), ErrorKind::kData) << offset;
  }
  EXPECT_EQ(std::filesystem::file_size(folder / "a.rec.draft"), 100u) << "a draft that was refused stays as it is";
}

TEST(RecordWriter, OutlivesTheProcessUpToTheLastFlush) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.rec";
  const pid_t child = fork();
  if (child == 0) {
    const auto writer = RecordWriter::Create(Files(), path);
    for (int i = 0; i < 10; ++i) (*writer)->Append({"before"}).status().IgnoreError();
    (*writer)->Flush().IgnoreError();
    (*writer)->Append({"after"}).status().IgnoreError();
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(ReadRecordWriter(RecordWriter::DraftPath(path)).size(), 10u);
}

TEST(RecordWriter, RefusesWhatIsNoPlaceForAFile) {
  const TemporaryFolder folder;
  folder.MakeFolder("b.rec");
  const absl::Status in_the_way = RecordWriter::Create(Files(), folder / "b.rec").status();
  EXPECT_EQ(KindOf(in_the_way), ErrorKind::kUnsupported);
  EXPECT_THAT(std::string(ToStd(in_the_way.message())), HasSubstr("is a folder"));
  EXPECT_EQ(KindOf(RecordWriter::Create(Files(), folder / "none/a.rec").status()), ErrorKind::kNotFound);
  EXPECT_EQ(KindOf(RecordWriter::Create(OneFile(""), "a.rec").status()), ErrorKind::kUnsupported);
}

TEST(RecordWriter, RefusesARecordThatIsTooLongAndGoesOn) {
  const TemporaryFolder folder;
  const auto writer = Create(folder / "a.rec");
  const std::string piece(1 << 20, 'x');
  const std::vector<std::string_view> pieces(513, piece);
  EXPECT_EQ(KindOf(writer->Append(pieces).status()), ErrorKind::kData);
  EXPECT_EQ(Append(*writer, "one"), 0);
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_THAT(ReadRecordWriter(folder / "a.rec"), ElementsAre("one"));
}

// A limit of the size of files stands for a full disk.
TEST(RecordWriter, FailsOnAFullDiskAndLeavesNothing) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.rec";
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{3 << 20, 3 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    auto writer = RecordWriter::Create(Files(), path);
    bool failed = false;
    for (int i = 0; i < 10 && !failed; ++i) failed = !(*writer)->Append({std::string(1 << 20, 'x')}).ok();
    const bool stays_failed = !(*writer)->Append({"more"}).ok() && !(*writer)->Commit().ok();
    writer->reset();
    _exit(failed && stays_failed ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace headrace
