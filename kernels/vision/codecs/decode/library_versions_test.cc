#include "kernels/vision/codecs/decode/library_versions.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace headrace {
namespace {

TEST(LibraryVersions, AreNumbersWithPoints) {
  const auto versions = LibraryVersions();
  ASSERT_EQ(versions.size(), 4u);
  EXPECT_TRUE(std::is_sorted(versions.begin(), versions.end()));
  for (const auto& [name, version] : versions) {
    EXPECT_NE(version.find('.'), std::string::npos) << name << " " << version;
    EXPECT_EQ(version.find_first_not_of("0123456789.-abcdefghijklmnopqrstuvwxyz"), std::string::npos)
        << name << version;
    EXPECT_GE(version.front(), '0') << name;
    EXPECT_LE(version.front(), '9') << name;
  }
}

}  // namespace
}  // namespace headrace
