#include "io/formats/text/line_reader.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/one_file.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

// The first byte of each line, and the line.
using Lines = std::vector<std::pair<uint64_t, std::string>>;

Lines ReadFrom(const std::string& bytes, uint64_t offset) {
  const OneFile file(bytes);
  auto reader = LineReader::Open(file, "a.txt", offset);
  EXPECT_TRUE(reader.ok()) << reader.status();
  Lines lines;
  while (true) {
    const uint64_t begin = (*reader)->offset();
    const auto line = (*reader)->Next();
    EXPECT_TRUE(line.ok()) << line.status();
    if (!line.ok() || !line->has_value()) return lines;
    lines.emplace_back(begin, **line);
  }
}

TEST(LineReader, GivesLinesWithoutTheirEnds) {
  EXPECT_EQ(ReadFrom("", 0), (Lines{}));
  EXPECT_EQ(ReadFrom("\n", 0), (Lines{{0, ""}}));
  EXPECT_EQ(ReadFrom("a\n\nbc\r\n", 0), (Lines{{0, "a"}, {2, ""}, {3, "bc"}}));
  EXPECT_EQ(ReadFrom("a\nno end", 0), (Lines{{0, "a"}, {2, "no end"}}));
  EXPECT_EQ(ReadFrom("a\r", 0), (Lines{{0, "a"}}));
}

TEST(LineReader, LeavesOutAByteOrderMarkAtTheStartAlone) {
  EXPECT_EQ(ReadFrom("\xEF\xBB\xBF"
                     "a\n\xEF\xBB\xBF"
                     "b\n",
                     0),
            (Lines{{0, "a"},
                   {5,
                    "\xEF\xBB\xBF"
                    "b"}}));
  EXPECT_EQ(ReadFrom("\xEF\xBB", 0), (Lines{{0, "\xEF\xBB"}}));
}

TEST(LineReader, GoesOnFromEachLine) {
  const std::string bytes = "\xEF\xBB\xBFone\n\ntwo\r\n" + std::string(600'000, 'x') + "\nlast";
  const Lines all = ReadFrom(bytes, 0);
  ASSERT_EQ(all.size(), 5u);
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(ReadFrom(bytes, all[i].first), Lines(all.begin() + i, all.end())) << i;
  }
  EXPECT_EQ(ReadFrom(bytes, bytes.size()), (Lines{}));
}

TEST(LineReader, ReadsLinesOnBothSidesOfEveryBoundaryOfItsBuffer) {
  for (const size_t bytes :
       {(256 << 10) - 1, 256 << 10, (256 << 10) + 1, (512 << 10) - 1, 512 << 10, (512 << 10) + 1}) {
    const std::string line(bytes - 1, 'a');
    EXPECT_EQ(ReadFrom(line + "\nb\n", 0), (Lines{{0, line}, {bytes, "b"}})) << bytes;
    EXPECT_EQ(ReadFrom(line + "\r\nb", 0), (Lines{{0, line}, {bytes + 1, "b"}})) << bytes;
  }
}

TEST(LineReader, RefusesALineThatIsTooLong) {
  const OneFile file(std::string(600'000, 'a') + "\nb\n");
  auto reader = LineReader::Open(file, "a.txt", 0, 500'000);
  ASSERT_TRUE(reader.ok());
  const absl::Status status = (*reader)->Next().status();
  EXPECT_EQ(KindOf(status), ErrorKind::kData);
  EXPECT_NE(status.message().find("longer than 500000 bytes"), std::string::npos) << status;
}

TEST(LineReader, RefusesAFileThatEndsBeforeTheOffset) {
  const absl::Status status = LineReader::Open(OneFile("abc"), "a.txt", 4).status();
  EXPECT_EQ(KindOf(status), ErrorKind::kData);
  EXPECT_NE(status.message().find("a.txt has 3 bytes"), std::string::npos) << status;
}

TEST(LineReader, RefusesAFileThatChangesWhileItIsRead) {
  const TemporaryFolder folder;
  for (const std::string after : {"short\n", "a line longer than what was there\nand another\n"}) {
    const std::string path = folder.Write("a.txt", "what was there\n");
    const FaultyFileSystem files(LocalFileSystem(), [&](std::string_view call, const std::string&) {
      if (call == "ReadAt") folder.Write("a.txt", after);
      return absl::OkStatus();
    });
    auto reader = LineReader::Open(files, path, 0);
    ASSERT_TRUE(reader.ok());
    EXPECT_EQ((*reader)->size(), 15u);
    EXPECT_EQ(KindOf((*reader)->Next().status()), ErrorKind::kData) << after;
  }
}

TEST(LineReader, PassesOnWhatReadingFailsOf) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("a.txt", "a\n");
  const FaultyFileSystem files(LocalFileSystem(), [&](std::string_view call, const std::string&) {
    return call == "ReadAt" ? ResourceError("no more") : absl::OkStatus();
  });
  auto reader = LineReader::Open(files, path, 0);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(KindOf((*reader)->Next().status()), ErrorKind::kResource);
}

}  // namespace
}  // namespace headrace
