#include "io/formats/joined_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "io/files/far_listings.h"
#include "io/files/testing/memory_store.h"

namespace headrace {
namespace {

absl::Span<const uint8_t> BytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

TEST(JoinedReads, CutWholePieces) {
  const JoinedReads::OpenFile opened{nullptr, 100};
  RandomAccessReader::Content content;
  ASSERT_TRUE(JoinedReads::CutWhole({0, 10, 13}, "row", opened, 100, BytesOf("abcdef"), content).ok());
  EXPECT_EQ(content.bytes, "abc");
  EXPECT_FALSE(content.changed);
  ASSERT_TRUE(JoinedReads::CutWhole({0, 10, 13}, "row", opened, 99, BytesOf("abc"), content).ok());
  EXPECT_TRUE(content.changed);
}

TEST(JoinedReads, SayWhereAPieceIsCutOff) {
  RandomAccessReader::Content content;
  const absl::Status cut = JoinedReads::CutWhole({0, 10, 13}, "row", {nullptr, 12}, 100, BytesOf("ab"), content);
  EXPECT_EQ(KindOf(cut), ErrorKind::kData);
  EXPECT_EQ(ToStd(cut.message()), "byte 10: the row ends at byte 12: the file was cut off after the run had begun");
}

struct JoinedFile {
  std::string path;
  int64_t size = 0;
  uint64_t version = 0;
};

// Items of one far file, whose pieces are given.
class JoinedItems : public RandomAccessReader {
 public:
  JoinedItems(const MemoryStore* store, std::vector<JoinedReads::Piece> pieces)
      : pieces_(std::move(pieces)), reads_(store, Files(*store), 0) {}

  uint64_t size() const override { return pieces_.size(); }
  Location LocationOf(uint64_t item) const override { return {0, -1, pieces_[item].begin}; }
  std::shared_ptr<const std::string> Path(uint64_t file) const override { return reads_.path(file); }
  absl::Status CheckFiles() const override { return reads_.CheckFiles(); }
  int most_outstanding() const override { return reads_.most_outstanding(); }
  void Start(absl::Span<const uint64_t> items) const override {
    reads_.Start(items, [this](uint64_t item) { return pieces_[item]; });
  }
  size_t Read(absl::Span<const uint64_t> items, absl::Span<Content> contents, absl::Status& wrong) const override {
    const auto cut = [this](uint64_t item, const JoinedReads::OpenFile& opened, absl::Span<uint8_t> bytes,
                            Content& content) {
      return JoinedReads::CutWhole(pieces_[item], "item", opened, opened.size, bytes, content);
    };
    return reads_.Read(*this, items, contents, [this](uint64_t item) { return pieces_[item]; }, cut, wrong);
  }

 private:
  static std::vector<JoinedFile> Files(const MemoryStore& store) {
    const FileStat stat = *store.Stat("mem://b/shard");
    return {{"mem://b/shard", stat.size, VersionHash(stat.version)}};
  }

  const std::vector<JoinedReads::Piece> pieces_;
  const JoinedReads reads_;
};

class FarJoinedReads : public ::testing::Test {
 protected:
  static constexpr int64_t kMegabyte = int64_t{1} << 20;
  FarJoinedReads() : store_({.completes = MemoryStore::Completes::kOnDemand}) {
    std::string bytes(static_cast<size_t>(40 * kMegabyte), 0);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 2654435761u >> 24);
    store_.Put("mem://b/shard", bytes);
  }
  // Starts to read pieces that begin so far apart, and checks their bytes. Returns the number of requests.
  int64_t Requests(const std::vector<JoinedReads::Piece>& pieces) {
    const JoinedItems items(&store_, pieces);
    store_.ForgetRequests();
    std::vector<uint64_t> numbers;
    for (uint64_t i = 0; i < pieces.size(); ++i) numbers.push_back(i);
    StartedReads started;
    items.Start(numbers);
    const auto requests = static_cast<int64_t>(store_.outstanding());
    store_.CompleteAll();
    const std::string whole = store_.Get("mem://b/shard");
    for (const uint64_t number : numbers) {
      RandomAccessReader::Content content;
      absl::Status wrong;
      EXPECT_EQ(items.Read({&number, 1}, absl::MakeSpan(&content, 1), wrong), 1u) << DescribeError(wrong);
      const JoinedReads::Piece& piece = pieces[number];
      EXPECT_EQ(content.bytes, std::string_view(whole).substr(static_cast<size_t>(piece.begin),
                                                              static_cast<size_t>(piece.end - piece.begin)));
    }
    EXPECT_EQ(store_.count(), requests) << "no other requests";
    return requests;
  }

  MemoryStore store_;
};

TEST_F(FarJoinedReads, JoinNeighbours) { EXPECT_EQ(Requests({{0, 0, 100}, {0, 100, 5000}, {0, 5000, 70'000}}), 1); }

TEST_F(FarJoinedReads, ReadLittleAlong) {
  EXPECT_EQ(Requests({{0, 0, 100}, {0, 20'000, 20'100}, {0, 50'000, 50'100}}), 1);
}

TEST_F(FarJoinedReads, ReadMoreAlongBesideMuch) {
  EXPECT_EQ(Requests({{0, 0, 4 * kMegabyte}, {0, 5 * kMegabyte - 1, 6 * kMegabyte}}), 1);
  EXPECT_EQ(Requests({{0, 0, 4 * kMegabyte}, {0, 5 * kMegabyte, 6 * kMegabyte}}), 2) << "a megabyte is too much";
}

// A rank would read the rows of the others.
TEST_F(FarJoinedReads, ReadNothingAlongThatIsAsMuch) {
  EXPECT_EQ(Requests({{0, 0, 110'000}, {0, 220'000, 330'000}, {0, 440'000, 550'000}}), 3);
}

TEST_F(FarJoinedReads, JoinSixteenMegabytesAtMost) {
  std::vector<JoinedReads::Piece> pieces;
  for (int64_t i = 0; i < 32; ++i) pieces.push_back({0, i * kMegabyte, (i + 1) * kMegabyte});
  EXPECT_EQ(Requests(pieces), 2);
}

// As HDFS is.
TEST(FarJoinedReadsWithoutConditions, CompareVersionsWhenTheyAreAskedTo) {
  MemoryStore store({.conditional = false});
  store.Put("mem://b/shard", "0123456789");
  const JoinedItems items(&store, {{0, 0, 5}, {0, 5, 10}});
  const uint64_t number = 0;
  RandomAccessReader::Content content;
  absl::Status wrong;
  ASSERT_EQ(items.Read({&number, 1}, absl::MakeSpan(&content, 1), wrong), 1u);
  EXPECT_TRUE(items.CheckFiles().ok());
  store.Put("mem://b/shard", "9876543210");
  EXPECT_TRUE(items.CheckFiles().ok()) << "nothing was read since";
  ASSERT_EQ(items.Read({&number, 1}, absl::MakeSpan(&content, 1), wrong), 1u);
  EXPECT_THAT(DescribeError(items.CheckFiles()), ::testing::HasSubstr("mem://b/shard"));
}

// Also after the store has forgotten it, for the next run, and the file was closed because many others were opened.
TEST(FarJoinedReadsOfManyFiles, RefuseAnotherVersionAgain) {
  struct Sized {
    std::string path;
    int64_t size;
  };
  MemoryStore store;
  FarListings listings;
  const FileSystem* const files = listings.Over(&store);
  std::vector<Sized> sized;
  for (int i = 0; i < 100; ++i) {
    sized.push_back({Cat("mem://b/", i), 10});
    store.Put(sized.back().path, "0123456789");
    ASSERT_TRUE(files->Stat(sized.back().path).ok());
  }
  const JoinedReads reads(files, sized, 0);
  store.Put("mem://b/0", "9876543210");
  for (int again = 0; again < 2; ++again) {
    for (uint64_t i = 0; i < sized.size(); ++i) {
      const auto opened = reads.Open(i);
      ASSERT_TRUE(opened.ok());
      uint8_t bytes[10];
      EXPECT_EQ(opened->file->ReadAt(0, absl::MakeSpan(bytes)).ok(), i > 0) << i;
    }
  }
}

TEST_F(FarJoinedReads, RefuseAnotherVersion) {
  const JoinedItems items(&store_, {{0, 0, 10}});
  store_.Put("mem://b/shard", std::string(static_cast<size_t>(40 * kMegabyte), 'x'));
  StartedReads started;
  const uint64_t number = 0;
  items.Start({&number, 1});
  store_.CompleteAll();
  RandomAccessReader::Content content;
  absl::Status wrong;
  EXPECT_EQ(items.Read({&number, 1}, absl::MakeSpan(&content, 1), wrong), 0u);
  EXPECT_THAT(DescribeError(wrong), ::testing::HasSubstr("mem://b/shard"));
}

}  // namespace
}  // namespace headrace
