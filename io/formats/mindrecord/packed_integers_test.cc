#include "io/formats/mindrecord/packed_integers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/error.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename T>
std::vector<T> Unpacked(std::string_view bytes) {
  const absl::StatusOr<PackedIntegers> packed = PackedIntegers::Of(bytes);
  EXPECT_TRUE(packed.ok()) << packed.status();
  std::vector<T> values(static_cast<size_t>(packed->size()));
  EXPECT_TRUE(packed->CopyTo(values.data()).ok());
  return values;
}

TEST(PackedIntegers, AreAsMindSporeWritesThem) {
  // 127, 128 and -129: one byte, two bytes, two bytes.
  const std::string bytes("\0\0\0\3\x14\x7f\x80\0\x7f\xff", 10);
  EXPECT_THAT(Unpacked<int32_t>(bytes), ElementsAre(127, 128, -129));
  EXPECT_THAT(Unpacked<int64_t>(bytes), ElementsAre(127, 128, -129));
  EXPECT_EQ(PackedIntegers::Pack({127, 128, -129}), bytes);
  EXPECT_TRUE(Unpacked<int32_t>(std::string(4, '\0')).empty());
}

TEST(PackedIntegers, AreReadBack) {
  std::mt19937_64 random(3);
  for (size_t size = 0; size < 40; ++size) {
    std::vector<int64_t> values;
    for (size_t i = 0; i < size; ++i) {
      values.push_back(static_cast<int64_t>(random()) >> (size % 2 == 0 ? random() % 64 : 60));
    }
    EXPECT_EQ(Unpacked<int64_t>(PackedIntegers::Pack(values)), values);
  }
  const std::vector<int64_t> ends = {INT8_MIN,  INT8_MAX,  INT16_MIN, INT16_MAX, INT32_MIN,
                                     INT32_MAX, INT64_MIN, INT64_MAX, -129,      128};
  EXPECT_EQ(Unpacked<int64_t>(PackedIntegers::Pack(ends)), ends);
}

TEST(PackedIntegers, ClaimNoMoreThanIsThere) {
  const auto refusal = [](std::string_view bytes) {
    const absl::StatusOr<PackedIntegers> packed = PackedIntegers::Of(bytes);
    return packed.ok() ? "" : DescribeError(packed.status());
  };
  EXPECT_THAT(refusal(std::string(2, '\0')), HasSubstr("2 bytes hold no number of elements"));
  EXPECT_THAT(refusal("\xff\xff\xff\xff\0\0"), HasSubstr("claims 4294967295 elements"));
  EXPECT_THAT(refusal(std::string("\0\0\0\1\0", 5)), HasSubstr("claims 1 elements"));
  EXPECT_THAT(refusal(std::string("\0\0\0\1\x40\1", 6)), HasSubstr("1 elements take 2 bytes, and it has 1"));
  EXPECT_THAT(refusal(std::string("\0\0\0\1\0\1\2", 7)), HasSubstr("take 1 bytes, and it has 2"));
}

TEST(PackedIntegers, FitTheirType) {
  const std::string bytes = PackedIntegers::Pack({1, int64_t{1} << 31});
  const absl::StatusOr<PackedIntegers> packed = PackedIntegers::Of(bytes);
  ASSERT_TRUE(packed.ok());
  std::vector<int32_t> values(2);
  EXPECT_THAT(DescribeError(packed->CopyTo(values.data())),
              HasSubstr("element 1 is 2147483648, which int32 does not hold"));
}

}  // namespace
}  // namespace headrace
