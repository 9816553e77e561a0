#include "io/line_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/faulty_file_system_testing.h"
#include "io/temporary_folder_testing.h"

namespace headrace {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class LineReaderTest : public testing::Test {
 protected:
  std::unique_ptr<LineReader> Open(std::string_view bytes, int64_t chunk = 4, int64_t offset = 0, int64_t number = 0) {
    LineReaderOptions options;
    options.chunk_bytes = chunk;
    auto reader = LineReader::Open(*LocalFileSystem(), folder_.Write("text", bytes), offset, number, options);
    EXPECT_TRUE(reader.ok()) << reader.status();
    return *std::move(reader);
  }
  // "number:offset:text" of every line, and the error at last.
  static std::vector<std::string> All(LineReader& reader) {
    std::vector<std::string> lines;
    Line line;
    while (true) {
      const auto more = reader.Next(line);
      if (!more.ok()) lines.push_back(std::string(more.status().message()));
      if (!more.ok() || !*more) return lines;
      EXPECT_EQ(line.text.dtype(), DType::kString);
      lines.push_back(Cat(line.number, ":", line.offset, ":", line.text.bytes_value()));
    }
  }
  std::vector<std::string> Lines(std::string_view bytes, int64_t chunk = 4) { return All(*Open(bytes, chunk)); }

  TemporaryFolder folder_;
};

TEST_F(LineReaderTest, SplitsLines) {
  EXPECT_THAT(Lines(""), ElementsAre());
  EXPECT_THAT(Lines("a"), ElementsAre("0:0:a"));
  EXPECT_THAT(Lines("a\n"), ElementsAre("0:0:a"));
  EXPECT_THAT(Lines("\n"), ElementsAre("0:0:"));
  EXPECT_THAT(Lines("a\n\nb"), ElementsAre("0:0:a", "1:2:", "2:3:b"));
  EXPECT_THAT(Lines("ab\r\ncd\r\n\r\n"), ElementsAre("0:0:ab", "1:4:cd", "2:8:"));
  EXPECT_THAT(Lines("a\rb\r"), ElementsAre("0:0:a\rb\r")) << "a lone \\r ends no line";
  EXPECT_THAT(Lines("line much longer than a chunk\nx"), ElementsAre("0:0:line much longer than a chunk", "1:30:x"));
}

TEST_F(LineReaderTest, AnyChunkGivesTheSameLines) {
  const std::string text = "first\r\nsecond, longer\n\nüber\n\r\nlast \xf0\x9f\x8c\x8a";
  const auto expected = Lines(text, 1000);
  ASSERT_EQ(expected.size(), 6u);
  for (int64_t chunk = 1; chunk < 50; ++chunk) EXPECT_EQ(Lines(text, chunk), expected) << chunk;
}

TEST_F(LineReaderTest, BeginsAtAnyLine) {
  const std::string text = "one\ntwo\r\n\nfour";
  EXPECT_THAT(All(*Open(text, 4, 4, 1)), ElementsAre("1:4:two", "2:9:", "3:10:four"));
  EXPECT_THAT(All(*Open(text, 4, 10, 3)), ElementsAre("3:10:four"));
  EXPECT_THAT(All(*Open(text, 4, 14, 4)), ElementsAre());
  EXPECT_THAT(All(*Open(text, 4, 99, 4)), ElementsAre());
}

TEST_F(LineReaderTest, SkipsLinesWithoutLookingAtThem) {
  const auto reader = Open("bad \xff\ngood");
  EXPECT_TRUE(*reader->Skip());
  EXPECT_EQ(reader->offset(), 6);
  EXPECT_EQ(reader->number(), 1);
  EXPECT_THAT(All(*reader), ElementsAre("1:6:good"));
  EXPECT_FALSE(*reader->Skip());
}

TEST_F(LineReaderTest, LinesOutliveTheReader) {
  auto reader = Open("first\nsecond\n", 8);
  Line first;
  Line second;
  ASSERT_TRUE(*reader->Next(first));
  ASSERT_TRUE(*reader->Next(second));
  reader.reset();
  EXPECT_EQ(first.text.bytes_value(), "first");
  EXPECT_EQ(second.text.bytes_value(), "second");
}

TEST_F(LineReaderTest, GivesViewsNotCopies) {
  const auto reader = Open("one\ntwo\n", 64);
  Line one;
  Line two;
  ASSERT_TRUE(*reader->Next(one));
  ASSERT_TRUE(*reader->Next(two));
  EXPECT_EQ(one.text.buffer().get(), two.text.buffer().get());
  EXPECT_EQ(two.text.raw(), one.text.raw() + 4);
}

TEST_F(LineReaderTest, NamesFileLineAndByteOfWhatIsNotUtf8) {
  const auto reader = Open("fine\nbad: \xe9t\xe9\n");
  const auto lines = All(*reader);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[1], AllOf(HasSubstr(folder_ / "text"), HasSubstr("line 2 (from byte 5 on)"),
                              HasSubstr("byte 10 (0xe9)"), HasSubstr("convert the file")));
  Line line;
  EXPECT_EQ(KindOf(reader->Next(line).status()), ErrorKind::kData) << "and stays there";
  EXPECT_THAT(Lines(std::string_view("\xff\xfe"
                                     "a\0\n\0",
                                     6)),
              ElementsAre(HasSubstr("UTF-16")));
}

TEST_F(LineReaderTest, LeavesOutAByteOrderMark) {
  EXPECT_THAT(Lines("\xef\xbb\xbf"
                    "a\nb"),
              ElementsAre("0:0:a", "1:5:b"));
  EXPECT_THAT(Lines("a\n\xef\xbb\xbf"
                    "b"),
              ElementsAre("0:0:a",
                          "1:2:\xef\xbb\xbf"
                          "b"));
}

TEST_F(LineReaderTest, RefusesALineWithoutEnd) {
  LineReaderOptions options;
  options.chunk_bytes = 16;
  options.max_line_bytes = 100;
  const auto reader =
      LineReader::Open(*LocalFileSystem(), folder_.Write("text", "a\n" + std::string(1000, 'b')), 0, 0, options);
  const auto lines = All(**reader);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[1], AllOf(HasSubstr("line 2"), HasSubstr("more than 100 bytes")));
}

TEST_F(LineReaderTest, PassesOnErrorsAndCanGoOn) {
  bool fail = false;
  FaultyFileSystem faulty(LocalFileSystem(), [&](std::string_view call, const std::string& path) {
    return fail && call == "ReadAt" ? DataError(path, ": no answer") : absl::OkStatus();
  });
  LineReaderOptions options;
  options.chunk_bytes = 4;
  const auto reader = LineReader::Open(faulty, folder_.Write("text", "one\ntwo\nthree"), 0, 0, options);
  Line line;
  ASSERT_TRUE(*(*reader)->Next(line));
  fail = true;
  EXPECT_THAT(std::string((*reader)->Next(line).status().message()), HasSubstr("no answer"));
  fail = false;
  EXPECT_THAT(All(**reader), ElementsAre("1:4:two", "2:8:three"));
  EXPECT_EQ(KindOf(LineReader::Open(faulty, folder_ / "missing").status()), ErrorKind::kNotFound);
}

TEST(FirstNotUtf8, KnowsTheEdges) {
  for (const char* good : {"", "plain text, long enough for words", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80",
                           "\xed\x9f\xbf", "\xee\x80\x80", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(FirstNotUtf8(good), std::string_view(good).size()) << good;
  }
  for (const char* bad : {"\x80", "\xc0\x80", "\xc1\xbf", "\xc2", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\xf0\x9f\x8c", "\xc2\x41"}) {
    EXPECT_EQ(FirstNotUtf8(Cat("12345678", bad)), 8u);
    EXPECT_EQ(FirstNotUtf8(Cat("123", bad, "456789")), 3u);
  }
}

// Random bytes, split by hand and by the reader.
TEST_F(LineReaderTest, AgreesWithSplittingByHand) {
#ifdef HEADRACE_SANITIZER
  constexpr int kRounds = 200;
#else
  constexpr int kRounds = 2000;
#endif
  std::mt19937 random(5);
  for (int round = 0; round < kRounds; ++round) {
    std::string text;
    for (auto n = random() % 60; n > 0; --n) text.push_back("\n\r\nab"[random() % 5]);
    std::vector<std::string> expected;
    for (size_t begin = 0; begin < text.size();) {
      const size_t newline = std::min(text.find('\n', begin), text.size());
      std::string line = text.substr(begin, newline - begin);
      if (newline < text.size() && !line.empty() && line.back() == '\r') line.pop_back();
      expected.push_back(Cat(expected.size(), ":", begin, ":", line));
      begin = newline + 1;
    }
    EXPECT_EQ(Lines(text, 1 + random() % 20), expected);
  }
  printf("HEADRACE-COUNT fuzz=%d\n", kRounds);
}

}  // namespace
}  // namespace headrace
