// The checksum of a file shows any changed bit, and is the same everywhere.
#include "kernels/vision/codecs/jpeg/own/file_checksum.h"

#include <set>
#include <string>
#include <vector>

#include "core/philox.h"
#include "gtest/gtest.h"

namespace headrace::jpeg {
namespace {

std::string AnyBytesOf(size_t size) {
  RowRandom random(43, 0, {.key = size});
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random.Below(256));
  return bytes;
}

TEST(FileChecksum, IsTheSameInEveryVersion) {
  EXPECT_EQ(FileChecksum(""), 0x81891cbe6936a737u);
  EXPECT_EQ(FileChecksum("entry points"), 0x4322ef3c4231684au);
  EXPECT_EQ(FileChecksum(std::string(1000, 'x')), 0xd43629872f8b6760u);
}

TEST(FileChecksum, ShowsAnyChangedBit) {
  for (const size_t size : {1, 7, 8, 127, 128, 129, 400}) {
    std::string bytes = AnyBytesOf(size);
    std::set<uint64_t> found = {FileChecksum(bytes)};
    for (size_t bit = 0; bit < 8 * size; ++bit) {
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
      found.insert(FileChecksum(bytes));
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    }
    EXPECT_EQ(found.size(), 8 * size + 1) << size;
  }
}

void FlipBits(std::string& bytes, const std::vector<size_t>& bits) {
  for (const size_t bit : bits) bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
}

// Bits of one word, and bits that could undo them in words of the same lane further on.
TEST(FileChecksum, ShowsBitsThatChangeTogether) {
  for (const std::string& whole : {AnyBytesOf(1024), std::string(1024, '\0'), std::string(1024, '\xFF')}) {
    std::string bytes = whole;
    const uint64_t checksum = FileChecksum(bytes);
    for (size_t bit = 0; bit < 128; ++bit) {
      for (const size_t distance : {8, 16, 32, 64, 128, 256}) {
        const size_t other = bit + 8 * distance;
        for (const std::vector<size_t>& bits :
             {std::vector{bit, other}, {bit, other, other ^ 32}, {bit, other, other - 1}, {bit, other + 1, other}}) {
          FlipBits(bytes, bits);
          EXPECT_NE(FileChecksum(bytes), checksum) << bit << ", " << distance << " bytes apart";
          FlipBits(bytes, bits);
        }
      }
    }
    RowRandom random(44, 0, {});
    for (int round = 0; round < 5000; ++round) {
      const size_t bit = random.Below(8 * bytes.size());
      const std::vector<size_t> bits = {bit, (bit + 1 + random.Below(8 * bytes.size() - 1)) % (8 * bytes.size())};
      FlipBits(bytes, bits);
      EXPECT_NE(FileChecksum(bytes), checksum) << bits[0] << " and " << bits[1];
      FlipBits(bytes, bits);
    }
  }
}

TEST(FileChecksum, ShowsAnotherLengthAndOrder) {
  EXPECT_NE(FileChecksum(std::string(128, '\0')), FileChecksum(std::string(256, '\0')));
  const std::string bytes = AnyBytesOf(512);
  const std::string turned = bytes.substr(128) + bytes.substr(0, 128);
  EXPECT_NE(FileChecksum(bytes), FileChecksum(turned));
  const std::string across = bytes.substr(16) + bytes.substr(0, 16);
  EXPECT_NE(FileChecksum(bytes), FileChecksum(across));
}

}  // namespace
}  // namespace headrace::jpeg
