#include "io/formats/mds/mds_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/buffer.h"
#include "core/error.h"
#include "io/files/testing/counted_reads.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/mds/shard_hash.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kMdsTestData[] = "io/formats/mds/testdata/";

std::string MdsBytes(const std::string& path) {
  const auto read = LocalFileSystem()->Read(path);
  EXPECT_TRUE(read.ok()) << read.status();
  return {reinterpret_cast<const char*>(read->raw()), read->bytes()};
}

// A copy, which a test may damage.
class MdsFolder {
 public:
  explicit MdsFolder(const char* of) {
    for (const auto& entry : std::filesystem::directory_iterator(Cat(kMdsTestData, of))) {
      folder_.Write(entry.path().filename().string(), MdsBytes(entry.path().string()));
    }
  }
  const TemporaryFolder& folder() const { return folder_; }
  absl::StatusOr<MdsTable> Table(bool verify = false) const {
    return MakeMdsTable(*LocalFileSystem(), folder_.path(), verify);
  }
  std::string Refused(bool verify = false) const {
    const auto table = Table(verify);
    EXPECT_FALSE(table.ok());
    return DescribeError(table.status());
  }

 private:
  TemporaryFolder folder_;
};

std::vector<std::string> Samples(const FileSystem& files, const MdsTable& made) {
  const MdsRows reader(&files, std::make_shared<const MdsTable>(made));
  std::vector<uint64_t> numbers;
  for (uint64_t i = 0; i < reader.size(); ++i) numbers.push_back(i);
  std::vector<RandomAccessReader::Content> contents(numbers.size());
  absl::Status wrong;
  EXPECT_EQ(reader.Read(numbers, absl::MakeSpan(contents), wrong), numbers.size()) << wrong;
  std::vector<std::string> samples;
  for (const auto& content : contents) samples.emplace_back(content.bytes);
  return samples;
}

TEST(MdsRows, AreTheSameOfPlainAndCompressedShards) {
  const MdsFolder plain("plain"), packed("zstd");
  const auto one = plain.Table(true), two = packed.Table(true);
  ASSERT_TRUE(one.ok()) << one.status();
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_EQ(one->size(), 12u);
  const std::vector<std::string> samples = Samples(*LocalFileSystem(), *one);
  EXPECT_EQ(samples, Samples(*LocalFileSystem(), *two));
  EXPECT_THAT(samples[1], HasSubstr("{\"k\""));
}

TEST(MdsRows, AreReadByTheirBytes) {
  const CountedReads files(LocalFileSystem());
  const auto table = MakeMdsTable(files, Cat(kMdsTestData, "plain"), false);
  ASSERT_TRUE(table.ok()) << table.status();
  const MdsRows reader(&files, std::make_shared<const MdsTable>(*table));
  const int64_t before = files.bytes();
  RandomAccessReader::Content content;
  absl::Status wrong;
  ASSERT_EQ(reader.Read({5}, absl::MakeSpan(&content, 1), wrong), 1u);
  EXPECT_EQ(files.bytes() - before, static_cast<int64_t>(content.bytes.size()));
}

TEST(MdsRows, SayThatAShardWasCutOff) {
  const MdsFolder shards("plain");
  const auto table = shards.Table();
  ASSERT_TRUE(table.ok()) << table.status();
  const MdsRows reader(LocalFileSystem(), std::make_shared<const MdsTable>(*table));
  const std::string& first = table->shards()[0].path;
  std::filesystem::resize_file(first, static_cast<uintmax_t>(table->shards()[0].offsets[1] - 1));
  RandomAccessReader::Content content;
  absl::Status wrong;
  EXPECT_EQ(reader.Read({0}, absl::MakeSpan(&content, 1), wrong), 0u);
  EXPECT_THAT(DescribeError(wrong), AllOf(HasSubstr(first), HasSubstr("the sample ends at byte")));
}

TEST(MdsTable, NamesAShardThatIsMissing) {
  for (const char* of : {"plain", "zstd"}) {
    const MdsFolder shards(of);
    const std::string name = Cat("shard.00002.mds", of[0] == 'z' ? ".zstd" : "");
    std::filesystem::remove(shards.folder() / name);
    EXPECT_THAT(shards.Refused(), HasSubstr(name));
  }
}

TEST(MdsTable, TakesTheUnpackedShardWhereItIs) {
  const MdsFolder packed("zstd");
  const auto table = packed.Table();
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->shards()[1].compression, Compression::kZstd);
  const auto unpacked = UnpackedShards(LocalFileSystem()).Get(1, table->shards()[1]);
  ASSERT_TRUE(unpacked.ok()) << unpacked.status();
  packed.folder().Write("shard.00001.mds", std::string(reinterpret_cast<const char*>((*unpacked)->buffer->data()),
                                                       static_cast<size_t>(table->shards()[1].raw_bytes)));
  const auto mixed = packed.Table();
  ASSERT_TRUE(mixed.ok()) << mixed.status();
  EXPECT_EQ(mixed->shards()[1].compression, Compression::kNone);
  EXPECT_EQ(Samples(*LocalFileSystem(), *mixed), Samples(*LocalFileSystem(), *table));
}

TEST(UnpackedShards, KeepsThoseThatWereReadLast) {
  const CountedReads files(LocalFileSystem());
  const auto table = MakeMdsTable(files, Cat(kMdsTestData, "zstd"), false);
  ASSERT_TRUE(table.ok()) << table.status();
  // Two of them.
  const UnpackedShards shards(&files, 1300);
  const auto read = [&](size_t number) {
    const int64_t before = files.bytes();
    EXPECT_TRUE(shards.Get(number, table->shards()[number]).ok());
    return files.bytes() > before;
  };
  EXPECT_TRUE(read(0));
  EXPECT_TRUE(read(1));
  EXPECT_FALSE(read(0));
  EXPECT_TRUE(read(2));
  EXPECT_FALSE(read(0));
  EXPECT_TRUE(read(1));
}

TEST(UnpackedShards, CountInTheBudget) {
  const auto table = MakeMdsTable(*LocalFileSystem(), Cat(kMdsTestData, "zstd"), false);
  ASSERT_TRUE(table.ok()) << table.status();
  MemoryAccount* const account = MemoryAccount::Open();
  {
    const UnpackedShards shards(LocalFileSystem());
    {
      const TaskMemory task(&BufferPool::Global(), account, 0);
      EXPECT_TRUE(shards.Get(0, table->shards()[0]).ok());
    }
    EXPECT_GE(account->held(), table->shards()[0].raw_bytes);
  }
  EXPECT_EQ(account->held(), 0);
  account->Close();
}

TEST(MdsRows, KeepAsManyUnpackedShardsAsTheyMay) {
  const CountedReads files(LocalFileSystem());
  const auto table = MakeMdsTable(files, Cat(kMdsTestData, "zstd"), false);
  ASSERT_TRUE(table.ok()) << table.status();
  const auto read_again = [&](int64_t most) {
    const MdsRows reader(&files, std::make_shared<const MdsTable>(*table), most);
    int64_t before = 0;
    for (const uint64_t sample : {uint64_t{0}, table->size() - 1, uint64_t{0}}) {
      before = files.bytes();
      RandomAccessReader::Content content;
      absl::Status wrong;
      EXPECT_EQ(reader.Read({sample}, absl::MakeSpan(&content, 1), wrong), 1u) << wrong;
    }
    return files.bytes() > before;
  };
  EXPECT_TRUE(read_again(1));
  EXPECT_FALSE(read_again(UnpackedShards::kMostKept));
}

TEST(MdsTable, ComparesHashes) {
  const MdsFolder shards("plain");
  const std::string path = shards.folder() / "shard.00003.mds";
  std::string bytes = MdsBytes(path);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  shards.folder().Write("shard.00003.mds", bytes);
  EXPECT_TRUE(shards.Table().ok());
  EXPECT_THAT(shards.Refused(true), AllOf(HasSubstr("sha1"), HasSubstr("shard.00003.mds")));
  EXPECT_EQ(Sha1Of("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(Sha1Of(std::string(119, 'a')), "ee971065aaa017e0632a8ca6c77bb3bf8b1dfc56");
  EXPECT_EQ(Xxh64Of(""), "ef46db3751d8e999");
  EXPECT_EQ(Xxh64Of("abc"), "44bc2cf5ad770999");
}

TEST(MdsTable, CountsNoSamplesThatAShardCannotHold) {
  for (const char* of : {"plain", "zstd"}) {
    const MdsFolder shards(of);
    std::string text = MdsBytes(shards.folder() / "index.json");
    constexpr std::string_view kSamples = "\"samples\": 3";
    text.replace(text.find(kSamples), kSamples.size(), "\"samples\": 1000000");
    shards.folder().Write("index.json", text);
    EXPECT_THAT(shards.Refused(), HasSubstr("too few for the 1000000 samples"));
  }
}

TEST(MdsTable, RefusesAnIndexThatDoesNotFit) {
  const MdsFolder shards("plain");
  const std::string good = MdsBytes(shards.folder() / "index.json");
  const auto refused = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << std::string(from);
    text.replace(at, from.size(), to);
    shards.folder().Write("index.json", text);
    return shards.Refused();
  };
  EXPECT_THAT(refused("\"samples\": 3", "\"samples\": 4"), HasSubstr("has 3 samples, and the index says 4"));
  EXPECT_THAT(refused("\"bytes\": 621", "\"bytes\": 622"), HasSubstr("the index says 622"));
  EXPECT_THAT(refused("shard.00000.mds", "../shard.00000.mds"), HasSubstr("not below its own folder"));
  EXPECT_THAT(refused("\"label\"", "\"labels\""), HasSubstr("other columns"));
  EXPECT_THAT(refused("\"format\": \"mds\"", "\"format\": \"csv\""), HasSubstr("hr.Text"));
  EXPECT_THAT(refused("{\"shards\"", "{\"shards\" 1"), HasSubstr("not JSON"));
  EXPECT_THAT(refused("\"shards\"", "\"shard\""), HasSubstr("lists no shards"));
  shards.folder().Write("index.json", "[]");
  EXPECT_THAT(shards.Refused(), HasSubstr("not the index"));
  std::filesystem::remove(shards.folder() / "index.json");
  EXPECT_THAT(shards.Refused(), HasSubstr("index.json"));
}

TEST(MdsRows, SurviveDamageAtEveryByte) {
  for (const char* of : {"plain", "zstd"}) {
    const MdsFolder shards(of);
    const std::string name = Cat("shard.00000.mds", of[0] == 'z' ? ".zstd" : "");
    const std::string good = MdsBytes(shards.folder() / name);
    for (size_t at = 0; at < good.size(); ++at) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ 0xFF);
      shards.folder().Write(name, bytes);
      const auto table = shards.Table();
      if (!table.ok()) continue;
      const MdsRows reader(LocalFileSystem(), std::make_shared<const MdsTable>(*table));
      RandomAccessReader::Content content;
      absl::Status wrong;
      for (uint64_t i = 0; i < 3; ++i) reader.Read({i}, absl::MakeSpan(&content, 1), wrong);
    }
  }
}

}  // namespace
}  // namespace headrace
