#include "io/files/brace_expansion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<std::string> Expanded(std::string_view text) {
  const auto texts = ExpandBraces(text);
  EXPECT_TRUE(texts.ok()) << texts.status();
  return texts.ok() ? *texts : std::vector<std::string>();
}

// The results are those of Python's braceexpand 0.1.7.
TEST(BraceExpansion, Counts) {
  EXPECT_THAT(Expanded("x-{000..002}.tar"), ElementsAre("x-000.tar", "x-001.tar", "x-002.tar"));
  EXPECT_THAT(Expanded("{3..1}"), ElementsAre("3", "2", "1"));
  EXPECT_THAT(Expanded("{1..5..2}"), ElementsAre("1", "3", "5"));
  EXPECT_THAT(Expanded("{5..1..2}"), ElementsAre("5", "3", "1"));
  EXPECT_THAT(Expanded("{1..3..0}"), ElementsAre("1", "2", "3"));
  EXPECT_THAT(Expanded("{1..5..-2}"), ElementsAre("1", "3", "5"));
  EXPECT_THAT(Expanded("{08..11}"), ElementsAre("08", "09", "10", "11"));
  EXPECT_THAT(Expanded("{9..011}"), ElementsAre("009", "010", "011"));
  EXPECT_THAT(Expanded("{-1..01}"), ElementsAre("-1", "00", "01"));
  EXPECT_THAT(Expanded("{-01..1}"), ElementsAre("-01", "000", "001"));
  EXPECT_THAT(Expanded("{7..7}"), ElementsAre("7"));
  EXPECT_THAT(Expanded("{a..e..2}"), ElementsAre("a", "c", "e"));
  EXPECT_THAT(Expanded("{Y..b}"), ElementsAre("Y", "Z", "a", "b"));
}

TEST(BraceExpansion, GivesParts) {
  EXPECT_THAT(Expanded("{a,b}.tar"), ElementsAre("a.tar", "b.tar"));
  EXPECT_THAT(Expanded("{a,}x"), ElementsAre("ax", "x"));
  EXPECT_THAT(Expanded("{train,val}-{0..1}"), ElementsAre("train-0", "train-1", "val-0", "val-1"));
  EXPECT_THAT(Expanded("{a,b{1..2},{c,d}e}"), ElementsAre("a", "b1", "b2", "ce", "de"));
  EXPECT_THAT(Expanded("plain"), ElementsAre("plain"));
  EXPECT_THAT(Expanded(""), ElementsAre(""));
}

TEST(BraceExpansion, LeavesOtherBracesAsTheyAre) {
  EXPECT_THAT(Expanded("{1}"), ElementsAre("{1}"));
  EXPECT_THAT(Expanded("{}"), ElementsAre("{}"));
  EXPECT_THAT(Expanded("{{1..2}}"), ElementsAre("{1}", "{2}"));
  EXPECT_THAT(Expanded("a{b"), ElementsAre("a{b"));
  EXPECT_THAT(Expanded("a}b"), ElementsAre("a}b"));
  EXPECT_THAT(Expanded("{a{b,c}"), ElementsAre("{ab", "{ac"));
  EXPECT_THAT(Expanded("{1..}"), ElementsAre("{1..}"));
  EXPECT_THAT(Expanded("{1..2..}"), ElementsAre("{1..2..}"));
  EXPECT_THAT(Expanded("{1..a}"), ElementsAre("{1..a}"));
  EXPECT_THAT(Expanded("{0x1..2}"), ElementsAre("{0x1..2}"));
}

TEST(BraceExpansion, TakesBackslashesOut) {
  EXPECT_THAT(Expanded("\\{1,2\\}"), ElementsAre("{1,2}"));
  EXPECT_THAT(Expanded("{a\\,b,c}"), ElementsAre("a,b", "c"));
  EXPECT_THAT(Expanded("a\\\\b"), ElementsAre("a\\b"));
  EXPECT_THAT(Expanded("a\\"), ElementsAre("a\\"));
}

TEST(BraceExpansion, RefusesTooMany) {
  EXPECT_THAT(Expanded("{1..1000}{1..1000}"), SizeIs(1'000'000));
  for (const std::string_view text :
       {"{1..1000}{1..2000}", "{0..999999999999}", "{-999999999999999999..999999999999999999}"}) {
    const auto texts = ExpandBraces(text);
    EXPECT_EQ(KindOf(texts.status()), ErrorKind::kGraph) << text;
    EXPECT_THAT(ToStd(texts.status().message()), HasSubstr("more than 1048576 names")) << text;
  }
  const std::string large = Cat("{1..100000}", std::string(10'000, 'x'));
  EXPECT_THAT(ToStd(ExpandBraces(large).status().message()), HasSubstr("256 MiB"));
}

TEST(BraceExpansion, IsDoneSoonWhateverTheBraces) {
  EXPECT_THAT(Expanded(std::string(1'000'000, '{')), SizeIs(1));
  EXPECT_THAT(Expanded(std::string(1'000'000, '}')), SizeIs(1));
  EXPECT_THAT(Expanded(Cat(std::string(500'000, '{'), std::string(30, '}'))), SizeIs(1));
  const auto deep = ExpandBraces(Cat(std::string(500'000, '{'), std::string(500'000, '}')));
  EXPECT_THAT(ToStd(deep.status().message()), HasSubstr("nested more than 32 deep"));
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += "{x}";
  EXPECT_THAT(Expanded(many), ElementsAre(many));
}

}  // namespace
}  // namespace headrace
