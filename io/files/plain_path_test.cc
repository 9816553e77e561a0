#include "io/files/plain_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace headrace {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> NamedOnce(const std::vector<std::string>& paths) {
  PathArena arena;
  for (const std::string& path : paths) arena.Add(path);
  DropNamedTwice(arena);
  std::vector<std::string> kept;
  for (int64_t i = 0; i < arena.size(); ++i) kept.emplace_back(arena[i]);
  return kept;
}

TEST(PlainPath, IsOneTextForEachFile) {
  EXPECT_EQ(PlainPath("/a/./b//c"), "/a/b/c");
  EXPECT_EQ(PlainPath("file:///a/b"), "/a/b");
  EXPECT_EQ(PlainPath("./a"), PlainPath("a"));
  EXPECT_EQ(PlainPath("a"), PlainPath(std::filesystem::current_path().string() + "/a"));
  EXPECT_EQ(PlainPath("/a/../b"), "/a/../b") << "a may be a link";
  EXPECT_EQ(PlainPath("s3://bucket/./a"), "s3://bucket/./a");
}

TEST(DropNamedTwice, KeepsTheFirstNameOfAFile) {
  const std::string here = std::filesystem::current_path().string();
  EXPECT_THAT(NamedOnce({"./a", "a", "b"}), ElementsAre("./a", "b"));
  EXPECT_THAT(NamedOnce({here + "/a", "a"}), ElementsAre(here + "/a"));
  EXPECT_THAT(NamedOnce({"/a//b", "/a/b", "/a/c"}), ElementsAre("/a//b", "/a/c"));
  EXPECT_THAT(NamedOnce({"a", "b/a"}), ElementsAre("a", "b/a"));
}

}  // namespace
}  // namespace headrace
