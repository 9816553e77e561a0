#include "ops/source/shown_text.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(ShownText, CutsBetweenCharacters) {
  EXPECT_EQ(ShownText("a b"), "a b");
  EXPECT_EQ(ShownText(std::string(60, 'x')), std::string(60, 'x'));
  EXPECT_EQ(ShownText(std::string(61, 'x')), std::string(60, 'x') + "…");
  EXPECT_EQ(ShownText(std::string(59, 'x') + "ä"), std::string(59, 'x') + "…");
}

TEST(ShownText, HidesWhatAMessageCannotHold) {
  EXPECT_EQ(ShownText(std::string("a\0\x1B\x7F\n\t", 6)), "a\\x00\\x1b\\x7f\\n\\t");
  EXPECT_EQ(ShownText("ä\xFF"), "ä\\xff");
  EXPECT_EQ(ShownText(std::string(100, '\x80')), "…");
}

}  // namespace
}  // namespace headrace
