#include "io/files/s3/profile_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace headrace::s3 {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ProfileFile, ReadsSectionsAndSettings) {
  const auto profiles = ParseProfiles("config",
                                      "\xef\xbb\xbf# a comment\n\n[default]\r\nRegion = eu-west-1\r\n"
                                      "s3 =\n  addressing_style = path\n  a line\n"
                                      "[ profile  two words ]\nkey=a=b#c ; a comment\n; another\n"
                                      "[sso-session x]\nsso_start_url=u\n[profile two words]\nother=1\nkey=new\n",
                                      ProfileNames::kWithWord);
  ASSERT_TRUE(profiles.ok()) << profiles.status();
  EXPECT_EQ(profiles->size(), 2u);
  EXPECT_EQ(profiles->at("default").at("region"), "eu-west-1");
  EXPECT_EQ(profiles->at("default").count("addressing_style"), 0u);
  EXPECT_EQ(profiles->at("two words").at("key"), "new");
  EXPECT_EQ(profiles->at("two words").at("other"), "1");
}

TEST(ProfileFile, KeepsSignsWithinValues) {
  const auto profiles = ParseProfiles("credentials", "[a]\nkey=x#y;z/+= # c\nempty=\n", ProfileNames::kPlain);
  EXPECT_EQ(profiles->at("a").at("key"), "x#y;z/+=");
  EXPECT_EQ(profiles->at("a").at("empty"), "");
}

TEST(ProfileFile, RefusesOtherFilesWithoutShowingThem) {
  for (const char* bad :
       {"key=secret-words\n", "[a\nkey=secret-words", "[a]\nsecret-words\n", "[a]\n=secret-words\n"}) {
    const auto profiles = ParseProfiles("the-file", bad, ProfileNames::kPlain);
    EXPECT_EQ(KindOf(profiles.status()), ErrorKind::kData) << bad;
    const std::string message(ToStd(profiles.status().message()));
    EXPECT_THAT(message, HasSubstr("the-file"));
    EXPECT_THAT(message, Not(HasSubstr("secret-words")));
  }
}

TEST(ProfileFile, MergesSettings) {
  Profiles into = {{"a", {{"x", "1"}, {"y", "2"}}}};
  MergeProfiles(into, {{"a", {{"y", "3"}}}, {"b", {{"z", "4"}}}});
  EXPECT_EQ(into, (Profiles{{"a", {{"x", "1"}, {"y", "3"}}}, {"b", {{"z", "4"}}}}));
}

}  // namespace
}  // namespace headrace::s3
