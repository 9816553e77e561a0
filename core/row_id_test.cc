#include "core/row_id.h"

#include <gtest/gtest.h>

#include <set>

namespace headrace {
namespace {

// Random streams and identities of saved states hang on these bits. Scramble(0) is SplitMix64's published first output
// for the seed 0.
TEST(RowId, KeepsItsBits) {
  EXPECT_EQ(Scramble(0), 0xe220a8397b1dcdafu);
  EXPECT_EQ(Scramble(1234567), 6457827717110365317u);
  EXPECT_EQ(MixKey(0, 0), 0x988ec8e37f1ff94fu);
  EXPECT_EQ(MixKey(1, 2), 0x048f459dad4b981bu);
  EXPECT_EQ(MixKey(2, 1), 0xc182db64aee3f13au);
  EXPECT_EQ(MixKey(~uint64_t{0}, ~uint64_t{0}), 0x3de06c6c3fbb737bu);
}

TEST(RowId, MixedKeysDiffer) {
  std::set<uint64_t> keys;
  for (uint64_t key = 0; key < 100; ++key) {
    for (uint64_t with = 0; with < 100; ++with) keys.insert(MixKey(key, with));
  }
  EXPECT_EQ(keys.size(), 10000u);
}

TEST(RowId, DescribesItself) {
  EXPECT_EQ(DescribeRowId({2, 17, false}), "epoch 2, key 17");
  const auto file = std::make_shared<const std::string>("cat/1.jpg");
  EXPECT_EQ(DescribeProvenance({file, 3, 1024}), "cat/1.jpg, record 3, byte 1024");
  EXPECT_EQ(DescribeProvenance({file, -1, -1}), "cat/1.jpg");
  EXPECT_EQ(DescribeProvenance({nullptr, 5, -1}), "record 5");
  EXPECT_EQ(DescribeProvenance({nullptr, -1, 0}), "byte 0");
  EXPECT_EQ(DescribeProvenance({}), "");
}

}  // namespace
}  // namespace headrace
