#include "core/seeded_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace headrace {
namespace {

// By the reference implementation, under its own key, for the bytes 0, 1, 2, …
TEST(SipHash, IsThatOfItsAuthors) {
  const auto of = [](size_t bytes) {
    std::string text;
    for (size_t i = 0; i < bytes; ++i) text.push_back(static_cast<char>(i));
    return SipHash(text, 0x0706050403020100, 0x0f0e0d0c0b0a0908);
  };
  EXPECT_EQ(of(0), 0xabac0158050fc4dc);
  EXPECT_EQ(of(1), 0xc9f49bf37d57ca93);
  EXPECT_EQ(of(7), 0xd3927d989bb11140);
  EXPECT_EQ(of(8), 0x369095118d299a8e);
  EXPECT_EQ(of(15), 0xd320d86d2a519956);
  EXPECT_EQ(of(16), 0xcc4fdd1a7d908b66);
  EXPECT_EQ(of(63), 0x9d199062b7bbb3a8);
}

TEST(SeededHash, IsTheSameForEqualKeys) {
  const SeededHash hash;
  EXPECT_EQ(hash(std::string("photos/cat")), hash(std::string_view("photos/cat")));
  EXPECT_EQ(hash(0.0), hash(-0.0));
  EXPECT_EQ(hash(uint64_t{7}), hash(int64_t{7}));
  EXPECT_NE(hash(uint64_t{7}), hash(uint64_t{8}));
  EXPECT_NE(hash(std::string_view("a")), hash(std::string_view("b")));
}

// Keys that are multiples of the primes that libstdc++ takes for numbers of buckets, as a forger would write them.
TEST(SeededHash, KeysOfOneBucketAreSpread) {
  std::unordered_set<uint64_t, SeededHash> keys;
  constexpr uint64_t kKeys = 20'000;
  for (uint64_t i = 1; i <= kKeys; ++i) keys.insert(i * 85229 * 172933);
  size_t longest = 0;
  for (size_t bucket = 0; bucket < keys.bucket_count(); ++bucket) {
    longest = std::max(longest, keys.bucket_size(bucket));
  }
  EXPECT_EQ(keys.size(), kKeys);
  EXPECT_LT(longest, 16u);
}

TEST(SeededHash, FindsTextsWithoutACopy) {
  std::unordered_map<std::string, int, SeededHash, std::equal_to<>> numbers = {{"one", 1}, {"two", 2}};
  EXPECT_EQ(numbers.find(std::string_view("two"))->second, 2);
}

}  // namespace
}  // namespace headrace
