#include "io/formats/item_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/interrupt.h"
#include "io/files/testing/counted_reads.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/memory_store.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kFormat = "test 1";

ItemSpans RandomSpans(std::mt19937_64& random, size_t items, bool has_ends, int64_t& size) {
  ItemSpans spans;
  int64_t at = 0;
  for (size_t i = 0; i < items; ++i) {
    if (has_ends && random() % 3 == 0) at += static_cast<int64_t>(random() % 300);
    spans.begins.push_back(at);
    at += static_cast<int64_t>(random() % (random() % 5 == 0 ? 100'000 : 50));
    if (has_ends) spans.ends.push_back(at);
  }
  // In any order.
  for (size_t i = 0; has_ends && i < items; ++i) {
    const size_t other = random() % items;
    std::swap(spans.begins[i], spans.begins[other]);
    std::swap(spans.ends[i], spans.ends[other]);
  }
  if (!has_ends) spans.end = at;
  size = std::max(size, at);
  return spans;
}

TEST(ItemIndexBytes, AreReadBackAsTheyWereWritten) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    IndexedFile of = {0, static_cast<int64_t>(random() >> 1), static_cast<uint32_t>(random())};
    ItemIndex index;
    for (size_t part = random() % 4; part > 0; --part) {
      index.parts.push_back(RandomSpans(random, random() % 30, random() % 2 == 0, of.size));
    }
    index.found = std::string(random() % 200, 'f');
    const std::string bytes = FormatItemIndex(kFormat, of, index);
    const auto parsed = ParseItemIndex(bytes, kFormat, "a.hridx");
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(parsed->of, of);
    EXPECT_EQ(parsed->index, index);
  }
}

TEST(ItemIndexBytes, TakeFewBytesAnItem) {
  ItemIndex index;
  ItemSpans& spans = index.parts.emplace_back();
  for (int64_t i = 0; i < 1000; ++i) spans.begins.push_back(10'000 * i);
  spans.end = 10'000'000;
  EXPECT_LT(FormatItemIndex(kFormat, {spans.end}, index).size(), 2100u);
}

TEST(ItemIndexBytes, AreRefusedWhereAByteIsDamagedOrMissing) {
  const ItemIndex index = {.parts = {{.begins = {0, 10}, .ends = {9, 20}}, {.begins = {5}, .end = 7}}, .found = "x"};
  const std::string bytes = FormatItemIndex(kFormat, {30}, index);
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x20);
    EXPECT_EQ(KindOf(ParseItemIndex(damaged, kFormat, "a.hridx").status()), ErrorKind::kData) << i;
    EXPECT_EQ(KindOf(ParseItemIndex(bytes.substr(0, i), kFormat, "a.hridx").status()), ErrorKind::kData) << i;
  }
  EXPECT_FALSE(ParseItemIndex(bytes + "x", kFormat, "a.hridx").ok());
}

TEST(ItemIndexBytes, SayWhatTheyAreInstead) {
  EXPECT_THAT(ToStd(ParseItemIndex("0\t0\n", kFormat, "a.hridx").status().message()),
              HasSubstr("a.hridx is not an index that Headrace made"));
  const std::string bytes = FormatItemIndex("other 2", {}, {});
  EXPECT_THAT(ToStd(ParseItemIndex(bytes, kFormat, "a.hridx").status().message()),
              AllOf(HasSubstr("\"other 2\""), HasSubstr("\"test 1\"")));
  std::string newer = bytes;
  newer[8] = 9;
  EXPECT_THAT(ToStd(ParseItemIndex(newer, kFormat, "a.hridx").status().message()), HasSubstr("version 9"));
}

TEST(ItemIndexBytes, SpansLieWithinTheFile) {
  const std::vector<ItemSpans> wrong = {
      {.begins = {0, 10}, .end = 31},      {.begins = {31}, .end = 31},   {.begins = {10, 0}, .end = 20},
      {.begins = {20}, .end = 10},         {.begins = {0}, .ends = {31}}, {.begins = {10}, .ends = {9}},
      {.begins = {0, -1}, .ends = {5, 5}}, {.begins = {-5}, .end = 5},    {.begins = {INT64_MAX}, .ends = {0}},
  };
  for (size_t i = 0; i < wrong.size(); ++i) {
    const auto parsed = ParseItemIndex(FormatItemIndex(kFormat, {30}, {.parts = {wrong[i]}}), kFormat, "a.hridx");
    EXPECT_THAT(ToStd(parsed.status().message()), HasSubstr("within its file")) << i;
  }
}

// A file of lines of three characters, each an item.
class FindItemsTest : public ::testing::Test {
 protected:
  static absl::StatusOr<ItemIndex> Walk(const RandomAccessFile& file, int64_t size) {
    ItemIndex index;
    ItemSpans& spans = index.parts.emplace_back();
    for (int64_t at = 0; at + 4 <= size; at += 4) {
      HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
      uint8_t line[4];
      HEADRACE_RETURN_IF_ERROR(file.ReadAt(at, absl::MakeSpan(line)).status());
      if (line[3] != '\n') return DataError("no line ends at byte ", at + 3);
      spans.begins.push_back(at);
    }
    spans.end = size;
    index.found = "lines";
    return index;
  }
  absl::StatusOr<FoundItems> Find(const FileSystem* files = LocalFileSystem(), std::string_view format = kFormat,
                                  bool writes = true) {
    return FindItems(*files, path_, format, writes, [this](const RandomAccessFile& file, int64_t size) {
      ++walks_;
      absl::StatusOr<ItemIndex> index = Walk(file, size);
      if (index.ok()) index->left_out = left_out_;
      return index;
    });
  }
  std::vector<int64_t> Begins(const FileSystem* files = LocalFileSystem()) {
    const auto found = Find(files);
    EXPECT_TRUE(found.ok()) << found.status();
    return found.ok() ? found->index.parts.at(0).begins : std::vector<int64_t>();
  }
  std::string IndexBytes() const {
    std::ifstream file(folder_ / "a.txt.hridx", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::vector<int64_t> begins_ = {0, 4, 8};
  TemporaryFolder folder_;
  const std::string path_ = folder_.Write("a.txt", "abc\ndef\nghi\n");
  int walks_ = 0;
  bool left_out_ = false;
};

// Says of each file that it was changed at that time.
class ChangedAt : public FaultyFileSystem {
 public:
  explicit ChangedAt(int64_t changed_ns)
      : FaultyFileSystem(LocalFileSystem(), [](std::string_view, const std::string&) { return absl::OkStatus(); }),
        changed_ns_(changed_ns) {}

  absl::StatusOr<FileStat> Stat(const std::string& path) const override {
    HEADRACE_ASSIGN_OR_RETURN(FileStat stat, FaultyFileSystem::Stat(path));
    stat.changed_ns = changed_ns_;
    return stat;
  }

 private:
  const int64_t changed_ns_;
};

TEST_F(FindItemsTest, WalksOnceAndKeepsTheIndexBesideTheFile) {
  const auto walked = Find();
  ASSERT_TRUE(walked.ok()) << walked.status();
  const auto kept = Find();
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(walks_, 1);
  EXPECT_EQ(walked->size, 12);
  EXPECT_EQ(kept->size, 12);
  EXPECT_EQ(walked->index.parts.at(0).begins, begins_);
  EXPECT_EQ(kept->index, walked->index);
  EXPECT_EQ(kept->index.found, "lines");
  EXPECT_TRUE(IsItemIndex(IndexBytes()));
}

TEST_F(FindItemsTest, WalksAgainWhereTheFileChanged) {
  Begins();
  folder_.Write("a.txt", "abc\ndef\n");
  EXPECT_EQ(Begins(), (std::vector<int64_t>{0, 4}));
  EXPECT_EQ(walks_, 2);
  folder_.Write("a.txt", "abc\nxyz\n");
  Begins();
  EXPECT_EQ(walks_, 3);
  Begins();
  EXPECT_EQ(walks_, 3);
}

TEST_F(FindItemsTest, IsKeptByTheVersionInAFarStore) {
  MemoryStore store;
  store.Put(path_, "abc\ndef\n");
  Begins(&store);
  const int64_t ranges = store.count(MemoryStore::Kind::kReadRange);
  EXPECT_EQ(ranges, 2) << "the walk's own, none to compare items";
  EXPECT_EQ(Begins(&store), (std::vector<int64_t>{0, 4}));
  EXPECT_EQ(walks_, 1);
  EXPECT_EQ(store.count(MemoryStore::Kind::kReadRange), ranges);
  store.Put(path_, "abc\nxyz\n");
  Begins(&store);
  EXPECT_EQ(walks_, 2);
}

// As `aws s3 cp` leaves it: nothing is read of the file that could not tell.
TEST_F(FindItemsTest, WalksAgainWhereTheIndexIsOfAnotherVersion) {
  MemoryStore store;
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes += "abc\n";
  store.Put(path_, bytes);
  ASSERT_TRUE(Find(&store).ok());
  const int64_t ranges = store.count(MemoryStore::Kind::kReadRange);
  store.Put(path_, bytes);
  ASSERT_TRUE(Find(&store).ok());
  EXPECT_EQ(walks_, 2);
  EXPECT_EQ(store.count(MemoryStore::Kind::kReadRange), 2 * ranges);
}

TEST_F(FindItemsTest, TakesTheIndexOfACopy) {
  const ChangedAt then(1'000'000'000), now(2'000'000'000);
  Begins(&then);
  EXPECT_EQ(Begins(&now), begins_);
  EXPECT_EQ(walks_, 1);
}

TEST_F(FindItemsTest, ComparesNoBytesOfAFileThatWasNotChanged) {
  const ChangedAt then(1'000'000'000);
  Begins(&then);
  int reads = 0;
  const FaultyFileSystem counted(&then, [&](std::string_view call, const std::string&) {
    reads += call == "ReadAt" ? 1 : 0;
    return absl::OkStatus();
  });
  EXPECT_EQ(Begins(&counted), begins_);
  EXPECT_EQ(reads, 0);
  EXPECT_EQ(walks_, 1);
}

TEST_F(FindItemsTest, WalksAgainForAnotherFormat) {
  Begins();
  EXPECT_TRUE(Find(LocalFileSystem(), "test 2").ok());
  EXPECT_EQ(walks_, 2);
  EXPECT_TRUE(Find(LocalFileSystem(), "test 2").ok());
  EXPECT_EQ(walks_, 2);
}

TEST_F(FindItemsTest, ReplacesADamagedIndex) {
  const ChangedAt then(1'000'000'000);
  Begins(&then);
  const std::string bytes = IndexBytes();
  folder_.Write("a.txt.hridx", bytes.substr(0, bytes.size() - 1));
  EXPECT_EQ(Begins(&then), begins_);
  EXPECT_EQ(walks_, 2);
  EXPECT_EQ(IndexBytes(), bytes);
}

TEST_F(FindItemsTest, LeavesAnotherFileOfThatNameAlone) {
  folder_.Write("a.txt.hridx", "mine");
  EXPECT_EQ(Begins(), begins_);
  EXPECT_EQ(IndexBytes(), "mine");
}

TEST_F(FindItemsTest, KeepsNothingWhereAGraphIsOnlyLookedAtOrDamageWasLeftOut) {
  EXPECT_TRUE(Find(LocalFileSystem(), kFormat, false).ok());
  left_out_ = true;
  EXPECT_TRUE(Find().ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.txt.hridx"));
}

TEST_F(FindItemsTest, DoesWithoutKeepingWhereNothingMayBeWritten) {
  const FaultyFileSystem files(LocalFileSystem(), [](std::string_view call, const std::string& path) {
    return call == "Create" ? UnsupportedError(path, " may not be written to") : absl::OkStatus();
  });
  EXPECT_EQ(Begins(&files), begins_);
  EXPECT_EQ(Begins(&files), begins_);
  EXPECT_EQ(walks_, 2);
}

TEST_F(FindItemsTest, AnErrorNamesTheFile) {
  folder_.Write("a.txt", "abc\ndefg");
  const auto found = Find();
  EXPECT_EQ(KindOf(found.status()), ErrorKind::kData);
  EXPECT_EQ(GetErrorField(found.status(), ErrorField::kFile), path_);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.txt.hridx"));
}

TEST_F(FindItemsTest, AReadThatFailsIsNoOtherFile) {
  Begins();
  const FaultyFileSystem files(LocalFileSystem(), [](std::string_view call, const std::string& path) {
    return call == "ReadAt" ? ResourceError(path, " cannot be read") : absl::OkStatus();
  });
  EXPECT_EQ(KindOf(Find(&files).status()), ErrorKind::kResource);
  EXPECT_EQ(walks_, 1);
}

TEST_F(FindItemsTest, EndsOnceItIsInterrupted) {
  const Interrupt interrupt([] { return true; }, std::chrono::milliseconds(0));
  EXPECT_EQ(KindOf(Find().status()), ErrorKind::kClosed);
}

TEST_F(FindItemsTest, ReadsAPartOfTheFileToKnowItAgain) {
  std::string bytes;
  for (int i = 0; i < 300'000; ++i) bytes += "abc\n";
  folder_.Write("a.txt", bytes);
  Begins();
  const CountedReads counted(LocalFileSystem());
  Begins(&counted);
  EXPECT_EQ(walks_, 1);
  EXPECT_LT(counted.bytes(), 600'000);
}

}  // namespace
}  // namespace headrace
