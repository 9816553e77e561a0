#include "io/formats/text/indexed_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/row_id.h"
#include "io/files/testing/counted_reads.h"
#include "io/files/testing/delayed_file_system.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/compressed/testing/compress.h"
#include "io/formats/text/headed_lines.h"
#include "io/formats/text/json_format.h"
#include "io/formats/text/line_format.h"
#include "io/formats/text/line_table.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Texts = std::vector<std::string>;

void ChooseAll(RecordBlock&) {}
void ChooseFilled(RecordBlock& block) {
  std::erase_if(block.records, [](const Record& record) { return record.length == 0; });
}

class IndexedLinesTest : public ::testing::Test {
 protected:
  static IndexedLines Of(const Texts& paths, const FileSystem* files = LocalFileSystem(),
                         const Format& format = LineFormat(), ChooseLines choose = ChooseAll) {
    auto table = BuildLineTable(*LocalFileSystem(), paths, format, choose);
    EXPECT_TRUE(table.ok()) << table.status();
    return IndexedLines(files, std::make_shared<const ItemTable>(*std::move(table)));
  }
  struct Got {
    Texts texts;
    absl::Status wrong;
  };
  static Got Read(const IndexedLines& reader, const std::vector<uint64_t>& items) {
    std::vector<RandomAccessReader::Content> contents(items.size());
    Got got;
    const size_t read = reader.Read(items, absl::MakeSpan(contents), got.wrong);
    for (size_t i = 0; i < read; ++i) got.texts.emplace_back(contents[i].bytes);
    return got;
  }
  static Texts All(const IndexedLines& reader) {
    std::vector<uint64_t> items(reader.size());
    std::iota(items.begin(), items.end(), uint64_t{0});
    const Got got = Read(reader, items);
    EXPECT_TRUE(got.wrong.ok()) << got.wrong;
    return got.texts;
  }
  // What a reader of the whole file gives, and where each begins.
  static Texts Streamed(const Format& format, const std::string& path, std::vector<int64_t>& begins) {
    auto reader = format.Open(*LocalFileSystem(), path, Split(), 0, 4096);
    EXPECT_TRUE(reader.ok()) << reader.status();
    Texts texts;
    RecordBlock block;
    while ((*reader)->Next(block).ok() && !block.records.empty()) {
      for (size_t i = 0; i < block.records.size(); ++i) {
        texts.emplace_back(block.content(i));
        begins.push_back(block.records[i].offset);
      }
    }
    return texts;
  }

  TemporaryFolder folder_;
};

TEST_F(IndexedLinesTest, GivesLinesWithoutTheirEnds) {
  const auto lines = [&](const std::string& bytes) { return All(Of({folder_.Write("a.txt", bytes)})); };
  EXPECT_THAT(lines(""), IsEmpty());
  EXPECT_THAT(lines("\n"), ElementsAre(""));
  EXPECT_THAT(lines("a\n\nbc\r\n"), ElementsAre("a", "", "bc"));
  EXPECT_THAT(lines("a\nno end"), ElementsAre("a", "no end"));
  EXPECT_THAT(lines("\xEF\xBB\xBF"
                    "a\n\xEF\xBB\xBF\n"),
              ElementsAre("a", "\xEF\xBB\xBF"));
  EXPECT_THAT(lines("\xEF\xBB\xBF"), IsEmpty());
  EXPECT_THAT(lines("a\r"), ElementsAre("a"));
}

TEST_F(IndexedLinesTest, GivesTheLinesOfAllFilesInAnyOrderAsTheyAreStreamed) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 40; ++round) {
    Texts paths, all;
    std::vector<int64_t> begins;
    for (int file = 0; file < 3; ++file) {
      std::string bytes;
      const size_t size = random() % 3000;
      while (bytes.size() < size) {
        if (random() % 40 == 0) bytes += std::string(random() % 1500, 'l');
        bytes += "ab\r\n\n\xEF"[random() % 6];
      }
      paths.push_back(folder_.Write(Cat(file, ".txt"), bytes));
      for (std::string& line : Streamed(LineFormat(), paths.back(), begins)) all.push_back(std::move(line));
    }
    const IndexedLines reader = Of(paths);
    ASSERT_EQ(reader.size(), all.size());
    EXPECT_EQ(All(reader), all);
    for (uint64_t i = 0; i < all.size(); ++i) EXPECT_EQ(reader.LocationOf(i).offset, begins[i]);
    if (all.empty()) continue;
    std::vector<uint64_t> some(1 + random() % 30);
    for (uint64_t& item : some) item = random() % all.size();
    if (round % 2 == 0) std::sort(some.begin(), some.end());
    const Got got = Read(reader, some);
    ASSERT_TRUE(got.wrong.ok()) << got.wrong;
    for (size_t i = 0; i < some.size(); ++i) EXPECT_EQ(got.texts[i], all[some[i]]);
  }
}

TEST_F(IndexedLinesTest, GoesOnWithinQuotes) {
  const std::string a = folder_.Write("a.txt", "x,y\n\"1\n2\",3\n\n\"4\"\"\r\n\",5\n\n"),
                    b = folder_.Write("b.txt", "x,y\n6,7");
  const HeadedLines format("x,y", a, '"');
  auto table = BuildLineTable(*LocalFileSystem(), {a, b}, format, ChooseFilled);
  ASSERT_TRUE(table.ok()) << table.status();
  const IndexedLines reader(LocalFileSystem(), std::make_shared<const ItemTable>(*std::move(table)),
                            IndexedText{.quote = '"'});
  EXPECT_THAT(All(reader), ElementsAre("\"1\n2\",3", "\"4\"\"\r\n\",5", "6,7"));
  folder_.Write("a.txt", "x,y\n\"1\n2 ,3\n\n\"4\"\"\r\n\",5\n\n");
  EXPECT_THAT(Read(reader, {0}).wrong.ToString(), HasSubstr("the file was changed"));
}

TEST_F(IndexedLinesTest, NumbersTheLinesThatAreChosenBelowAHeader) {
  const std::string a = folder_.Write("a.txt", "x,y\r\n1,2\r\n\r\n3,4\n\n\n"), b = folder_.Write("b.txt", ""),
                    c = folder_.Write("c.txt", "x,y\n\n5,6");
  const HeadedLines format("x,y", a);
  EXPECT_THAT(All(Of({a, b, c}, LocalFileSystem(), format)), ElementsAre("1,2", "", "3,4", "", "", "", "5,6"));
  EXPECT_THAT(All(Of({a, b, c}, LocalFileSystem(), format, ChooseFilled)), ElementsAre("1,2", "3,4", "5,6"));
  const std::string other = folder_.Write("d.txt", "y,x\n1,2\n");
  const auto refused = BuildLineTable(*LocalFileSystem(), {a, other}, format, ChooseAll);
  EXPECT_EQ(KindOf(refused.status()), ErrorKind::kData);
  EXPECT_EQ(GetErrorField(refused.status(), ErrorField::kFile), Cat(other, ", byte 0"));
}

TEST_F(IndexedLinesTest, RefusesCompressedFiles) {
  for (const Compression compression : {Compression::kGzip, Compression::kZstd}) {
    const std::string a = folder_.Write("a.txt", "1\n"), b = folder_.Write("b.txt", Compress(compression, "2\n"));
    const auto refused = BuildLineTable(*LocalFileSystem(), {a, b}, LineFormat(), ChooseAll);
    EXPECT_EQ(KindOf(refused.status()), ErrorKind::kGraph);
    EXPECT_EQ(GetErrorField(refused.status(), ErrorField::kFile), b);
    EXPECT_THAT(ToStd(refused.status().message()), HasSubstr(Cat("compressed by ", CompressionName(compression))));
  }
}

TEST_F(IndexedLinesTest, ReadsNeighboursTogetherAndOthersAlone) {
  std::string bytes;
  for (int i = 0; i < 100; ++i) bytes += std::string(999, 'x') + "\n";
  const std::string path = folder_.Write("a.txt", bytes);
  int reads = 0;
  const FaultyFileSystem faulty(LocalFileSystem(), [&](std::string_view call, const std::string&) {
    reads += call == "ReadAt" ? 1 : 0;
    return absl::OkStatus();
  });
  EXPECT_EQ(All(Of({path}, &faulty)), Texts(100, std::string(999, 'x')));
  EXPECT_EQ(reads, 1);
  const CountedReads counted(LocalFileSystem());
  Read(Of({path}, &counted), {3, 50, 97});
  EXPECT_LE(counted.bytes(), 3 * 1001);
}

TEST_F(IndexedLinesTest, AsksForAllLinesBeforeOneHasCome) {
  std::string bytes;
  for (int i = 0; i < 40; ++i) Append(bytes, i, std::string(10'000, 'x'), "\n");
  const DelayedFileSystem files(LocalFileSystem());
  const IndexedLines reader = Of({folder_.Write("a.txt", bytes)}, &files);
  std::vector<uint64_t> items;
  for (uint64_t i = 40; i > 0; i -= 2) items.push_back(i - 1);
  Got got;
  std::thread read([&] { got = Read(reader, items); });
  files.WaitFor(items.size());
  while (files.CompleteOne(7)) {
  }
  read.join();
  ASSERT_EQ(got.texts.size(), items.size());
  for (size_t i = 0; i < items.size(); ++i) EXPECT_EQ(got.texts[i], Cat(items[i], std::string(10'000, 'x')));
}

TEST_F(IndexedLinesTest, NamesTheLineThatCannotBeRead) {
  const std::string path = folder_.Write("a.txt", "one\n" + std::string(2000, 'x') + "\nthree\n");
  int reads = 0;
  const FaultyFileSystem files(LocalFileSystem(), [&](std::string_view call, const std::string&) {
    return call == "ReadAt" && ++reads == 2 ? ResourceError("the disk is gone") : absl::OkStatus();
  });
  const Got got = Read(Of({path}, &files), {0, 2});
  EXPECT_THAT(got.texts, ElementsAre("one"));
  EXPECT_THAT(ToStd(got.wrong.message()), HasSubstr("the disk is gone"));
  EXPECT_EQ(GetErrorField(got.wrong, ErrorField::kFile), Cat(path, ", byte 2005"));
}

TEST_F(IndexedLinesTest, NoticesFilesThatChanged) {
  const auto path = folder_.Write("a.txt", "one\ntwo\nthree\n");
  const IndexedLines reader = Of({path});
  const auto error = [&](uint64_t item) { return Read(reader, {item}).wrong; };
  // Other lines of the same size.
  folder_.Write("a.txt", "o\nextwo\nhree\n");
  EXPECT_THAT(Read(reader, {0}).texts, ElementsAre("o"));
  EXPECT_EQ(KindOf(error(1)), ErrorKind::kData);
  EXPECT_EQ(GetErrorField(error(1), ErrorField::kFile), Cat(path, ", byte 4"));
  EXPECT_THAT(ToStd(error(1).message()), HasSubstr("the file was changed"));
  folder_.Write("a.txt", "one\ntwoxthree\n");
  EXPECT_EQ(KindOf(error(1)), ErrorKind::kData) << "the line goes on";
  const IndexedLines cut = Of({folder_.Write("b.txt", "one\ntwo\nthree\n")});
  folder_.Write("b.txt", "one\ntw");
  EXPECT_EQ(KindOf(Read(cut, {1}).wrong), ErrorKind::kData);
  EXPECT_EQ(KindOf(Read(cut, {2}).wrong), ErrorKind::kData);
  std::vector<RandomAccessReader::Content> contents(1);
  absl::Status wrong;
  EXPECT_EQ(cut.Read({0}, absl::MakeSpan(contents), wrong), 1u);
  EXPECT_TRUE(contents[0].changed);
}

TEST_F(IndexedLinesTest, GivesTheElementsOfArraysBesideLines) {
  const Texts paths = {folder_.Write("a.json", "\n[ {\"a\": [1, 2]},\n 3 , {} \n]\n\n"),
                       folder_.Write("b.json", "{}\n[]\n"), folder_.Write("c.json", "[]"),
                       folder_.Write("d.json", "[\"]\"]")};
  auto table = BuildLineTable(*LocalFileSystem(), paths, JsonFormat(), ChooseAll);
  ASSERT_TRUE(table.ok()) << table.status();
  const IndexedLines reader(LocalFileSystem(), std::make_shared<const ItemTable>(*std::move(table)),
                            IndexedText{.json = true});
  const Texts all = {"{\"a\": [1, 2]}", "3", "{}", "{}", "[]", "\"]\""};
  EXPECT_EQ(All(reader), all);
  for (uint64_t i = 0; i < all.size(); ++i) EXPECT_THAT(Read(reader, {i}).texts, ElementsAre(all[i]));
  folder_.Write("a.json", "\n[ {\"a\": [1, 2] ,\n 3 , {} \n]\n\n");
  const absl::Status wrong = Read(reader, {0}).wrong;
  EXPECT_THAT(ToStd(wrong.message()), HasSubstr("no element begins at byte 3"));
  folder_.Write("a.json", "\n[ {\"a\": [1, 2]},\n123 , {} \n]\n\n");
  EXPECT_THAT(ToStd(Read(reader, {1}).wrong.message()), HasSubstr("the file was changed"));
}

TEST_F(IndexedLinesTest, NamesTheByteOfADamagedArray) {
  const std::string path = folder_.Write("a.json", "[{}, {}");
  const auto refused = BuildLineTable(*LocalFileSystem(), {path}, JsonFormat(), ChooseAll);
  EXPECT_EQ(KindOf(refused.status()), ErrorKind::kData);
  EXPECT_EQ(GetErrorField(refused.status(), ErrorField::kFile), Cat(path, ", byte 5"));
}

TEST_F(IndexedLinesTest, KeepsFewFilesOpen) {
  Texts paths, all;
  for (int i = 0; i < 100; ++i) {
    paths.push_back(folder_.Write(Cat(i, ".txt"), Cat(i)));
    all.push_back(Cat(i));
  }
  const IndexedLines reader = Of(paths);
  for (int round = 0; round < 2; ++round) EXPECT_EQ(All(reader), all);
}

}  // namespace
}  // namespace headrace
