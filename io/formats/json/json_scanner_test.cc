#include "io/formats/json/json_scanner.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/formats/json/testing/text_bytes.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

JsonScanner Scanning(std::string text, size_t most = 1 << 20) {
  return {std::make_unique<fixture::TextBytes>(std::move(text), most), 4096};
}

double NumberIn(const std::string& text) {
  JsonScanner json = Scanning(text);
  JsonNumber number;
  EXPECT_TRUE(json.ReadNumber(number)) << text << ": " << json.status();
  EXPECT_TRUE(json.AtEnd());
  return number.real;
}

TEST(JsonScanner, ReadsNumbersAsTheNearestDouble) {
  for (const char* const text :
       {"0", "-0.0", "1", "239.97", "0.1", "123456.78901", "9007199254740993", "0.30000000000000004", "1e22", "1E-7",
        "-12.5e+3", "123456789012345678901234567890", "0.000000000000000000001", "1.7976931348623157e308"}) {
    EXPECT_EQ(NumberIn(text), std::stod(text)) << text;
  }
  EXPECT_TRUE(std::signbit(NumberIn("-0.0")));
}

TEST(JsonScanner, SaysWhichNumbersAreWhole) {
  const auto read = [](const std::string& text) {
    JsonScanner json = Scanning(text);
    JsonNumber number;
    EXPECT_TRUE(json.ReadNumber(number));
    return number;
  };
  EXPECT_TRUE(read("-17").is_whole);
  EXPECT_EQ(read("-17").whole, -17);
  EXPECT_EQ(read("900719925474099312").whole, 900719925474099312);
  EXPECT_EQ(read("9223372036854775807").whole, 9223372036854775807);
  EXPECT_FALSE(read("9223372036854775808").is_whole);
  EXPECT_FALSE(read("1.0").is_whole);
  EXPECT_FALSE(read("1e3").is_whole);
}

TEST(JsonScanner, RefusesWhatIsNoNumberOfJson) {
  for (const char* const text :
       {"01", "1.", ".5", "+1", "-", "1e", "0x10", "1.5.2", "NaN", "Infinity", "1e999", "--1"}) {
    JsonScanner json = Scanning(Cat("[", text, "]"));
    EXPECT_FALSE(json.Skip()) << text;
    EXPECT_EQ(KindOf(json.status()), ErrorKind::kData) << text;
  }
  JsonScanner json = Scanning(std::string(5000, '1'));
  EXPECT_FALSE(json.Skip());
}

TEST(JsonScanner, ReplacesEscapes) {
  const auto read = [](const std::string& text, size_t most) {
    JsonScanner json = Scanning(text, most);
    std::string found;
    return json.ReadText(found) ? found : Cat("error: ", std::string(json.status().message()));
  };
  for (const size_t most : {1, 2, 100}) {
    EXPECT_EQ(read(R"("a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é")", most), "a\"\\/\b\f\n\r\té😀é");
    EXPECT_THAT(read(R"("\ud83d")", most), HasSubstr("surrogate"));
    EXPECT_THAT(read(R"("\ude00")", most), HasSubstr("surrogate"));
    EXPECT_THAT(read(R"("\u12g4")", most), HasSubstr("hexadecimal"));
    EXPECT_THAT(read(R"("\x")", most), HasSubstr("backslash"));
    EXPECT_THAT(read("\"a\nb\"", most), HasSubstr("control character"));
    EXPECT_THAT(read("\"\xff\"", most), HasSubstr("not UTF-8"));
    EXPECT_THAT(read("\"abc", most), HasSubstr("cut off"));
  }
}

TEST(JsonScanner, GoesOverObjectsAndLists) {
  for (const size_t most : {1, 3, 1000}) {
    JsonScanner json =
        Scanning(R"( { "a" : [ 1 , 2.5, [ ] ] , "skipped": {"b": [{}, null, true, "x"]}, "c": false } )", most);
    std::vector<std::string> keys;
    std::string key;
    bool last = true;
    ASSERT_TRUE(json.EnterObject());
    while (json.NextKey(key)) {
      keys.push_back(key);
      if (key == "c") {
        json.ReadBool(last);
      } else if (key == "a") {
        JsonNumber number;
        EXPECT_TRUE(json.EnterArray() && json.NextElement() && json.ReadNumber(number));
        EXPECT_EQ(number.whole, 1);
        EXPECT_TRUE(json.NextElement() && json.ReadNumber(number));
        EXPECT_EQ(number.real, 2.5);
        EXPECT_TRUE(json.NextElement() && json.EnterArray());
        EXPECT_FALSE(json.NextElement());
        EXPECT_FALSE(json.NextElement());
      } else {
        EXPECT_TRUE(json.Skip());
      }
    }
    EXPECT_TRUE(json.AtEnd()) << json.status();
    EXPECT_THAT(keys, ElementsAre("a", "skipped", "c"));
    EXPECT_FALSE(last);
  }
}

TEST(JsonScanner, RefusesDamage) {
  for (const char* const text :
       {"",           "{",         "[",      "[1",     "[1,",   "[1,]", "[1 2]", "{\"a\"", "{\"a\":", "{\"a\":1",
        "{\"a\":1,}", "{\"a\" 1}", "{a: 1}", "{1: 2}", "[tru]", "nul",  "[}",    "{]",     "[1}",     "]"}) {
    JsonScanner json = Scanning(text);
    EXPECT_FALSE(json.Skip()) << text;
    EXPECT_EQ(KindOf(json.status()), ErrorKind::kData) << text;
    EXPECT_THAT(std::string(json.status().message()), HasSubstr("at byte")) << text;
  }
  JsonScanner json = Scanning("{} {}");
  EXPECT_TRUE(json.Skip());
  EXPECT_FALSE(json.AtEnd());
  EXPECT_THAT(std::string(json.status().message()), HasSubstr("at byte 3"));
}

TEST(JsonScanner, SkipsWhatIsNestedDeeperThanAStack) {
  const size_t depth = 1'000'000;
  JsonScanner json = Scanning(std::string(depth, '[') + std::string(depth, ']'));
  EXPECT_TRUE(json.Skip()) << json.status();
  EXPECT_TRUE(json.AtEnd());
}

}  // namespace
}  // namespace headrace
