#include "io/files/object_cache/part_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "core/testing/rounds.h"
#include "io/files/testing/one_file.h"

namespace headrace::object_cache {
namespace {

std::vector<uint8_t> RandomBytes(int64_t bytes, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> made(static_cast<size_t>(bytes));
  for (uint8_t& byte : made) byte = static_cast<uint8_t>(random());
  return made;
}

PartKey KeyOfPart(int64_t bytes, uint64_t version = 7) {
  return KeyOf("https://store", {"s3://bucket/a.bin", bytes, version}, {0, bytes});
}

std::string PartFileText(const PartKey& key, const std::vector<uint8_t>& bytes) {
  return PartFileHead(key, bytes) + std::string(bytes.begin(), bytes.end());
}

// `file` outlives what it gives.
std::optional<PartFile> Begun(const OneFile& file, const PartKey& key) { return PartFile::Begin(*file.Open("a"), key); }

TEST(Part, CoversAnObjectOnce) {
  EXPECT_EQ(PartsOf(0), 1);
  EXPECT_EQ(PartsOf(kWholeBytes), 1);
  EXPECT_EQ(PartsOf(kWholeBytes + 1), 9);
  for (const int64_t size : {int64_t{1}, kWholeBytes, kWholeBytes + 1, 10 * kPartBytes, 10 * kPartBytes + 5}) {
    int64_t next = 0;
    for (int64_t number = 0; number < PartsOf(size); ++number) {
      const Part part = PartAt(size, number);
      EXPECT_EQ(part.offset, next);
      EXPECT_EQ(PartOfByte(size, part.offset), number);
      EXPECT_EQ(PartOfByte(size, part.offset + part.bytes - 1), number);
      next += part.bytes;
    }
    EXPECT_EQ(next, size);
  }
}

TEST(Part, HasAKeyOfItsOwnByAllThatTellsItsBytes) {
  const Object object{"s3://b/k", 10, 1};
  const PartKey key = KeyOf("s", object, {0, 10});
  EXPECT_EQ(key.text, KeyOf("s", object, {0, 10}).text);
  for (const PartKey& other :
       {KeyOf("t", object, {0, 10}), KeyOf("s", {"s3://b/l", 10, 1}, {0, 10}), KeyOf("s", {"s3://b/k", 11, 1}, {0, 10}),
        KeyOf("s", {"s3://b/k", 10, 2}, {0, 10}), KeyOf("s", object, {1, 9})}) {
    EXPECT_NE(other.text, key.text);
    EXPECT_NE(other.high, key.high);
    EXPECT_NE(other.low, key.low);
  }
}

TEST(PartFile, GivesAnyRange) {
  const int64_t rounds = Rounds(300, {.quick = 60, .sanitized = 40});
  std::mt19937 random(1);
  for (const int64_t size : {int64_t{0}, int64_t{1}, kBlockBytes - 1, kBlockBytes, 3 * kBlockBytes + 17}) {
    const std::vector<uint8_t> bytes = RandomBytes(size, 5);
    const PartKey key = KeyOfPart(size);
    const std::string text = PartFileText(key, bytes);
    EXPECT_EQ(static_cast<int64_t>(text.size()), PartFileBytes(key));
    const OneFile file(text);
    const auto part = Begun(file, key);
    ASSERT_TRUE(part.has_value());
    for (int64_t i = 0; i < rounds; ++i) {
      const int64_t offset = static_cast<int64_t>(random()) % (size + 1);
      std::vector<uint8_t> got(static_cast<size_t>(static_cast<int64_t>(random()) % (size - offset + 1)));
      ASSERT_TRUE(part->Read(offset, absl::MakeSpan(got)));
      EXPECT_TRUE(std::equal(got.begin(), got.end(), bytes.begin() + offset));
    }
    std::vector<uint8_t> beyond(1);
    EXPECT_FALSE(part->Read(size, absl::MakeSpan(beyond)));
    EXPECT_FALSE(part->Read(-1, absl::MakeSpan(beyond)));
  }
}

// A read checks the blocks that it touches, and no others.
TEST(PartFile, RefusesDamagedBytes) {
  const std::vector<uint8_t> bytes = RandomBytes(3 * kBlockBytes, 5);
  const PartKey key = KeyOfPart(3 * kBlockBytes);
  std::string text = PartFileText(key, bytes);
  text[text.size() - 2 * kBlockBytes + 9] ^= 1;
  const OneFile file(text);
  const auto part = Begun(file, key);
  ASSERT_TRUE(part.has_value());
  std::vector<uint8_t> got(kBlockBytes);
  EXPECT_TRUE(part->Read(0, absl::MakeSpan(got)));
  EXPECT_FALSE(part->Read(kBlockBytes, absl::MakeSpan(got)));
  EXPECT_FALSE(part->Read(kBlockBytes - 1, absl::MakeSpan(got)));
  EXPECT_TRUE(part->Read(2 * kBlockBytes, absl::MakeSpan(got)));
  text.resize(text.size() - 1);
  const OneFile cut(text);
  EXPECT_FALSE(Begun(cut, key)->Read(2 * kBlockBytes, absl::MakeSpan(got)));
}

TEST(PartFile, RefusesTheHeadOfAnotherPartAndADamagedOne) {
  const std::vector<uint8_t> bytes = RandomBytes(100, 5);
  const PartKey key = KeyOfPart(100);
  const std::string text = PartFileText(key, bytes);
  EXPECT_TRUE(Begun(OneFile(text), key).has_value());
  EXPECT_FALSE(Begun(OneFile(text), KeyOfPart(100, 8)).has_value());
  EXPECT_FALSE(Begun(OneFile(text), KeyOfPart(99)).has_value());
  EXPECT_FALSE(Begun(OneFile(""), key).has_value());
  constexpr size_t kUnused = 8;  // the four bytes after the magic are of no use
  for (size_t at = 0; at < text.size() - bytes.size(); ++at) {
    if (at >= kUnused && at < kUnused + 4) continue;
    std::string damaged = text;
    damaged[at] ^= 4;
    EXPECT_FALSE(Begun(OneFile(damaged), key).has_value()) << at;
  }
}

}  // namespace
}  // namespace headrace::object_cache
