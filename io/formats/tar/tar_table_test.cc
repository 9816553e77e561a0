#include "io/formats/tar/tar_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/files/testing/counted_reads.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/compressed/testing/compress.h"
#include "io/formats/tar/indexed_samples.h"
#include "io/formats/tar/tar_format.h"
#include "io/formats/tar/tar_sample.h"
#include "io/formats/tar/tar_walk.h"
#include "io/formats/tar/testing/tar_bytes.h"
#include "io/formats/tar/wds_index.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TarTable : public ::testing::Test {
 protected:
  using Paths = std::vector<std::string>;

  static ItemTable Built(const Paths& paths, bool writes = false, const FileSystem* files = LocalFileSystem()) {
    auto table = BuildTarTable(*files, paths, writes);
    EXPECT_TRUE(table.ok()) << table.status();
    return table.ok() ? *std::move(table) : ItemTable();
  }
  static ItemTable FromIndices(const Paths& paths, const Paths& indices) {
    auto table = ReadTarTable(*LocalFileSystem(), paths, indices);
    EXPECT_TRUE(table.ok()) << table.status();
    return table.ok() ? *std::move(table) : ItemTable();
  }
  // "key: field field".
  static std::string TextOf(const RandomAccessReader::Content& content) {
    TarSample sample;
    sample.Begin(content.bytes, 0);
    TarSample::Field field;
    std::string text;
    while (true) {
      const auto more = sample.Next(field);
      if (!more.ok()) return "no sample";
      if (!*more) return Cat(sample.key(), ":", text);
      Append(text, " ", field.name);
    }
  }
  static std::vector<std::string> Samples(ItemTable table, const std::vector<uint64_t>& items) {
    const IndexedSamples reader(LocalFileSystem(), std::make_shared<const ItemTable>(std::move(table)));
    std::vector<RandomAccessReader::Content> contents(items.size());
    absl::Status wrong;
    EXPECT_EQ(reader.Read(items, absl::MakeSpan(contents), wrong), items.size()) << wrong;
    std::vector<std::string> texts;
    for (const auto& content : contents) texts.push_back(TextOf(content));
    return texts;
  }
  static std::vector<std::string> All(ItemTable table) {
    std::vector<uint64_t> items(table.size());
    for (size_t i = 0; i < items.size(); ++i) items[i] = i;
    return Samples(std::move(table), items);
  }

  TemporaryFolder folder_;
};

const TarFiles kThree = {
    {"0.jpg", std::string(3000, 'x')}, {"0.cls", "1"}, {"1.jpg", ""}, {"2.cls", "3"}, {"2.jpg", "y"}};

TEST_F(TarTable, NumbersTheSamplesOfAllArchives) {
  const Paths paths = {folder_.Write("a.tar", TarBytes(kThree)), folder_.Write("b.tar", TarEnd()),
                       folder_.Write("c.tar", TarBytes({{"2.txt", "z"}}))};
  EXPECT_THAT(All(Built(paths)), ElementsAre("0: jpg cls", "1: jpg", "2: cls jpg", "2: txt"));
  EXPECT_THAT(Samples(Built(paths), {3, 0, 2, 2}), ElementsAre("2: txt", "0: jpg cls", "2: cls jpg", "2: cls jpg"));
  EXPECT_EQ(Built(paths).files()[2].first, 3u);
}

TEST_F(TarTable, NumbersTheSamplesOfRealArchives) {
  for (const char* name : {"plain.tar", "pax.tar", "gnu.tar"}) {
    const std::string path = Cat("io/formats/tar/testdata/", name);
    const std::vector<std::string> samples = All(Built({path}));
    EXPECT_EQ(samples.size(), name == std::string("plain.tar") ? 8u : 2u);
    for (const std::string& sample : samples) EXPECT_NE(sample, "no sample");
  }
  EXPECT_EQ(All(Built({"io/formats/tar/testdata/plain.tar"}))[2], "dir/sub.d/x: y.png y.txt npy");
}

TEST_F(TarTable, LeavesOutMembersBetweenSamples) {
  const std::string path =
      folder_.Write("a.tar", Cat(TarMemberBytes("README", "x"), TarMemberBytes("0.a", "1"), TarHead("d/", 0, '5'),
                                 TarMemberBytes("0.b", "1"), TarMemberBytes("noext", std::string(9000, 'x')),
                                 TarMemberBytes("1.a", "1"), TarMemberBytes("noext", "1"), TarEnd()));
  const ItemTable table = Built({path});
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(table.Begin(0, 0), 1024);
  EXPECT_EQ(table.End(0, 0), 1024 + 1024 + 512 + 1024);
  EXPECT_EQ(table.Begin(1, 0), 3584 + 512 + 9216);
  EXPECT_EQ(table.End(1, 0), table.Begin(1, 0) + 1024);
  EXPECT_THAT(All(table), ElementsAre("0: a b", "1: a"));
}

TEST_F(TarTable, ReadsHeadersAlone) {
  TarFiles files;
  for (int i = 0; i < 100; ++i) files.emplace_back(Cat(i, ".jpg"), std::string(20'000, 'x'));
  const std::string path = folder_.Write("a.tar", TarBytes(files));
  const CountedReads counted(LocalFileSystem());
  EXPECT_EQ(Built({path}, false, &counted).size(), 100u);
  EXPECT_LE(counted.bytes(), 100 * 512 + 4096);
}

TEST_F(TarTable, IsKeptBesideTheArchive) {
  const std::string path = folder_.Write("a.tar", TarBytes(kThree));
  const std::string kept = Cat(path, ".hridx");
  Built({path}, false);
  EXPECT_FALSE(std::filesystem::exists(kept));
  const uint64_t fingerprint = Built({path}, true).fingerprint();
  EXPECT_TRUE(std::filesystem::exists(kept));
  EXPECT_EQ(Built({path}, true).fingerprint(), fingerprint);
  folder_.Write("a.tar", TarBytes({{"0.jpg", "x"}, {"1.jpg", "y"}}));
  EXPECT_THAT(All(Built({path}, true)), ElementsAre("0: jpg", "1: jpg")) << "the archive is another one";
}

TEST_F(TarTable, NamesDamageByFileAndByte) {
  std::string bytes = TarBytes(kThree);
  const auto error_of = [&](const std::string& damaged) {
    const auto table = BuildTarTable(*LocalFileSystem(), {folder_.Write("a.tar", damaged)}, true);
    EXPECT_EQ(GetErrorField(table.status(), ErrorField::kFile), folder_ / "a.tar");
    EXPECT_FALSE(std::filesystem::exists(folder_ / "a.tar.hridx"));
    return DescribeError(table.status());
  };
  EXPECT_THAT(error_of(""), HasSubstr("the file is empty"));
  EXPECT_THAT(error_of(bytes.substr(0, 700)), HasSubstr("ends at byte 700, within the member that begins at byte 0"));
  EXPECT_THAT(error_of(bytes.substr(0, bytes.size() - 1024)), HasSubstr("without the two blocks of zeros"));
  EXPECT_THAT(error_of(bytes.substr(0, bytes.size() - 512)), HasSubstr("without the two blocks of zeros"));
  EXPECT_THAT(error_of(bytes + "x"), HasSubstr(Cat("byte ", bytes.size(), " is not zero")));
  EXPECT_THAT(error_of(TarHead("0.jpg", 5000, 'S') + TarEnd()), HasSubstr("without --sparse"));
  bytes[512 + 3072 + 1] = 'x';
  EXPECT_THAT(error_of(bytes), HasSubstr("the header at byte 3584 is damaged"));
  for (const Compression compression : {Compression::kGzip, Compression::kXz}) {
    EXPECT_THAT(
        error_of(Compress(compression, TarBytes(kThree))),
        AllOf(HasSubstr(std::string(CompressionName(compression))), HasSubstr("decompress it, or leave out index=")));
  }
}

TEST_F(TarTable, NoticesAnArchiveThatBecameShorter) {
  const std::string path = folder_.Write("a.tar", TarBytes(kThree));
  const IndexedSamples reader(LocalFileSystem(), std::make_shared<const ItemTable>(Built({path})));
  std::filesystem::resize_file(path, 1000);
  RandomAccessReader::Content content;
  absl::Status wrong;
  EXPECT_EQ(reader.Read(std::vector<uint64_t>{0}, absl::MakeSpan(&content, 1), wrong), 0u);
  EXPECT_EQ(KindOf(wrong), ErrorKind::kData);
  EXPECT_THAT(DescribeError(wrong), AllOf(HasSubstr("the file was changed"), HasSubstr("a.tar, byte 0")));
}

TEST_F(TarTable, RefusesASampleThatIsAHole) {
  const std::string path = folder_.Write("a.tar", TarHead("0.a", size_t{6} << 30));
  std::filesystem::resize_file(path, (int64_t{6} << 30) + 2048);
  EXPECT_THAT(DescribeError(BuildTarTable(*LocalFileSystem(), {path}, false).status()), HasSubstr("has more than"));
  folder_.Write("a.tar", TarHead("0.a", size_t{3} << 30));
  std::filesystem::resize_file(path, (int64_t{3} << 30) + 2048);
  EXPECT_EQ(KindOf(BuildTarTable(*LocalFileSystem(), {path}, false).status()), ErrorKind::kData);
}

TEST_F(TarTable, TakesTheIndexOfWds2idx) {
  const std::string path = folder_.Write("a.tar", TarBytes(kThree));
  const std::string index =
      folder_.Write("a.idx", WdsIndexBytes({{kThree[0], kThree[1]}, {kThree[2]}, {kThree[3], kThree[4]}}));
  EXPECT_EQ(All(FromIndices({path}, {index})), All(Built({path})));
  EXPECT_EQ(FromIndices({path}, {index}).fingerprint(), Built({path}).fingerprint());
  // As older versions write it, and on Windows.
  folder_.Write("a.idx", "v1.1 3\r\njpg 512 3000 cls 4096 1\r\njpg 5120 0\r\ncls 5632 1 jpg 6656 1\r\n");
  EXPECT_EQ(All(FromIndices({path}, {index})), All(Built({path})));
}

TEST_F(TarTable, TakesLinesOfWds2idxThatAreNoSamples) {
  const std::string path =
      folder_.Write("a.tar", Cat(TarMemberBytes("0.a", "1"), TarMemberBytes("__meta__/x.txt", "1"),
                                 TarMemberBytes("0.b", "1"), TarMemberBytes("noext", "1"), TarEnd()));
  const std::string index =
      folder_.Write("a.idx", "v1.2 4\na 512 1 0.a\ntxt 1536 1 __meta__/x.txt\nb 2560 1 0.b\nnoext 3584 1 noext\n");
  EXPECT_THAT(All(FromIndices({path}, {index})), ElementsAre("0: a b"));
}

TEST_F(TarTable, RefusesIndicesThatDoNotFit) {
  const std::string path = folder_.Write("a.tar", TarBytes(kThree));
  const auto error_of = [&](const std::string& text) {
    const auto table = ReadTarTable(*LocalFileSystem(), {path}, {folder_.Write("a.idx", text)});
    EXPECT_EQ(KindOf(table.status()), ErrorKind::kData);
    return DescribeError(table.status());
  };
  EXPECT_THAT(error_of(""), AllOf(HasSubstr("a.idx: line 1"), HasSubstr("not the first of an index of wds2idx")));
  EXPECT_THAT(error_of("v1.3 1\n"), HasSubstr("line 1"));
  EXPECT_THAT(error_of("v1.2 x\n"), HasSubstr("line 1"));
  EXPECT_THAT(error_of("v1.2 2\njpg 512 3000 0.jpg\n"), HasSubstr("ends before the 2 samples"));
  EXPECT_THAT(error_of("v1.2 0\njpg 512 3000 0.jpg\n"), HasSubstr("goes on after the 0 samples"));
  EXPECT_THAT(error_of("v1.2 1\njpg 512 3000 a name.jpg\n"), HasSubstr("is there a space in a name?"));
  EXPECT_THAT(error_of("v1.2 1\njpg 512 -1 0.jpg\n"), HasSubstr("line 2"));
  for (const char* line : {"jpg 511 1 0.jpg", "jpg 0 1 0.jpg", "jpg 512 30000 0.jpg", "jpg 51200 1 0.jpg",
                           "jpg 1024 1 0.jpg cls 1536 1 0.cls", "jpg 512 9223372036854775807 0.jpg"}) {
    EXPECT_THAT(error_of(Cat("v1.2 1\n", line, "\n")), HasSubstr("no member has")) << line;
  }
  EXPECT_THAT(error_of("v1.2 1\njpg 512 3000 0.jpg cls 4096 1 0.cls\n"),
              AllOf(HasSubstr("names no sample from byte 4608 on"), HasSubstr("index=\"build\"")));
}

TEST_F(TarTable, ReadsTheSamplesThatTheReaderGives) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::string bytes;
    for (uint32_t i = 0; i < random() % 30; ++i) {
      const char* const kNames[] = {"0.a", "0.b", "1.a", "x/1.a", "noext", "__m__/a.b", ".h.a"};
      const std::string name = kNames[random() % 7];
      if (random() % 8 == 0) {
        bytes += TarMemberBytes("x", PaxRecords({{"path", Cat(std::string(200, 'p'), name)}}), 'x');
      }
      bytes += random() % 9 == 0 ? TarHead(name, 0, '2') : TarMemberBytes(name, std::string(random() % 1500, 'd'));
    }
    const std::string path = folder_.Write("a.tar", bytes + TarEnd());
    const ItemTable table = Built({path});
    const auto reader = TarFormat().Open(*LocalFileSystem(), path, Split(), 0, 4096);
    ASSERT_TRUE(reader.ok());
    RecordBlock block;
    uint64_t item = 0;
    while ((*reader)->Next(block).ok() && !block.records.empty()) {
      for (const Record& record : block.records) {
        ASSERT_LT(item, table.size());
        EXPECT_EQ(table.Begin(item, 0), record.offset);
        EXPECT_EQ(table.End(item, 0), record.offset + record.length);
        ++item;
      }
    }
    EXPECT_EQ(item, table.size());
  }
}

}  // namespace
}  // namespace headrace
