#include "io/formats/compressed/decompressed_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lzma.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/stop_signal.h"
#include "io/files/testing/counted_reads.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/one_file.h"
#include "io/formats/compressed/testing/compress.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

// Of which several may stand end to end.
constexpr Compression kJoined[] = {Compression::kGzip, Compression::kZstd, Compression::kBzip2, Compression::kXz};
constexpr Compression kEach[] = {Compression::kGzip, Compression::kZstd, Compression::kBzip2, Compression::kXz,
                                 Compression::kZlib};

struct Held {
  std::string bytes = {};
  absl::Status error = {};
};

Held ReadHeld(const FileSystem& files, Compression compression, size_t block_bytes = size_t{256} << 10,
              size_t at_once = 1000) {
  Held held;
  const auto file = DecompressedFile::Open(files, "a", compression, block_bytes);
  held.error = file.status();
  std::string part(at_once, '\0');
  while (held.error.ok()) {
    const auto got = (*file)->Read(absl::MakeSpan(reinterpret_cast<uint8_t*>(part.data()), part.size()));
    held.error = got.status();
    if (!got.ok() || *got == 0) break;
    held.bytes.append(part, 0, *got);
  }
  return held;
}

Held ReadBytes(const std::string& compressed, Compression compression) {
  return ReadHeld(OneFile(compressed), compression);
}

// Compressible in part.
std::string SomeBytes(size_t size, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::string bytes;
  while (bytes.size() < size) {
    for (size_t i = random() % 40; i > 0; --i) bytes += static_cast<char>(random() % 256);
    bytes.append(random() % 300, static_cast<char>(random() % 256));
  }
  bytes.resize(size);
  return bytes;
}

TEST(DecompressedFile, GivesWhatWasCompressedWhateverTheSizesOfReads) {
  for (const Compression compression : kEach) {
    for (const size_t size : {0, 1, 1000, 65'536, 65'537, 900'000}) {
      const std::string bytes = SomeBytes(size);
      const OneFile file(Compress(compression, bytes));
      for (const size_t block_bytes : {size_t{4096}, size_t{1} << 20}) {
        for (const size_t at_once : {size_t{13}, size_t{65'536}, size_t{3'000'000}}) {
          const Held held = ReadHeld(file, compression, block_bytes, at_once);
          EXPECT_TRUE(held.error.ok()) << held.error;
          EXPECT_TRUE(held.bytes == bytes) << size;
        }
      }
    }
  }
}

TEST(DecompressedFile, JoinsMembersAndFrames) {
  for (const Compression compression : kJoined) {
    std::string bytes, compressed;
    for (uint32_t piece = 0; piece < 300; ++piece) {
      const std::string part = SomeBytes(piece * 37 % 500, piece);
      bytes += part;
      compressed += Compress(compression, part);
    }
    const Held held = ReadBytes(compressed, compression);
    EXPECT_TRUE(held.error.ok()) << held.error;
    EXPECT_TRUE(held.bytes == bytes);
  }
}

TEST(DecompressedFile, PassesOverWhatHoldsNothing) {
  const std::string skippable("\x53\x2A\x4D\x18\x03\0\0\0xyz", 11);
  const std::string zstd = Compress(Compression::kZstd, "one");
  EXPECT_EQ(ReadBytes(skippable + zstd + skippable + zstd, Compression::kZstd).bytes, "oneone");
  const std::string gzip = Compress(Compression::kGzip, "one");
  // Across the border of what is read at once.
  for (const size_t zeros : {1, 20'000}) {
    const Held held = ReadBytes(gzip + std::string(zeros, '\0') + gzip + std::string(zeros, '\0'), Compression::kGzip);
    EXPECT_EQ(held.bytes, "oneone");
    EXPECT_TRUE(held.error.ok()) << held.error;
  }
}

TEST(DecompressedFile, RefusesOtherBytesAfterTheEnd) {
  for (const Compression compression : kEach) {
    const std::string whole = Compress(compression, "one");
    const Held held = ReadBytes(whole + "text that follows", compression);
    EXPECT_EQ(held.bytes, "one");
    EXPECT_EQ(KindOf(held.error), ErrorKind::kData);
    EXPECT_THAT(ToStd(held.error.message()), HasSubstr(Cat("near its byte ", whole.size())));
    EXPECT_THAT(ToStd(held.error.message()), HasSubstr("other bytes follow its end"));
  }
}

TEST(DecompressedFile, NamesTheByteAtWhichAFileIsCutOff) {
  for (const Compression compression : kJoined) {
    const std::string bytes = SomeBytes(3000);
    const std::string whole = Compress(compression, bytes) + Compress(compression, bytes);
    const size_t first = whole.size() / 2;
    // Each begins with a magic word, and bzip2 takes its time.
    const size_t step = compression == Compression::kGzip || compression == Compression::kZstd ? 1 : 61;
    for (size_t size = first % step + 4 * step; size < whole.size(); size += step) {
      const Held held = ReadBytes(whole.substr(0, size), compression);
      EXPECT_TRUE((bytes + bytes).substr(0, held.bytes.size()) == held.bytes);
      if (size == first) {
        EXPECT_TRUE(held.error.ok()) << "the end of a member is the end of a file";
        continue;
      }
      EXPECT_EQ(KindOf(held.error), ErrorKind::kData) << size;
      EXPECT_THAT(ToStd(held.error.message()),
                  HasSubstr(Cat("the file ends at byte ", size, ", within its ", CompressionName(compression))));
    }
  }
}

TEST(DecompressedFile, NoticesEachFlippedBitOfTheContents) {
  const std::string bytes = SomeBytes(700);
  for (const Compression compression : kEach) {
    const std::string whole = Compress(compression, bytes);
    // The header of gzip has bits that mean nothing to it.
    for (size_t at = compression == Compression::kGzip ? 10 : 4; at < whole.size(); ++at) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
      const Held held = ReadBytes(damaged, compression);
      EXPECT_TRUE(!held.error.ok() || held.bytes == bytes) << at;
      EXPECT_TRUE(held.error.ok() || KindOf(held.error) == ErrorKind::kData) << held.error;
    }
  }
}

TEST(DecompressedFile, GivesTheSameBeforeDamageWhateverTheSizesOfReads) {
  for (const Compression compression : kEach) {
    // Blocks of bzip2 are of 900 kB before they are compressed.
    const std::string bytes = SomeBytes(compression == Compression::kBzip2 ? 2'500'000 : 600'000);
    std::string damaged = Compress(compression, bytes);
    damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
    const OneFile file(damaged);
    const Held plain = ReadHeld(file, compression);
    EXPECT_FALSE(plain.error.ok());
    EXPECT_GT(plain.bytes.size(), 100'000u);
    for (const size_t block_bytes : {size_t{4096}, size_t{100'000}}) {
      for (const size_t at_once : {size_t{7}, size_t{1} << 20}) {
        const Held held = ReadHeld(file, compression, block_bytes, at_once);
        EXPECT_TRUE(held.bytes == plain.bytes);
        EXPECT_EQ(held.error, plain.error);
      }
    }
  }
}

TEST(DecompressedFile, RefusesWindowsOfAnyLength) {
  // A frame with a window of 2 GiB, and no block.
  const Held held = ReadBytes(std::string("\x28\xB5\x2F\xFD\x00\xA8", 6) + std::string(20, '\0'), Compression::kZstd);
  EXPECT_EQ(KindOf(held.error), ErrorKind::kData);
  EXPECT_THAT(ToStd(held.error.message()), HasSubstr("larger than 128 MiB; compress the file without --long"));
}

TEST(DecompressedFile, RefusesDictionariesOfAnyLength) {
  // After the header of the stream that of the block: its length, LZMA2 with a dictionary, here of 4 GiB - 1, and a
  // checksum.
  constexpr size_t kHead = 12;
  std::string whole = Compress(Compression::kXz, std::string(100, 'x'));
  const size_t filter = whole.find("\x21\x01", kHead);
  ASSERT_LT(filter, 40u);
  whole[filter + 2] = 40;
  const size_t covered = 4 * static_cast<uint8_t>(whole[kHead]);
  const uint32_t crc = lzma_crc32(reinterpret_cast<const uint8_t*>(whole.data()) + kHead, covered, 0);
  std::memcpy(whole.data() + kHead + covered, &crc, sizeof(crc));
  const Held held = ReadBytes(whole, Compression::kXz);
  EXPECT_EQ(KindOf(held.error), ErrorKind::kData);
  EXPECT_THAT(ToStd(held.error.message()), HasSubstr("larger than 128 MiB"));
}

TEST(DecompressedFile, PassesOverThePaddingOfXz) {
  const std::string one = Compress(Compression::kXz, "one");
  const Held held = ReadBytes(one + std::string(20'000, '\0') + one + std::string(4, '\0'), Compression::kXz);
  EXPECT_EQ(held.bytes, "oneone");
  EXPECT_TRUE(held.error.ok()) << held.error;
}

TEST(DecompressedFile, RefusesATarArchiveUnlessItIsToBeGiven) {
  std::string archive(2048, '\0');
  archive.replace(0, 5, "a.txt");
  archive.replace(257, 5, "ustar");
  for (const Compression compression : kEach) {
    const Held held = ReadBytes(Compress(compression, archive), compression);
    EXPECT_TRUE(held.bytes.empty());
    EXPECT_EQ(KindOf(held.error), ErrorKind::kData);
    EXPECT_THAT(ToStd(held.error.message()), HasSubstr("holds a tar archive"));
    const OneFile file(Compress(compression, archive));
    const auto given = DecompressedFile::Open(file, "a", compression, 4096, OnArchive::kGive);
    ASSERT_TRUE(given.ok());
    std::string bytes(4096, 'x');
    EXPECT_EQ(*(*given)->Read(absl::MakeSpan(reinterpret_cast<uint8_t*>(bytes.data()), bytes.size())), archive.size());
    EXPECT_EQ(bytes.substr(0, archive.size()), archive);
    // Text may have the word there.
    const std::string text = std::string(257, 'x') + "ustar\n";
    EXPECT_EQ(ReadBytes(Compress(compression, text), compression).bytes, text);
  }
}

TEST(DecompressedFile, ReadsNoMoreThanItNeeds) {
  const std::string compressed = Compress(Compression::kGzip, SomeBytes(5'000'000));
  const OneFile file(compressed);
  const CountedReads counted(&file);
  const auto opened = DecompressedFile::Open(counted, "a", Compression::kGzip, size_t{256} << 10);
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ((*opened)->compressed_size(), static_cast<int64_t>(compressed.size()));
  uint8_t byte = 0;
  ASSERT_EQ(*(*opened)->Read(absl::MakeSpan(&byte, 1)), 1u);
  EXPECT_LE(counted.bytes(), 3 * (64 << 10));
}

TEST(DecompressedFile, StopsAndGoesOn) {
  const std::string bytes = SomeBytes(100'000);
  const OneFile file(Compress(Compression::kZstd, bytes));
  const auto opened = DecompressedFile::Open(file, "a", Compression::kZstd, 4096);
  ASSERT_TRUE(opened.ok());
  std::string held(bytes.size(), '\0');
  const auto target = absl::MakeSpan(reinterpret_cast<uint8_t*>(held.data()), held.size());
  size_t at = 0;
  while (at < held.size()) {
    {
      const std::atomic<bool> stop{true};
      const StopSignal signal(&stop);
      const auto stopped = (*opened)->Read(target.subspan(at));
      // What was made before is given without work.
      at += stopped.ok() ? *stopped : 0;
      EXPECT_TRUE(stopped.ok() || KindOf(stopped.status()) == ErrorKind::kClosed);
    }
    if (at == held.size()) break;
    const auto got = (*opened)->Read(target.subspan(at));
    ASSERT_TRUE(got.ok() && *got > 0);
    at += *got;
  }
  EXPECT_TRUE(held == bytes);
}

TEST(DecompressedFile, PassesOnWhatReadingFailsOf) {
  const OneFile file(Compress(Compression::kGzip, "x"));
  const FaultyFileSystem files(&file, [](std::string_view call, const std::string&) {
    return call == "ReadAt" ? ResourceError("no more") : absl::OkStatus();
  });
  EXPECT_EQ(KindOf(ReadHeld(files, Compression::kGzip).error), ErrorKind::kResource);
}

}  // namespace
}  // namespace headrace
