#include "io/files/path_arena.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> PathsOf(const PathArena& arena) {
  std::vector<std::string> paths;
  for (int64_t i = 0; i < arena.size(); ++i) paths.emplace_back(arena[i]);
  return paths;
}

PathArena ArenaOf(const std::vector<std::string>& paths) {
  PathArena arena;
  for (const std::string& path : paths) arena.Add(path);
  return arena;
}

TEST(PathArena, IsRestoredFromItsParts) {
  const PathArena arena = ArenaOf({"a/1", "b", "a/22"});
  const std::optional<PathArena> restored =
      PathArena::FromParts({arena.ends().begin(), arena.ends().end()}, std::string(arena.text()));
  ASSERT_TRUE(restored.has_value());
  EXPECT_THAT(PathsOf(*restored), ElementsAre("a/1", "b", "a/22"));
  EXPECT_TRUE(PathArena::FromParts({}, "").has_value());
}

TEST(PathArena, PartsThatDoNotMatchAreRefused) {
  EXPECT_FALSE(PathArena::FromParts({2, 2}, "ab").has_value()) << "an empty path";
  EXPECT_FALSE(PathArena::FromParts({0, 2}, "ab").has_value()) << "an empty path at the begin";
  EXPECT_FALSE(PathArena::FromParts({2, 1}, "ab").has_value()) << "ends that fall";
  EXPECT_FALSE(PathArena::FromParts({1}, "ab").has_value()) << "text that no path has";
  EXPECT_FALSE(PathArena::FromParts({3}, "ab").has_value()) << "a path beyond the text";
  EXPECT_FALSE(PathArena::FromParts({}, "ab").has_value()) << "text without paths";
}

TEST(PathArena, AppendsSortsAndDropsWhatIsTwice) {
  PathArena arena = ArenaOf({"b", "a"});
  arena.Append(ArenaOf({"c", "a"}));
  EXPECT_THAT(PathsOf(arena), ElementsAre("b", "a", "c", "a"));
  arena.SortUnique();
  EXPECT_THAT(PathsOf(arena), ElementsAre("a", "b", "c"));
}

}  // namespace
}  // namespace headrace
