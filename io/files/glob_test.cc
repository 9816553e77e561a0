#include "io/files/glob.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/interrupt.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(MatchesPattern, KnowsEachSign) {
  struct Case {
    const char* pattern;
    const char* name;
    bool matches;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"a.jpg", "a.jpg", true},
           {"a.jpg", "a.jpgx", false},
           {"*.jpg", "a.jpg", true},
           {"*.jpg", "a.jpeg", false},
           {"*", "", true},
           {"*a*b*", "xxaxxbxx", true},
           {"*a*b", "abab", true},
           {"*a*b", "aba", false},
           {"?", "a", true},
           {"?", "", false},
           {"?", "ab", false},
           {"?.jpg", "ü.jpg", true},
           {"??.jpg", "ü.jpg", false},
           {"[abc]", "b", true},
           {"[abc]", "d", false},
           {"[a-c]", "b", true},
           {"[a-c]", "-", false},
           {"[a-]", "-", true},
           {"[!a-c]", "b", false},
           {"[!a-c]", "d", true},
           {"[^a]", "b", true},
           {"[]]", "]", true},
           {"[!]]", "]", false},
           {"[!]]", "a", true},
           {"[*]", "*", true},
           {"[*]", "a", false},
           {"[", "[", true},
           {"[a", "[a", true},
           {"a[", "a[", true},
           {"[]", "[]", true},
           {"[α-γ]", "β", true},
           {"[α-γ]", "δ", false},
           {"*", ".hidden", false},
           {".*", ".hidden", true},
           {"?hidden", ".hidden", false},
           {"[.]hidden", ".hidden", false},
           {"*\xff", "a\xff", true},
           {"?", "\xff", true},
           {"\xc3", "\xc3", true},
       }) {
    EXPECT_EQ(MatchesPattern(c.pattern, c.name), c.matches) << c.pattern << " on " << c.name;
  }
}

// What the signs mean, said as plainly as can be, and slow.
bool MatchesPlainly(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*') {
    return MatchesPlainly(pattern.substr(1), name) || (!name.empty() && MatchesPlainly(pattern, name.substr(1)));
  }
  if (name.empty() || (pattern[0] != '?' && pattern[0] != name[0])) return false;
  return MatchesPlainly(pattern.substr(1), name.substr(1));
}

TEST(MatchesPattern, AgreesWithItsPlainMeaning) {
  std::mt19937 random(3);
  const auto text = [&random](std::string_view letters) {
    std::string text;
    for (auto n = random() % 9; n > 0; --n) text.push_back(letters[random() % letters.size()]);
    return text;
  };
  constexpr int kRounds = 3000;
  for (int round = 0; round < kRounds; ++round) {
    const std::string pattern = text("ab*?");
    for (int i = 0; i < 5; ++i) {
      const std::string name = text("ab");
      EXPECT_EQ(MatchesPattern(pattern, name), MatchesPlainly(pattern, name)) << pattern << " on " << name;
    }
  }
  printf("HEADRACE-COUNT fuzz=%d\n", kRounds);
}

TEST(EscapePattern, MatchesThatNameAlone) {
  for (const char* name : {"a", "a*b?", "[abc]", "*", "[", "]", "a[!b]-c", "**", "a[b"}) {
    EXPECT_TRUE(MatchesPattern(EscapePattern(name), name)) << name;
  }
  EXPECT_FALSE(MatchesPattern(EscapePattern("a[1]"), "a1"));
  EXPECT_FALSE(MatchesPattern(EscapePattern("*"), "x"));
  EXPECT_EQ(EscapePattern("runs[1]/a?"), "runs[[]1]/a[?]");
}

TEST(MatchesPattern, ManyStarsTakeNoTime) {
  std::string pattern;
  for (int i = 0; i < 50; ++i) pattern += "*a";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(MatchesPattern(pattern + "b", std::string(250, 'a')));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

class GlobTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"a.jpg", "b.png", "sub/c.jpg", "sub/deep/d.jpg", "sub/deep/e.txt", "other/f.jpg",
                             ".hidden/g.jpg", "sub/.h.jpg", "we[i]rd/i.jpg"}) {
      folder_.Write(name);
    }
  }
  // Relative to the folder, or the error's message.
  std::vector<std::string> Find(const std::vector<std::string>& patterns, const FileSystem* files = LocalFileSystem()) {
    std::vector<std::string> absolute;
    for (const std::string& pattern : patterns) absolute.push_back(folder_ / pattern);
    const auto found = Glob(*files, absolute);
    if (!found.ok()) return {std::string(found.status().message())};
    std::vector<std::string> names;
    for (int64_t i = 0; i < found->size(); ++i) names.emplace_back((*found)[i].substr(folder_.path().size() + 1));
    return names;
  }
  TemporaryFolder folder_;
};

TEST_F(GlobTest, FindsFilesInByteOrder) {
  EXPECT_THAT(Find({"*"}), ElementsAre("a.jpg", "b.png"));
  EXPECT_THAT(Find({"*/*.jpg"}), ElementsAre("other/f.jpg", "sub/c.jpg", "we[i]rd/i.jpg"));
  EXPECT_THAT(Find({"a.jpg"}), ElementsAre("a.jpg"));
  EXPECT_THAT(Find({"a.jpg", "./a.jpg", "sub//c.jpg", "sub/c.jpg"}), testing::SizeIs(2)) << "each file once";
  EXPECT_THAT(Find({"[ab].*"}), ElementsAre("a.jpg", "b.png"));
  EXPECT_THAT(Find({"we[[]i[]]rd/*"}), ElementsAre("we[i]rd/i.jpg"));
  EXPECT_THAT(Find({".hidden/*", "sub/.*"}), ElementsAre(".hidden/g.jpg", "sub/.h.jpg"));
  EXPECT_THAT(Find({"*/deep/?.txt"}), ElementsAre("sub/deep/e.txt"));
}

TEST_F(GlobTest, DoubleStarsAreAnyNumberOfFolders) {
  EXPECT_THAT(Find({"**/*.jpg"}), ElementsAre("a.jpg", "other/f.jpg", "sub/c.jpg", "sub/deep/d.jpg", "we[i]rd/i.jpg"));
  EXPECT_THAT(Find({"sub/**"}), ElementsAre("sub/c.jpg", "sub/deep/d.jpg", "sub/deep/e.txt"));
  EXPECT_THAT(Find({"**/**/deep/**/d.jpg"}), ElementsAre("sub/deep/d.jpg"));
  EXPECT_THAT(Find({"**/deep/*.jpg"}), ElementsAre("sub/deep/d.jpg"));
}

TEST_F(GlobTest, SeveralPatternsGiveEachFileOnce) {
  EXPECT_THAT(Find({"b.png", "*.jpg", "a.*"}), ElementsAre("a.jpg", "b.png"));
}

TEST_F(GlobTest, EachPatternMustMatch) {
  EXPECT_THAT(Find({"a.jpg", "*.gif"}), ElementsAre(AllOf(HasSubstr("*.gif matches no file"), HasSubstr("is there"))));
  EXPECT_THAT(Find({"sab/*.jpg"}), ElementsAre(AllOf(HasSubstr("has no 'sab'"), HasSubstr("did you mean"))));
  EXPECT_THAT(Find({"c.jpg"}), ElementsAre(HasSubstr("did you mean")));
  EXPECT_THAT(Find({"sub"}), ElementsAre(AllOf(HasSubstr("is a folder"), HasSubstr("sub/* for"))));
  EXPECT_THAT(Find({"s*b"}), ElementsAre(HasSubstr("matches 1 folder and no file: add /*")));
  EXPECT_THAT(Find({"a.jpg/*"}), ElementsAre(HasSubstr("a.jpg is a file, not a folder")));
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{}, {""}}) {
    EXPECT_EQ(KindOf(Glob(*LocalFileSystem(), wrong).status()), ErrorKind::kGraph);
  }
}

TEST_F(GlobTest, PassesOverWhatIsNoFileAndRefusesANul) {
  ASSERT_EQ(mkfifo((folder_ / "pipe.jpg").c_str(), 0600), 0);
  EXPECT_THAT(Find({"*.jpg"}), ElementsAre("a.jpg"));
  EXPECT_THAT(Find({"pipe.jpg"}), ElementsAre(HasSubstr("is a pipe, a socket or a device")));
  EXPECT_THAT(Find({std::string("a.jpg\0.gif", 10)}), ElementsAre(HasSubstr("a.jpg\\0.gif' contains a NUL")));
}

TEST_F(GlobTest, EndsWhereItIsInterrupted) {
  const Interrupt interrupt([] { return true; });
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  absl::Status status;
  while (status.ok() && std::chrono::steady_clock::now() < until) {
    status = Glob(*LocalFileSystem(), {folder_ / "**/*.jpg"}).status();
  }
  EXPECT_EQ(KindOf(status), ErrorKind::kClosed) << status;
}

TEST_F(GlobTest, FollowsLinksButNotRoundInCircles) {
  folder_.Link("../sub", "other/linked");
  EXPECT_THAT(Find({"other/**/*.jpg"}), ElementsAre("other/f.jpg", "other/linked/c.jpg", "other/linked/deep/d.jpg"));
  folder_.Link("..", "sub/back");
  EXPECT_THAT(Find({"**/*.jpg"}), ElementsAre(HasSubstr("makes a cycle")));
  EXPECT_THAT(Find({"*/back/a.jpg"}), ElementsAre("sub/back/a.jpg")) << "no ** no walk";
  folder_.Link("nowhere", "broken.jpg");
  std::filesystem::remove(folder_ / "sub/back");
  for (const char* pattern : {"*.jpg", "**"}) {
    EXPECT_THAT(Find({pattern}), ElementsAre(AllOf(HasSubstr("broken.jpg"), HasSubstr("not there")))) << pattern;
  }
}

// With ** or by a star for each level.
TEST_F(GlobTest, BoundsTheFilesThatLinksReachAgain) {
  constexpr int kLevels = 12;
  std::string by_stars = "levels/0/";
  for (int i = 0; i < kLevels; ++i) {
    folder_.MakeFolder(Cat("levels/", i));
    for (const char* name : {"a", "b"}) folder_.Link(Cat("../", i + 1), Cat("levels/", i, "/", name));
    by_stars += "*/";
  }
  folder_.Write(Cat("levels/", kLevels, "/1.jpg"));
  for (const std::string& pattern : {std::string("levels/0/**/*.jpg"), by_stars + "*.jpg"}) {
    EXPECT_THAT(Find({pattern}), ElementsAre(HasSubstr("symbolic links lead to this folder in more than 16 ways")))
        << pattern;
  }
}

TEST_F(GlobTest, ListsAFolderOnceAndPassesErrorsOn) {
  int lists = 0;
  FaultyFileSystem counting(LocalFileSystem(), [&](std::string_view call, const std::string& path) {
    lists += call == "List" ? 1 : 0;
    return call == "List" && path.ends_with("deep") ? DataError(path, ": no answer") : absl::OkStatus();
  });
  EXPECT_EQ(Find({"other/**/*.jpg"}, &counting).size(), 1u);
  EXPECT_EQ(lists, 1);
  EXPECT_THAT(Find({"**/*.jpg"}, &counting), ElementsAre(HasSubstr("no answer")));
}

TEST_F(GlobTest, RefusesAPartThatIsLongerThanAnyName) {
  const std::string letters(4096, 'a');
  EXPECT_THAT(Find({letters + "*"}), ElementsAre(HasSubstr("has 4097 bytes")));
}

// Neither its parts nor the folders take stack, nor is the missing folder looked for in each of them.
TEST_F(GlobTest, TakesAPatternOfAnyNumberOfParts) {
  std::string plain;
  std::string stars;
  for (int i = 0; i < 100'000; ++i) {
    plain += "a/";
    stars += "*/";
  }
  int stats = 0;
  FaultyFileSystem counting(LocalFileSystem(), [&](std::string_view call, const std::string&) {
    stats += call == "Stat" ? 1 : 0;
    return absl::OkStatus();
  });
  EXPECT_THAT(Find({plain + "x"}, &counting), ElementsAre(HasSubstr("has no 'a'")));
  EXPECT_LT(stats, 100);
  EXPECT_THAT(Find({stars + "x"}), ElementsAre(HasSubstr("matches no file")));
}

TEST_F(GlobTest, ManyDoubleStarsTakeNoTime) {
  std::string folders = "deep";
  std::string pattern = "deep";
  for (int i = 0; i < 40; ++i) {
    folders += "/a";
    if (i % 2 == 0) pattern += "/**/a";
  }
  folder_.Write(folders + "/x.jpg");
  EXPECT_THAT(Find({pattern + "/x.jpg"}), ElementsAre(folders + "/x.jpg"));
}

TEST_F(GlobTest, GoesUpToAFolderOnce) {
  std::string pattern = "*";
  for (int i = 0; i < 40; ++i) pattern += "/../*";
  EXPECT_THAT(Find({pattern + "/../a.jpg"}), ElementsAre(testing::EndsWith("/../a.jpg")));
}

TEST(Glob, WorksFromTheWorkingFolder) {
  const auto found = Glob(*LocalFileSystem(), {"**/files_test*"});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_NE((*found)[0][0], '/');
}

}  // namespace
}  // namespace headrace
