#include "ops/source/lines/number_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include "core/text.h"

namespace headrace {
namespace {

// The number as text; "" if there is none. What the plain form reads is what the other reads.
template <typename T>
std::string Read(std::string_view text) {
  T value{};
  const bool found = ReadNumber(text, value);
  T plain{};
  const char* const end = text.data() + text.size();
  if (ReadPlainNumber(text.data(), end, plain) == end) {
    EXPECT_TRUE(found && std::memcmp(&plain, &value, sizeof(value)) == 0) << text;
  }
  return found ? Cat(value) : "";
}

TEST(ReadNumber, ReadsIntegersInTheirRange) {
  EXPECT_EQ(Read<int64_t>("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(Read<int64_t>("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(Read<int64_t>("9223372036854775808"), "");
  EXPECT_EQ(Read<uint64_t>("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(Read<uint64_t>("18446744073709551616"), "");
  EXPECT_EQ(Read<int32_t>("-2147483648"), "-2147483648");
  EXPECT_EQ(Read<int32_t>("2147483648"), "");
  EXPECT_EQ(Read<uint32_t>("4294967296"), "");
  EXPECT_EQ(Read<int16_t>("-32769"), "");
  EXPECT_EQ(Read<uint16_t>("65535"), "65535");
  int8_t low = 0;
  EXPECT_TRUE(ReadNumber("-128", low) && low == -128);
  EXPECT_FALSE(ReadNumber("-129", low));
  uint8_t high = 0;
  EXPECT_TRUE(ReadNumber("255", high) && high == 255);
  EXPECT_FALSE(ReadNumber("256", high));
  EXPECT_EQ(Read<int64_t>("+5"), "5");
  EXPECT_EQ(Read<int64_t>("-0"), "0");
  EXPECT_EQ(Read<int64_t>("000000000000000000000000000000007"), "7");
  for (const char* none :
       {"", "-", "+", "+-5", "++5", "--5", "1.0", "1.", "1e3", "0x10", "1_000", " 1", "1 ", "nan", "١"}) {
    EXPECT_EQ(Read<int64_t>(none), "") << none;
    EXPECT_EQ(Read<uint8_t>(none), "") << none;
  }
  EXPECT_EQ(Read<uint64_t>("-1"), "");
  EXPECT_EQ(Read<uint64_t>("-0"), "");
}

TEST(ReadNumber, ReadsFloatsAsPythonDoes) {
  EXPECT_EQ(Read<double>("1.5"), "1.5");
  EXPECT_EQ(Read<double>(".5"), "0.5");
  EXPECT_EQ(Read<double>("5."), "5");
  EXPECT_EQ(Read<double>("+1e3"), "1000");
  EXPECT_EQ(Read<double>("1E+2"), "100");
  EXPECT_EQ(Read<double>("-0"), "-0");
  EXPECT_EQ(Read<double>("-0.0"), "-0");
  for (const char* none : {"", ".", "-", "+", "-.", "e5", "1e", "1e+", "1.5.", "0x1p3", "1_0", "1,5", "nan()", "nan(1)",
                           "in", "infinit", "+-1", "1 ", "1f"}) {
    EXPECT_EQ(Read<double>(none), "") << none;
    EXPECT_EQ(Read<float>(none), "") << none;
  }
}

TEST(ReadNumber, ReadsWhatIsNotFinite) {
  for (const char* text : {"inf", "INF", "Infinity", "+inf", "1e309", "-inf", "-infinity"}) {
    double value = 0;
    const bool found = ReadNumber(text, value);
    EXPECT_EQ(found, std::string_view(text) != "1e309") << "beyond the range there is no number";
    if (found) {
      EXPECT_TRUE(std::isinf(value) && std::signbit(value) == (text[0] == '-')) << text;
    }
  }
  for (const char* text : {"nan", "NaN", "+nan", "-nan"}) {
    double value = 0;
    EXPECT_TRUE(ReadNumber(text, value));
    EXPECT_EQ(std::bit_cast<uint64_t>(value), text[0] == '-' ? 0xFFF8000000000000U : 0x7FF8000000000000U) << text;
  }
}

TEST(ReadNumber, GivesZeroBelowTheRangeAndNothingBeyondIt) {
  EXPECT_EQ(Read<double>("1e-400"), "0");
  EXPECT_EQ(Read<double>("-1e-400"), "-0");
  EXPECT_EQ(Read<float>("1e-60"), "0");
  EXPECT_EQ(Read<float>("0.0000000000000000000000000000000000000000000000000000000001"), "0");
  double least = 0;
  EXPECT_TRUE(ReadNumber("4.9406564584124654e-324", least) && least == std::numeric_limits<double>::denorm_min());
  EXPECT_TRUE(ReadNumber("1.7976931348623157e308", least) && least == std::numeric_limits<double>::max());
  float most = 0;
  EXPECT_TRUE(ReadNumber("3.4028235e38", most) && most == std::numeric_limits<float>::max());
  EXPECT_EQ(Read<float>("3.4028236e38"), "");
  EXPECT_EQ(Read<double>("-1e309"), "");
}

// The C library rounds correctly.
template <typename T>
void ExpectNearest(const std::string& text) {
  const T expected = std::is_same_v<T, float> ? static_cast<T>(std::strtof(text.c_str(), nullptr))
                                              : static_cast<T>(std::strtod(text.c_str(), nullptr));
  T value = 0;
  ASSERT_TRUE(ReadNumber(text, value)) << text;
  ASSERT_EQ(std::memcmp(&value, &expected, sizeof(value)), 0) << text;
  const char* const end = text.data() + text.size();
  T plain = 0;
  if (ReadPlainNumber(text.data(), end, plain) == end) {
    ASSERT_EQ(std::memcmp(&plain, &expected, sizeof(plain)), 0) << text;
  }
}

TEST(ReadNumber, RoundsToTheNearest) {
  for (const char* text :
       {"16777217", "33554435", "9007199254740993", "0.1", "1.00000017881393432617187499", "8.5899345e9",
        "1.000000178813934326171875", "1.00000017881393432617187501", "7.0064923216240854e-46", "7.006492321624086e-46",
        "2.4703282292062328e-324", "0.30000001192092896"}) {
    ExpectNearest<float>(text);
    ExpectNearest<double>(text);
  }
  std::mt19937_64 random(3);
  for (int i = 0; i < 200'000; ++i) {
    std::string text = random() % 2 == 0 ? "" : "-";
    const size_t digits = 1 + random() % 20;
    const size_t point = random() % 24;
    for (size_t d = 0; d < digits; ++d) {
      if (d == point) text += '.';
      text += static_cast<char>('0' + random() % 10);
    }
    if (random() % 8 == 0) Append(text, "e", static_cast<int>(random() % 36) - 20);
    ExpectNearest<double>(text);
    ExpectNearest<float>(text);
  }
  // Half-way between floats, and next to it.
  for (int i = 0; i < 50'000; ++i) {
    const auto whole = static_cast<int64_t>((uint64_t{1} << 24) + random() % (uint64_t{1} << 29));
    for (const int64_t off : {-1, 0, 1}) ExpectNearest<float>(Cat(whole * 1000 + off, ".", off == 0 ? "" : "5"));
    ExpectNearest<float>(Cat(whole));
    ExpectNearest<float>(Cat(whole, ".0"));
  }
}

TEST(ReadNumber, ReadsBools) {
  for (const char* text : {"true", "True", "TRUE", "1"}) EXPECT_EQ(Read<bool>(text), "1");
  for (const char* text : {"false", "False", "FALSE", "0"}) EXPECT_EQ(Read<bool>(text), "0");
  for (const char* text : {"", "tRUE", "yes", "2", "00", "t", "10"}) EXPECT_EQ(Read<bool>(text), "") << text;
}

TEST(ReadNumber, ReadsANumberOfADtype) {
  float value = 0;
  EXPECT_TRUE(ReadNumber("2.5", DType::kFloat32, &value));
  EXPECT_EQ(value, 2.5F);
  EXPECT_FALSE(ReadNumber("2.5", DType::kString, &value));
}

TEST(ReadPlainNumber, StopsBehindTheNumber) {
  const std::string text = "12,-3.25,7x";
  int64_t whole = 0;
  const char* const end = text.data() + text.size();
  EXPECT_EQ(ReadPlainNumber(text.data(), end, whole), text.data() + 2);
  double number = 0;
  EXPECT_EQ(ReadPlainNumber(text.data() + 3, end, number), text.data() + 8);
  EXPECT_EQ(number, -3.25);
  // Nothing after the end is looked at.
  EXPECT_EQ(ReadPlainNumber(text.data(), text.data() + 1, whole), text.data() + 1);
  EXPECT_EQ(whole, 1);
  EXPECT_EQ(ReadPlainNumber(text.data() + 4, text.data() + 6, number), text.data() + 6);
  EXPECT_EQ(ReadPlainNumber(end, end, number), nullptr);
}

}  // namespace
}  // namespace headrace
