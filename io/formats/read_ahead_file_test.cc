#include "io/formats/read_ahead_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "core/error.h"
#include "io/files/testing/counted_reads.h"
#include "io/files/testing/delayed_file_system.h"
#include "io/files/testing/one_file.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kAll = int64_t{1} << 62;

std::string Numbered(int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(i * 7 % 251);
  return bytes;
}

absl::StatusOr<std::string> Range(ReadAheadFile& file, int64_t offset, uint64_t bytes) {
  std::string read(bytes, 0);
  HEADRACE_RETURN_IF_ERROR(file.Read(offset, bytes, reinterpret_cast<uint8_t*>(read.data())));
  return read;
}

TEST(ReadAheadFile, GivesAnyRangesInAnyOrder) {
  const std::string bytes = Numbered(1000);
  const OneFile files(bytes);
  std::mt19937 random(5);  // NOLINT: the same in every run
  for (const size_t block : {1, 16, 100, 5000}) {
    for (const int64_t until : {int64_t{0}, int64_t{333}, kAll}) {
      auto file = *ReadAheadFile::Open(files, "a", 40, until, block);
      int64_t at = 40;
      for (int i = 0; i < 2000; ++i) {
        // Mostly in order.
        if (random() % 4 == 0) at = static_cast<int64_t>(random() % 1000);
        const auto count = std::min<uint64_t>(random() % 60, static_cast<uint64_t>(1000 - at));
        ASSERT_EQ(*Range(*file, at, count), bytes.substr(static_cast<size_t>(at), count)) << block << " " << at;
        at += static_cast<int64_t>(count);
      }
    }
  }
}

TEST(ReadAheadFile, ReadsEachByteOnceAndNoneBehindTheEndThatItIsGiven) {
  const OneFile one(Numbered(10'000));
  const CountedReads files(&one);
  auto file = *ReadAheadFile::Open(files, "a", 1000, 6000, 512);
  for (int64_t at = 1000; at < 6000; at += 10) {
    ASSERT_TRUE(Range(*file, at, 8).ok());
    // What is looked at again, also where two blocks meet.
    if (at > 1000) {
      ASSERT_TRUE(Range(*file, at - 10, 18).ok());
    }
  }
  EXPECT_EQ(files.bytes(), 5000);
  ASSERT_TRUE(Range(*file, 5990, 30).ok());
  EXPECT_EQ(files.bytes(), 5020);
  // A jump reads what is asked for, and what goes on there a block.
  ASSERT_TRUE(Range(*file, 0, 3).ok());
  EXPECT_EQ(files.bytes(), 5023);
  ASSERT_TRUE(Range(*file, 3, 3).ok());
  EXPECT_EQ(files.bytes(), 5023 + 2 * 512);
}

TEST(ReadAheadFile, AsksForABlockWhenItIsOpenedAndForTheNextOneAhead) {
  const OneFile one(Numbered(100));
  const DelayedFileSystem files(&one);
  auto file = *ReadAheadFile::Open(files, "a", 0, kAll, 10);
  EXPECT_EQ(files.outstanding(), 1U);
  ASSERT_TRUE(files.CompleteOne());
  EXPECT_TRUE(Range(*file, 0, 1).ok());
  EXPECT_EQ(files.outstanding(), 1U) << "the next block";
  // A read keeps what it fills until it is done.
  file.reset();
  EXPECT_TRUE(files.CompleteOne());
}

TEST(ReadAheadFile, RefusesRangesBeyondItsEnd) {
  const OneFile files(Numbered(100));
  auto file = *ReadAheadFile::Open(files, "a", 0, kAll, 10);
  for (const auto& [offset, bytes] : std::vector<std::pair<int64_t, uint64_t>>{{95, 6}, {101, 0}, {5, UINT64_MAX}}) {
    uint8_t byte = 0;
    const absl::Status refused = file->Read(offset, bytes, &byte);
    EXPECT_EQ(KindOf(refused), ErrorKind::kData);
    EXPECT_THAT(std::string(refused.message()), HasSubstr("a has 100 bytes"));
  }
  EXPECT_TRUE(Range(*file, 100, 0).ok());
}

// A file that claims more bytes than it has.
class CutFile : public RandomAccessFile {
 public:
  absl::StatusOr<int64_t> ReadAt(int64_t /*offset*/, absl::Span<uint8_t> /*target*/) const override { return 0; }
  absl::StatusOr<int64_t> Size() const override { return 100; }
};

class CutFiles : public OneFile {
 public:
  CutFiles() : OneFile("") {}
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& /*path*/) const override {
    return std::make_shared<const CutFile>();
  }
};

TEST(ReadAheadFile, NoticesThatAFileBecameShorter) {
  const CutFiles files;
  auto file = *ReadAheadFile::Open(files, "a", 0, kAll, 10);
  for (const int64_t offset : {0, 50}) {
    EXPECT_THAT(std::string(Range(*file, offset, 5).status().message()), HasSubstr("was cut off"));
  }
}

}  // namespace
}  // namespace headrace
