#include "io/records/crc32c.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {
namespace {

// The check value of the catalogue of CRC algorithms, and the vectors of RFC 3720, B.4.
TEST(Crc32c, HasTheKnownValues) {
  EXPECT_EQ(Crc32c("123456789", 9), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0').data(), 32), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff').data(), 32), 0x62a8ab43u);
  EXPECT_EQ(Crc32c("", 0), 0u);
}

TEST(Crc32c, IsTheSameByTableAndInParts) {
  std::vector<uint8_t> bytes(1000);
  std::iota(bytes.begin(), bytes.end(), static_cast<uint8_t>(3));
  for (size_t size = 0; size <= bytes.size(); size += 13) {
    const uint32_t whole = Crc32c(bytes.data(), size);
    EXPECT_EQ(Crc32cByTable(bytes.data(), size), whole) << size;
    const size_t half = size / 2;
    EXPECT_EQ(Crc32c(bytes.data() + half, size - half, Crc32c(bytes.data(), half)), whole) << size;
  }
}

}  // namespace
}  // namespace headrace
