#include "ops/source/text_bytes.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(BytesOfText, IsOneByteACharacter) {
  EXPECT_EQ(BytesOfText(""), "");
  EXPECT_EQ(BytesOfText("a\xC2\x80\xC3\xBF"), "a\x80\xFF");
  EXPECT_EQ(BytesOfText("\xC4\x80"), std::nullopt) << "U+0100";
  EXPECT_EQ(BytesOfText("\xFF"), std::nullopt) << "not UTF-8";
}

}  // namespace
}  // namespace headrace
