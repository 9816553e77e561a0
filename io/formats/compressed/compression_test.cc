#include "io/formats/compressed/compression.h"

#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/one_file.h"
#include "io/formats/compressed/testing/compress.h"

namespace headrace {
namespace {

using namespace std::string_literals;

TEST(Compression, IsThatOfTheFirstBytes) {
  const auto of = [](const std::string& bytes) { return *CompressionOfFile(OneFile(bytes), "a.txt"); };
  EXPECT_EQ(of(Compress(Compression::kGzip, "")), Compression::kGzip);
  EXPECT_EQ(of(Compress(Compression::kZstd, "")), Compression::kZstd);
  EXPECT_EQ(of("\x50\x2A\x4D\x18\0\0\0\0"s), Compression::kZstd) << "a skippable frame";
  EXPECT_EQ(of("\x5F\x2A\x4D\x18"s), Compression::kZstd);
  EXPECT_EQ(of("\x1F\x8B\x08"s), Compression::kGzip) << "which is cut off";
  for (const char* none : {"", "a", "\x1F", "\x1F\x8B", "\x1F\x8B\x07\x00", "\x28\xB5\x2F", "\x60\x2A\x4D\x18", "text"})
    EXPECT_EQ(of(none), Compression::kNone) << none;
}

TEST(Compression, OfArchivesIsAlsoBzip2AndXz) {
  const auto of = [](const std::string& bytes) { return *ArchiveCompressionOfFile(OneFile(bytes), "a.tar"); };
  for (const Compression compression :
       {Compression::kGzip, Compression::kZstd, Compression::kBzip2, Compression::kXz}) {
    EXPECT_EQ(of(Compress(compression, "")), compression);
    EXPECT_EQ(of(Compress(compression, "x")), compression);
  }
  for (const Compression compression : {Compression::kBzip2, Compression::kXz}) {
    EXPECT_EQ(*CompressionOfFile(OneFile(Compress(compression, "x")), "a.txt"), Compression::kNone);
  }
  EXPECT_EQ(of("BZh9 may be the name of a first member"), Compression::kNone);
  EXPECT_EQ(of("BZh0\x31\x41\x59\x26\x53\x59"), Compression::kNone);
  for (const char* none : {"", "BZh", "BZh9", "\xFD\x37zXZ"}) EXPECT_EQ(of(none), Compression::kNone) << none;
}

// Texts and numbers may begin so.
TEST(Compression, IsNotGuessedWhereOtherFilesBeginAlike) {
  const OneFile file(Compress(Compression::kZlib, "a text"));
  EXPECT_EQ(*CompressionOfFile(file, "a.txt"), Compression::kNone);
  EXPECT_EQ(*ArchiveCompressionOfFile(file, "a.tar"), Compression::kNone);
}

TEST(Compression, OfAFileThatCannotBeReadIsAnError) {
  const OneFile file("x");
  const FaultyFileSystem files(&file, [](std::string_view call, const std::string&) {
    return call == "ReadAt" ? ResourceError("no more") : absl::OkStatus();
  });
  EXPECT_EQ(KindOf(CompressionOfFile(files, "a").status()), ErrorKind::kResource);
}

TEST(Compression, HasANameThatMessagesGive) {
  EXPECT_EQ(CompressionName(Compression::kGzip), "gzip");
  EXPECT_EQ(CompressionName(Compression::kZstd), "zstd");
  EXPECT_EQ(CompressionName(Compression::kBzip2), "bzip2");
  EXPECT_EQ(CompressionName(Compression::kXz), "xz");
  EXPECT_EQ(CompressionName(Compression::kZlib), "zlib");
  EXPECT_EQ(CompressionName(Compression::kNone), "none");
}

}  // namespace
}  // namespace headrace
