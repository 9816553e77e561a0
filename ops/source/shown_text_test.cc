#include "ops/source/shown_text.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(ShownText, CutsBetweenCharacters) {
  EXPECT_EQ(ShownText("a\tb"), "a\tb");
  EXPECT_EQ(ShownText(std::string(60, 'x')), std::string(60, 'x'));
  EXPECT_EQ(ShownText(std::string(61, 'x')), std::string(60, 'x') + "…");
  EXPECT_EQ(ShownText(std::string(59, 'x') + "ä"), std::string(59, 'x') + "…");
}

TEST(ShownText, HidesWhatAMessageCannotHold) {
  EXPECT_EQ(ShownText(std::string("a\0\x1B\x7F\n", 5)), "a????");
  EXPECT_EQ(ShownText("ä\xFF"), "???");
  EXPECT_EQ(ShownText(std::string(100, '\x80')), "…");
}

}  // namespace
}  // namespace headrace
