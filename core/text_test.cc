#include "core/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "core/error.h"

namespace headrace {
namespace {

using ::testing::StartsWith;

template <typename T>
void ExpectAsAbsl(T value) {
  EXPECT_EQ(Cat(value), absl::StrCat(value));
  EXPECT_EQ(Cat("<", value, ">"), absl::StrCat("<", value, ">"));
}

template <typename T>
void ExpectLimitsAsAbsl() {
  for (const T value : {std::numeric_limits<T>::lowest(), T{0}, T{1}, std::numeric_limits<T>::max()}) {
    ExpectAsAbsl(value);
  }
}

TEST(Text, WritesNumbersAsAbslDoes) {
  ExpectLimitsAsAbsl<int8_t>();
  ExpectLimitsAsAbsl<uint8_t>();
  ExpectLimitsAsAbsl<int16_t>();
  ExpectLimitsAsAbsl<uint16_t>();
  ExpectLimitsAsAbsl<int32_t>();
  ExpectLimitsAsAbsl<uint32_t>();
  ExpectLimitsAsAbsl<int64_t>();
  ExpectLimitsAsAbsl<uint64_t>();
  ExpectLimitsAsAbsl<long long>();           // NOLINT
  ExpectLimitsAsAbsl<unsigned long long>();  // NOLINT
  ExpectAsAbsl(true);
  ExpectAsAbsl(false);
}

TEST(Text, WritesFractionsAsAbslDoes) {
  for (const double value : {0.0, -0.0, 0.1, 1.0 / 3, 1e300, -1e-300, 123456789.0, 0.00001234567}) {
    ExpectAsAbsl(value);
    ExpectAsAbsl(static_cast<float>(value));
  }
  ExpectAsAbsl(std::numeric_limits<double>::infinity());
  ExpectAsAbsl(-std::numeric_limits<double>::infinity());
  ExpectAsAbsl(std::numeric_limits<double>::quiet_NaN());
}

TEST(Text, WritesEnumerationsAsNumbers) {
  enum Plain { kSeven = 7 };
  enum class Scoped : uint8_t { kNine = 9 };
  EXPECT_EQ(Cat(kSeven, Scoped::kNine), "79");
}

TEST(Text, JoinsTextsOfAllKinds) {
  const char* const pointer = "pointer";
  const char array[] = "array";
  const std::string text(40, 'x');
  EXPECT_EQ(Cat("literal ", pointer, " ", array, " ", text, " ", std::string_view(text).substr(0, 2), " ",
                absl::string_view("absl"), " ", std::string("temporary")),
            "literal pointer array " + text + " xx absl temporary");
}

TEST(Text, KeepsZerosWithinTextsOfKnownLength) {
  const std::string text("a\0b", 3);
  EXPECT_EQ(Cat(text, std::string_view(text), absl::string_view(text.data(), 3)), text + text + text);
}

TEST(Text, JoinsNothing) {
  EXPECT_EQ(Cat(), "");
  EXPECT_EQ(Cat("", std::string(), std::string_view(), absl::string_view()), "");
  const char* const none = nullptr;
  EXPECT_EQ(Cat("a", none, "b"), "ab");
}

// More than there are registers for numbers, and for fractions.
TEST(Text, JoinsManyParts) {
  const std::string_view view = "view";
  EXPECT_EQ(Cat(1, view, 2, view, 3, view, 4, view, 5, view, 6, view, 7), "1view2view3view4view5view6view7");
  EXPECT_EQ(Cat(0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, " ", 9.5, 10, view),
            "0.51.52.53.54.55.56.57.58.5 9.510view");
}

TEST(Text, TakesWhatAbslAloneWrites) {
  const std::string_view view = "view";
  EXPECT_EQ(Cat(view, absl::Hex(255, absl::kZeroPad4), 1), "view00ff1");
  std::string text = "0x";
  Append(text, absl::Hex(17), view);
  EXPECT_EQ(text, "0x11view");
  EXPECT_EQ(DataError("at ", absl::Hex(255)).message(), "at ff");
}

TEST(Text, AppendsAfterWhatIsThere) {
  std::string text = "begin";
  Append(text, " ", 1, " ", std::string(100, 'y'), 2.5);
  EXPECT_EQ(text, "begin 1 " + std::string(100, 'y') + "2.5");
  Append(text);
  EXPECT_THAT(text, StartsWith("begin 1 y"));
}

TEST(Text, AppendsToATextThatGrowsSeldom) {
  std::string text;
  size_t moves = 0;
  const char* place = text.data();
  for (int i = 0; i < 100'000; ++i) {
    Append(text, i % 10);
    moves += text.data() != place ? 1 : 0;
    place = text.data();
  }
  EXPECT_EQ(text.size(), 100'000u);
  EXPECT_LT(moves, 40u);
}

TEST(Text, MakesErrorsOfParts) {
  const absl::Status status = GraphError("column ", 3, " of ", std::string("table"), " has ", 2.5, "%");
  EXPECT_EQ(KindOf(status), ErrorKind::kGraph);
  EXPECT_EQ(status.message(), "column 3 of table has 2.5%");
  EXPECT_EQ(KindOf(InternalError("x")), ErrorKind::kInternal);
}

}  // namespace
}  // namespace headrace
