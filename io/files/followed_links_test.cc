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
TEST(FollowedLinks, BoundsTheWaysToAFolder) {
  TemporaryFolder folder;
  folder.MakeFolder("target");
  folder.MakeFolder("other");
  folder.Link("target", "link");
  folder.Link("other", "to_other");
  FollowedLinks links(*LocalFileSystem());
  for (int i = 0; i < FollowedLinks::kMostWays; ++i) ASSERT_TRUE(links.Enter(folder.path(), "link").ok());
  const absl::Status status = links.Enter(folder.path(), "link");
  EXPECT_EQ(KindOf(status), ErrorKind::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("in more than 10000 ways"));
  EXPECT_TRUE(links.Enter(folder.path(), "to_other").ok());
}

}  // namespace
}  // namespace headrace
