#include "core/utf8.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {
namespace {

// As the standard's table of well-formed byte sequences gives it.
std::string Encode(uint32_t character) {
  const auto byte = [](uint32_t value) { return std::string(1, static_cast<char>(value)); };
  const auto tail = [&](int shift) { return 0x80 | ((character >> shift) & 0x3F); };
  if (character < 0x80) return byte(character);
  if (character < 0x800) return byte(0xC0 | character >> 6) + byte(tail(0));
  if (character < 0x10000) return byte(0xE0 | character >> 12) + byte(tail(6)) + byte(tail(0));
  return byte(0xF0 | character >> 18) + byte(tail(12)) + byte(tail(6)) + byte(tail(0));
}

TEST(Utf8, HoldsEveryCharacterButSurrogates) {
  for (uint32_t character = 0; character < 0x110000 + 0x1000; ++character) {
    const bool valid = character < 0x110000 && !(character >= 0xD800 && character < 0xE000);
    ASSERT_EQ(IsUtf8(Encode(character)), valid) << character;
  }
}

TEST(Utf8, ReadsAndWritesEveryCharacter) {
  for (uint32_t character = 0; character < 0x110000; ++character) {
    if (character >= 0xD800 && character < 0xE000) continue;
    const std::string bytes = Encode(character);
    ASSERT_EQ(CharacterAt(bytes + "\xBF"), bytes.size()) << character;
    ASSERT_EQ(CodePointOf(bytes), character);
    std::string written = "a";
    AppendUtf8(written, character);
    ASSERT_EQ(written, "a" + bytes) << character;
  }
}

TEST(Utf8, FindsNoCharacterInOtherBytes) {
  for (const char* bad : {"", "\x80 ", "\xC0\x80", "\xC3", "\xE2\x82", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF"}) {
    EXPECT_EQ(CharacterAt(bad), 0u) << bad;
  }
}

TEST(Utf8, RefusesOverlongCutAndStrayBytes) {
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8("plain text that is longer than eight bytes, grün"));
  for (const char* bad : {"\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF", "\x80", "\xBF", "\xC3",
                          "\xE2\x82", "\xF0\x9F\x98", "\xFF", "\xC3(", "eight ascii bytes and then \xC3"}) {
    EXPECT_FALSE(IsUtf8(bad)) << bad;
  }
}

// Long texts are looked at in steps; a character may lie across two of them.
TEST(Utf8, SeesEveryPlaceOfALongText) {
  for (size_t size = 0; size < 200; ++size) {
    for (size_t at = 0; at <= size; ++at) {
      for (const std::string character : {"\xC3\xBC", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
        std::string text(size, 'a');
        text.insert(at, character);
        ASSERT_TRUE(IsUtf8(text)) << at << " of " << size;
        text.erase(at + character.size() - 1, 1);
        ASSERT_FALSE(IsUtf8(text)) << at << " of " << size;
      }
    }
  }
}

TEST(TakeCharacter, GoesOverAnyBytes) {
  std::string_view bytes = "a\xC3\xA4\xFF\xE2\x82";
  std::string taken;
  std::vector<std::optional<uint32_t>> code_points;
  while (!bytes.empty()) {
    const Character next = TakeCharacter(bytes);
    taken += next.bytes;
    code_points.push_back(next.code_point);
  }
  EXPECT_EQ(taken, "a\xC3\xA4\xFF\xE2\x82");
  const std::vector<std::optional<uint32_t>> expected = {'a', 0xE4, std::nullopt, std::nullopt, std::nullopt};
  EXPECT_EQ(code_points, expected);
}

}  // namespace
}  // namespace headrace
