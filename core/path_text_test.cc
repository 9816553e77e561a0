#include "core/path_text.h"

#include <gtest/gtest.h>

#include <string>

#include "core/utf8.h"

namespace headrace {
namespace {

TEST(PathText, LeavesPathsInUtf8AsTheyAre) {
  for (const char* path : {"", "photos/cat.jpg", "gr\u00fcn/\u732b.jpg", "a\x1B[31m\n", "\U0010FF7F"}) {
    EXPECT_EQ(TextOfPath(path), path);
    EXPECT_EQ(PathOfText(path), path);
  }
}

TEST(PathText, HoldsAnyBytes) {
  for (const std::string path : {"caf\xE9", "\xFF\xFE", "gr\u00fcn\xE2\x82", "\xED\xA0\x80", "a\x80\nb\xC0"}) {
    const std::string text = TextOfPath(path);
    EXPECT_TRUE(IsUtf8(text));
    EXPECT_EQ(PathOfText(text), path);
  }
  EXPECT_EQ(TextOfPath("caf\xE9"), "caf\U0010FFE9");
}

// Otherwise two paths would have one text.
TEST(PathText, TellsItsOwnCharactersApart) {
  for (uint32_t byte = 0x80; byte <= 0xFF; ++byte) {
    std::string path;
    AppendUtf8(path, kFirstPathByte + (byte - 0x80));
    const std::string text = TextOfPath(path);
    EXPECT_TRUE(IsUtf8(text));
    EXPECT_NE(text, path);
    EXPECT_EQ(PathOfText(text), path);
    const std::string raw(1, static_cast<char>(byte));
    EXPECT_EQ(PathOfText(TextOfPath(raw)), raw);
  }
}

}  // namespace
}  // namespace headrace
