#include "io/files/hdfs/hdfs_url.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "io/files/http/percent_text.h"

namespace headrace::hdfs {
namespace {

TEST(HdfsUrl, TakesPathsApart) {
  const auto url = ParseHdfsUrl("hdfs://namenode:8020/a//b c/ü.jpg/");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->scheme, "hdfs");
  EXPECT_EQ(url->authority, "namenode:8020");
  EXPECT_EQ(url->path, "/a/b c/ü.jpg");
  EXPECT_EQ(ParseHdfsUrl("hdfs:///a")->authority, "");
  EXPECT_EQ(ParseHdfsUrl("webhdfs://cluster")->path, "/");
}

TEST(HdfsUrl, RefusesUsersAndWrongNames) {
  for (const char* const url : {"hdfs://alice@namenode/a", "hdfs://name node/a", "hdfs://name?x/a"}) {
    EXPECT_EQ(KindOf(ParseHdfsUrl(url).status()), ErrorKind::kGraph) << url;
  }
  const absl::Status user = ParseHdfsUrl("hdfs://alice:hidden@namenode/a").status();
  EXPECT_EQ(user.message().find("hidden"), std::string::npos) << user;
  EXPECT_NE(user.message().find("hdfs://namenode/a: "), std::string::npos) << user;
}

TEST(HdfsUrl, WritesWhatRequestsMayHold) {
  EXPECT_EQ(http::PercentEncoded("/a b/100%/ü+?&#", http::Slash::kKept), "/a%20b/100%25/%C3%BC%2B%3F%26%23");
  EXPECT_EQ(http::PercentEncoded("/a=1~"), "%2Fa%3D1~");
}

TEST(HdfsUrl, TellsHosts) {
  EXPECT_EQ(HostOf("namenode:8020"), "namenode");
  EXPECT_EQ(HostOf("namenode"), "namenode");
  EXPECT_EQ(HostOf("[::1]"), "[::1]");
  EXPECT_EQ(HostOf("[::1]:8020"), "[::1]");
}

}  // namespace
}  // namespace headrace::hdfs
