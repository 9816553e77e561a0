#include "io/files/storage_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "core/error.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Given = std::vector<std::pair<std::string, StorageValue>>;

StorageSettings WithEndpoint(std::string endpoint) {
  StorageSettings settings;
  settings.endpoint = std::move(endpoint);
  return settings;
}

TEST(StorageSettings, GivesWhatTheyAreMadeOf) {
  EXPECT_TRUE(GivenSettings({}).empty());
  StorageSettings keyed = {.endpoint = "http://h",
                           .region = "r",
                           .profile = "p",
                           .access_key = "a",
                           .secret_key = "s",
                           .token = "t",
                           .ca_file = "/ca",
                           .proxy = "http://p",
                           .timeout = 0.5,
                           .connections = 3,
                           .user = "u",
                           .object_cache = "/c",
                           .object_cache_bytes = 7};
  EXPECT_EQ(StorageSettingsOf(GivenSettings(keyed)).value(), keyed);
  StorageSettings open;
  open.anonymous = true;
  EXPECT_EQ(StorageSettingsOf(GivenSettings(open)).value(), open);
}

TEST(StorageSettings, ReadsEachKey) {
  const auto settings = StorageSettingsOf(Given{{"endpoint", "http://127.0.0.1:9000"},
                                                {"region", "us-east-1"},
                                                {"access_key", "a"},
                                                {"secret_key", "s"},
                                                {"token", "t"},
                                                {"ca_file", "/ca.pem"},
                                                {"proxy", "http://127.0.0.1:3128"},
                                                {"timeout", int64_t{5}},
                                                {"connections", int64_t{64}},
                                                {"user", "u"},
                                                {"object_cache", "/cache"},
                                                {"object_cache_bytes", int64_t{1} << 40}});
  ASSERT_TRUE(settings.ok()) << settings.status();
  StorageSettings wanted = WithEndpoint("http://127.0.0.1:9000");
  wanted.region = "us-east-1";
  wanted.access_key = "a";
  wanted.secret_key = "s";
  wanted.token = "t";
  wanted.ca_file = "/ca.pem";
  wanted.proxy = "http://127.0.0.1:3128";
  wanted.timeout = 5;
  wanted.connections = 64;
  wanted.user = "u";
  wanted.object_cache = "/cache";
  wanted.object_cache_bytes = int64_t{1} << 40;
  EXPECT_TRUE(*settings == wanted);
  EXPECT_TRUE(StorageSettingsOf(Given{{"anonymous", true}, {"timeout", 0.5}})->anonymous);
  EXPECT_EQ(StorageSettingsOf(Given{{"profile", "p"}})->profile, "p");
}

TEST(StorageSettings, RefusesWhatNoStoreUnderstandsWithoutItsValue) {
  const Given wrong[] = {
      {{"secretkey", "hunter2"}},
      {{"secret_key", "hunter2"}},
      {{"access_key", "hunter2"}},
      {{"endpoint", int64_t{4711}}},
      {{"endpoint", ""}},
      {{"token", "hunter2\r\nX-Other: 1"}},
      {{"anonymous", "hunter2"}},
      {{"anonymous", true}, {"token", "hunter2"}},
      {{"timeout", 0.0}},
      {{"timeout", int64_t{-4711}}},
      {{"timeout", "hunter2"}},
      {{"timeout", std::numeric_limits<double>::quiet_NaN()}},
      {{"connections", int64_t{0}}},
      {{"connections", int64_t{4711}}},
      {{"connections", 1.5}},
      {{"object_cache_bytes", int64_t{4711}}},
      {{"object_cache", "/hunter2"}, {"object_cache_bytes", int64_t{0}}},
  };
  for (const Given& given : wrong) {
    const absl::Status status = StorageSettingsOf(given).status();
    EXPECT_EQ(KindOf(status), ErrorKind::kGraph) << given[0].first;
    EXPECT_THAT(status.message(), Not(HasSubstr("hunter2"))) << status;
    EXPECT_THAT(status.message(), Not(HasSubstr("4711"))) << status;
    EXPECT_THAT(status.message(), HasSubstr(given.back().first)) << status;
  }
}

TEST(StorageTable, FindsTheLongestBeginning) {
  StorageTable table;
  table.Set("s3", WithEndpoint("all"));
  table.Set("s3://bucket/", WithEndpoint("bucket"));
  table.Set("s3://bucket/a/b", WithEndpoint("below"));
  table.Set("https://host", WithEndpoint("host"));
  const auto found = [&](std::string_view url) { return table.For(url).settings.endpoint; };
  EXPECT_EQ(found("s3://other/a"), "all");
  EXPECT_EQ(found("s3://bucket2/a"), "all");
  EXPECT_EQ(found("s3://bucket"), "bucket");
  EXPECT_EQ(found("s3://bucket/a"), "bucket");
  EXPECT_EQ(found("s3://bucket/a/bc"), "bucket");
  EXPECT_EQ(found("s3://bucket/a/b"), "below");
  EXPECT_EQ(found("s3://bucket/a/b/c"), "below");
  EXPECT_EQ(found("https://host/x"), "host");
  EXPECT_EQ(found("https://host.com/x"), "");
  EXPECT_EQ(found("s3a://bucket/a"), "");
  EXPECT_EQ(table.For("s3://bucket/a").of, "s3://bucket");
  EXPECT_EQ(table.For("hdfs://x").of, "");
}

TEST(StorageTable, TakesTheSettingsOfTheInnerOne) {
  StorageTable outer, inner;
  outer.Set("s3", WithEndpoint("outer"));
  outer.Set("hdfs://", WithEndpoint("kept"));
  inner.Set("s3://", WithEndpoint("inner"));
  const StorageTable both = outer.With(inner);
  EXPECT_EQ(both.For("s3://b/k").settings.endpoint, "inner");
  EXPECT_EQ(both.For("hdfs://h/k").settings.endpoint, "kept");
  EXPECT_TRUE(outer.With(StorageTable()) == outer);
}

TEST(StorageTable, IsKeyedBySchemesAndUrls) {
  for (const std::string_view of : {"s3", "s3://", "s3://bucket", "https://host/a/", "web+x"}) {
    EXPECT_TRUE(CheckStorageBeginning(of).ok()) << of;
  }
  for (const std::string_view of : {"", "/photos", "file", "file:///a", "bucket/key", "3s", "s3:", "s3:/b"}) {
    EXPECT_EQ(KindOf(CheckStorageBeginning(of)), ErrorKind::kGraph) << of;
  }
  // No path would find them.
  for (const std::string_view of : {"S3", "S3://Bucket/"}) {
    EXPECT_THAT(CheckStorageBeginning(of).message(), HasSubstr("write s3 for \"S3\"")) << of;
  }
  EXPECT_TRUE(CheckStorageBeginning("s3://Bucket/").ok());
}

TEST(StorageScope, HoldsForItsThreadUntilItEnds) {
  StorageTable table, inner;
  table.Set("s3", WithEndpoint("outer"));
  inner.Set("hdfs", WithEndpoint("inner"));
  EXPECT_TRUE(CurrentStorage()->empty());
  const auto found = [](std::string_view url) { return CurrentStorage()->For(url).settings.endpoint; };
  {
    const StorageScope scope(table);
    EXPECT_EQ(found("s3://b"), "outer");
    std::string there = "not run";
    std::thread([&] { there = found("s3://b"); }).join();
    EXPECT_EQ(there, "");
    std::thread([&there, &found, carried = CurrentStorage()] {
      const StorageScope of_other(carried);
      there = found("s3://b");
    }).join();
    EXPECT_EQ(there, "outer");
    {
      const StorageScope nested(inner);
      EXPECT_EQ(found("s3://b"), "outer");
      EXPECT_EQ(found("hdfs://b"), "inner");
    }
    EXPECT_EQ(found("hdfs://b"), "");
  }
  EXPECT_TRUE(CurrentStorage()->empty());
}

}  // namespace
}  // namespace headrace
