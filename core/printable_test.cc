#include "core/printable.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/utf8.h"

namespace headrace {
namespace {

TEST(Printable, LeavesTextAsItIs) {
  for (const char* text : {"", "photos/a b.jpg", "gr\u00fcn \u732b \u0645\u06cc\u200c\u062e \U0001F469\u200d\U0001F680",
                           "C:\\new", "say \"x\"", "it's"}) {
    EXPECT_EQ(Printable(text), text);
    EXPECT_EQ(PrintableLines(text), text);
    EXPECT_EQ(EscapeInLiterals(text, Escapes::kPython), text);
  }
}

TEST(Printable, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(Printable("\x1B[31mred\x1B[0m"), "\\x1b[31mred\\x1b[0m");
  EXPECT_EQ(Printable("a\nb\rc\td"), "a\\nb\\rc\\td");
  EXPECT_EQ(Printable(std::string("a\0b\x7F", 4)), "a\\x00b\\x7f");
  EXPECT_EQ(Printable("\u0085\u009b31m\u2028\u2029"), "\\u0085\\u009b31m\\u2028\\u2029");
  EXPECT_EQ(Printable("\u202Egpj.exe\u2066\u2069\u200F\u061C"), "\\u202egpj.exe\\u2066\\u2069\\u200f\\u061c");
  EXPECT_EQ(Printable("\U000E0001\U000E0041"), "\\U000e0001\\U000e0041");
}

TEST(Printable, EscapesBytesThatAreNoCharacter) {
  EXPECT_EQ(Printable("caf\xE9.jpg"), "caf\\xe9.jpg");
  EXPECT_EQ(Printable("\xC0\x80\xED\xA0\x80\xE2\x82"), "\\xc0\\x80\\xed\\xa0\\x80\\xe2\\x82");
  // A byte that graphs hold as a character of private use.
  EXPECT_EQ(Printable("caf\U0010FFE9"), "caf\\xe9");
}

// So that each layer of a message may ask for it.
TEST(Printable, ChangesNothingTwice) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string bytes = {static_cast<char>(first), static_cast<char>(second)};
      const std::string once = Printable(bytes);
      ASSERT_TRUE(IsUtf8(once));
      ASSERT_EQ(Printable(once), once) << first << " " << second;
      ASSERT_EQ(once.find_first_of("\n\r\x1B"), std::string::npos);
    }
  }
}

TEST(Printable, LeavesNoControlCharacter) {
  for (uint32_t code_point = 0; code_point < 0x110000; ++code_point) {
    if (code_point >= 0xD800 && code_point < 0xE000) continue;
    std::string text;
    AppendUtf8(text, code_point);
    ASSERT_EQ(Printable(text) != text, IsUnprintable(code_point)) << code_point;
    ASSERT_EQ(PrintableLines(text) != text, IsUnprintable(code_point) && code_point != '\n') << code_point;
  }
}

TEST(PrintableLines, KeepsTheEndsOfLinesAlone) { EXPECT_EQ(PrintableLines("a\n\tb\r\n"), "a\n\\tb\\r\n"); }

TEST(PrintableStart, CutsBetweenCharacters) {
  EXPECT_EQ(PrintableStart("abc", 3), "abc");
  EXPECT_EQ(PrintableStart("abcd", 3), "abc…");
  EXPECT_EQ(PrintableStart("ab\u00e4", 3), "ab…");
  EXPECT_EQ(PrintableStart("ab\u00e4", 4), "ab\u00e4");
  EXPECT_EQ(PrintableStart("\x1B\x1B\x1B", 2), "\\x1b\\x1b…");
}

TEST(EscapeInLiterals, WritesWhatReadersOfLiteralsTake) {
  EXPECT_EQ(EscapeInLiterals("\"\u202E\n\U0010FFE9\u00e9\"", Escapes::kPython), "\"\\u202e\n\\U0010ffe9\u00e9\"");
  EXPECT_EQ(EscapeInLiterals("\U0010FFE9\x7F", Escapes::kJson), "\\udbff\\udfe9\\u007f");
}

TEST(JsonText, HoldsEveryCharacterExactly) {
  for (uint32_t code_point = 0; code_point < 0x110000; ++code_point) {
    if (code_point >= 0xD800 && code_point < 0xE000) continue;
    std::string text = "a";
    AppendUtf8(text, code_point);
    const std::string literal = JsonText(text);
    if (IsUnprintable(code_point) || code_point < 0x3000) {
      ASSERT_EQ(nlohmann::json::parse(literal).get<std::string>(), text) << code_point;
    }
    ASSERT_EQ(literal != '"' + text + '"', IsUnprintable(code_point) || code_point == '"' || code_point == '\\')
        << code_point;
  }
}

TEST(JsonText, HoldsOtherBytesAsPythonDoes) { EXPECT_EQ(JsonText("caf\xE9"), "\"caf\\udce9\""); }

}  // namespace
}  // namespace headrace
