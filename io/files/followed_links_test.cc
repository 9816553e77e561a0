#include "io/files/followed_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

using testing::HasSubstr;

TEST(FollowedLinks, RefusesOneThatLeadsBack) {
  TemporaryFolder folder;
  folder.MakeFolder("a/b");
  folder.Link(folder / "a", "a/b/up");
  folder.Link(folder / "a/b", "a/down");
  FollowedLinks links(*LocalFileSystem());
  EXPECT_TRUE(links.Enter(folder.path(), "a/down").ok());
  EXPECT_THAT(std::string(links.Enter(folder.path(), "a/b/up").message()), HasSubstr("makes a cycle"));
}

// Links within linked folders make more paths than a walk can visit.
TEST(FollowedLinks, BoundsWhatIsReachedAgain) {
  constexpr int kFiles = 99;
  constexpr int kMore = FollowedLinks::kMostAgain / (kFiles + 1);
  FollowedLinks links(*LocalFileSystem());
  for (int i = 0; i < FollowedLinks::kFreeWays + kMore; ++i) {
    ASSERT_TRUE(links.Listed(Cat("a/", i), "1:1", kFiles).ok()) << i;
  }
  const absl::Status status = links.Listed("a/last", "1:1", kFiles);
  EXPECT_EQ(KindOf(status), ErrorKind::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("a/last: symbolic links lead to this folder in more than 16"));
  // Folders count, too: they may be empty.
  FollowedLinks empty(*LocalFileSystem());
  absl::Status last;
  for (int i = 0; i <= FollowedLinks::kFreeWays + FollowedLinks::kMostAgain; ++i) {
    last = empty.Listed(Cat("a/", i), "1:1", 0);
  }
  EXPECT_FALSE(last.ok());
}

TEST(FollowedLinks, DoesNotCountWhatIsReachedOnce) {
  FollowedLinks links(*LocalFileSystem());
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(links.Listed(Cat("a/", i), Cat("1:", i), 1'000'000).ok()) << i;
  // A pattern may list one folder for several of its parts.
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(links.Listed("a/0", "1:0", 1'000'000).ok()) << i;
  // Where links have no identity, they cannot be counted, and make no cycles.
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(links.Listed(Cat("b/", i), "", 1'000'000).ok()) << i;
}

}  // namespace
}  // namespace headrace
