#include "io/formats/arrow/arrow_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

std::string RefusedFormat(std::string_view format) {
  const absl::StatusOr<ArrowFormat> parsed = ParseArrowFormat(format);
  return parsed.ok() ? "" : std::string(ToStd(parsed.status().message()));
}

TEST(ArrowFormat, ReadsTypesOfFixedSize) {
  EXPECT_EQ(ParseArrowFormat("e")->dtype, DType::kFloat16);
  EXPECT_EQ(ParseArrowFormat("b")->layout, ArrowLayout::kBits);
  EXPECT_EQ(ParseArrowFormat("w:12")->width, 12);
  EXPECT_EQ(ParseArrowFormat("+w:3")->layout, ArrowLayout::kFixedList);
}

TEST(ArrowFormat, ReadsTimesWithTheirUnit) {
  EXPECT_EQ(ParseArrowFormat("tsu:")->unit, "us");
  EXPECT_EQ(ParseArrowFormat("tsn:Europe/Berlin")->unit, "ns Europe/Berlin");
  EXPECT_EQ(ParseArrowFormat("tdD")->unit, "days");
  EXPECT_EQ(ParseArrowFormat("tts")->layout, ArrowLayout::kWidened);
  EXPECT_EQ(ParseArrowFormat("ttu")->layout, ArrowLayout::kNumbers);
  EXPECT_EQ(ParseArrowFormat("tDm")->unit, "ms");
}

TEST(ArrowFormat, SaysWhatToWriteForTypesThatAreNone) {
  EXPECT_THAT(RefusedFormat("d:38,10"), HasSubstr("cast the column to float64"));
  EXPECT_THAT(RefusedFormat("+m"), HasSubstr("a column for each key"));
  EXPECT_THAT(RefusedFormat("+ud:0,1"), HasSubstr("unions"));
  EXPECT_THAT(RefusedFormat("+vl"), HasSubstr("cast the column to a list"));
  EXPECT_THAT(RefusedFormat("+r"), HasSubstr("run-end encoded"));
  EXPECT_THAT(RefusedFormat("tiM"), HasSubstr("a duration"));
  EXPECT_THAT(RefusedFormat("n"), HasSubstr("the type null"));
}

TEST(ArrowFormat, RefusesDamagedFormats) {
  for (const std::string_view format :
       {"", "q", "w:", "w:-1", "w:3x", "+w:99999999999999999999", "tsu", "tdX", "tss"}) {
    EXPECT_NE(RefusedFormat(format), "") << format;
  }
}

}  // namespace
}  // namespace headrace
