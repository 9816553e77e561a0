#include "io/files/s3/s3_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/s3/s3_endpoint.h"
#include "io/files/s3/s3_path.h"
#include "io/files/s3/testing/fake_s3.h"
#include "io/files/s3/utc_time.h"

namespace headrace::s3 {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Environment EnvironmentOf(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  };
}

StorageSettings KeysAt(std::string endpoint) {
  StorageSettings settings;
  settings.endpoint = std::move(endpoint);
  settings.access_key = "the-access-key";
  settings.secret_key = "the-secret-key";
  settings.ca_file = "/dev/null";  // nothing is sent
  return settings;
}

StorageSettings EndpointAlone() {
  StorageSettings settings;
  settings.endpoint = "http://store.test";
  return settings;
}

S3Request GetOf(std::string bucket, std::string key) {
  S3Request request;
  request.name = Cat("s3://", bucket, "/", key);
  request.at = {std::move(bucket), std::move(key)};
  return request;
}

// Answers each request in turn, and then the same again.
struct InTurn {
  explicit InTurn(std::vector<http::FakeReply> given) : replies(std::move(given)) {}
  const std::vector<http::FakeReply> replies;
  std::atomic<size_t> asked{0};
  http::FakeTransport transport{
      [this](const http::FakeRequest&) { return replies[std::min(asked.fetch_add(1), replies.size() - 1)]; }};
};

http::FakeReply Good(std::string body) {
  http::FakeReply reply;
  reply.body = std::move(body);
  return reply;
}

TEST(S3Store, SignsRequestsUnlessTheyAreAnonymous) {
  InTurn store({Good("bytes")});
  StorageSettings settings = KeysAt("http://store.test:9000/");
  settings.token = "the-token";
  auto made = S3Store::Make({.settings = settings, .environment = EnvironmentOf({}), .transport = &store.transport});
  ASSERT_EQ((*made)->Run(GetOf("b", "a key"))->body, "bytes");
  settings.anonymous = true;
  auto anonymous =
      S3Store::Make({.settings = settings, .environment = EnvironmentOf({}), .transport = &store.transport});
  ASSERT_EQ((*anonymous)->Run(GetOf("b", "a key"))->body, "bytes");
  const std::vector<http::FakeRequest> requests = store.transport.requests();
  EXPECT_EQ(requests[0].url, "http://store.test:9000/b/a%20key");
  EXPECT_THAT(std::string(requests[0].Find("authorization")),
              StartsWith("AWS4-HMAC-SHA256 Credential=the-access-key/"));
  EXPECT_THAT(std::string(requests[0].Find("authorization")), HasSubstr("/us-east-1/s3/aws4_request"));
  EXPECT_EQ(requests[0].Find("x-amz-security-token"), "the-token");
  EXPECT_EQ(requests[1].Find("authorization"), "");
  EXPECT_EQ(requests[1].Find("x-amz-security-token"), "");
}

TEST(S3Store, DigestsBodiesWhereTlsDoesNotProtectThem) {
  InTurn store({Good("")});
  for (const auto& [endpoint, payload] :
       {std::pair{"http://store.test", "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"},
        std::pair{"https://store.test", "UNSIGNED-PAYLOAD"}}) {
    auto made =
        S3Store::Make({.settings = KeysAt(endpoint), .environment = EnvironmentOf({}), .transport = &store.transport});
    ASSERT_TRUE(made.ok()) << made.status();
    S3Request put = GetOf("b", "key");
    put.method = "PUT";
    put.body = std::make_shared<const std::string>("Welcome to Amazon S3.");
    ASSERT_TRUE((*made)->Run(put).ok());
    EXPECT_EQ(store.transport.requests().back().Find("x-amz-content-sha256"), payload);
    EXPECT_EQ(store.transport.requests().back().body, "Welcome to Amazon S3.");
  }
}

TEST(S3Store, GoesToTheRegionOfTheBucketAndRemembersIt) {
  http::FakeReply elsewhere = FakeS3::Error(301, "PermanentRedirect");
  elsewhere.headers.push_back({"x-amz-bucket-region", "eu-west-1"});
  InTurn store({elsewhere, Good("bytes")});
  auto made = S3Store::Make({.settings = KeysAt(""), .environment = EnvironmentOf({}), .transport = &store.transport});
  ASSERT_EQ((*made)->Run(GetOf("bucket", "key"))->body, "bytes");
  ASSERT_EQ((*made)->Run(GetOf("bucket", "key"))->body, "bytes");
  const std::vector<http::FakeRequest> requests = store.transport.requests();
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_EQ(requests[0].url, "https://bucket.s3.us-east-1.amazonaws.com/key");
  EXPECT_EQ(requests[1].url, "https://bucket.s3.eu-west-1.amazonaws.com/key");
  EXPECT_THAT(std::string(requests[1].Find("authorization")), HasSubstr("/eu-west-1/s3/"));
  EXPECT_EQ(requests[2].url, requests[1].url);
}

TEST(S3Store, DoesNotFollowARegionThatIsNotOne) {
  http::FakeReply elsewhere = FakeS3::Error(301, "PermanentRedirect");
  elsewhere.headers.push_back({"x-amz-bucket-region", "evil.example/"});
  InTurn store({elsewhere});
  auto made = S3Store::Make(
      {.settings = KeysAt("http://store.test"), .environment = EnvironmentOf({}), .transport = &store.transport});
  EXPECT_EQ((*made)->Run(GetOf("bucket", "key"))->head.status, 301);
  EXPECT_EQ(store.transport.requests().size(), 1u);
}

TEST(S3Store, FollowsTheClockOfTheStore) {
  http::FakeReply skewed = FakeS3::Error(403, "RequestTimeTooSkewed");
  skewed.headers.push_back({"date", "Fri, 24 May 2013 00:20:00 GMT"});
  InTurn store({skewed, Good("bytes")});
  auto made = S3Store::Make({.settings = KeysAt("http://store.test"),
                             .environment = EnvironmentOf({}),
                             .transport = &store.transport,
                             .now = [] { return int64_t{1369353600}; }});
  ASSERT_EQ((*made)->Run(GetOf("b", "key"))->body, "bytes");
  EXPECT_EQ(store.transport.requests()[0].Find("x-amz-date"), "20130524T000000Z");
  EXPECT_EQ(store.transport.requests()[1].Find("x-amz-date"), "20130524T002000Z");
}

TEST(S3Store, RenewsCredentialsThatHaveExpiredOnce) {
  InTurn store({FakeS3::Error(403, "ExpiredToken"), Good("bytes"), FakeS3::Error(403, "ExpiredToken")});
  std::atomic<int> found{0};
  const auto kept = std::make_shared<KeptCredentials>(
      [&found]() -> absl::StatusOr<Credentials> {
        Credentials next;
        next.access_key = Cat("key-", std::min(found.fetch_add(1), 2));
        next.secret_key = "secret";
        return next;
      },
      NowSeconds);
  auto made = S3Store::Make({.settings = EndpointAlone(),
                             .environment = EnvironmentOf({}),
                             .transport = &store.transport,
                             .credentials = kept});
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_EQ((*made)->Run(GetOf("b", "key"))->body, "bytes");
  EXPECT_THAT(std::string(store.transport.requests()[0].Find("authorization")), HasSubstr("Credential=key-0/"));
  EXPECT_THAT(std::string(store.transport.requests()[1].Find("authorization")), HasSubstr("Credential=key-1/"));
  // What is found at last is refused, too.
  EXPECT_EQ((*made)->Run(GetOf("b", "key"))->head.status, 403);
  EXPECT_EQ(store.transport.requests().size(), 4u);
}

// Whoever looks for credentials anew is a thread, which a fork does not copy.
TEST(S3Store, RefusesRequestsOfAForkedChild) {
  InTurn store({Good("bytes")});
  std::atomic<int64_t> now{0};
  std::atomic<bool> may_end{true};
  const auto kept = std::make_shared<KeptCredentials>(
      [&may_end]() -> absl::StatusOr<Credentials> {
        while (!may_end) std::this_thread::yield();
        Credentials found;
        found.access_key = "key";
        found.secret_key = "secret";
        found.expires_s = 1000;
        return found;
      },
      [&now] { return now.load(); });
  auto made = S3Store::Make({.settings = EndpointAlone(),
                             .environment = EnvironmentOf({}),
                             .transport = &store.transport,
                             .credentials = kept});
  ASSERT_EQ((*made)->Run(GetOf("b", "key"))->body, "bytes");
  now = 2000;
  may_end = false;
  kept->Get([](const absl::StatusOr<Credentials>&) {});
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(10);
    const auto reply = (*made)->Run(GetOf("b", "key"));
    _exit(KindOf(reply.status()) == ErrorKind::kUnsupported ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  may_end = true;
}

TEST(S3Store, SaysWhyThereAreNoCredentials) {
  InTurn store({Good("")});
  const auto kept = std::make_shared<KeptCredentials>(
      []() -> absl::StatusOr<Credentials> { return NotFoundError("no credentials"); }, NowSeconds);
  auto made = S3Store::Make({.settings = EndpointAlone(),
                             .environment = EnvironmentOf({}),
                             .transport = &store.transport,
                             .credentials = kept});
  const auto reply = (*made)->Run(GetOf("b", "key"));
  EXPECT_EQ(KindOf(reply.status()), ErrorKind::kUnsupported);
  EXPECT_EQ(reply.status().message(), "s3://b/key: no credentials");
  EXPECT_EQ(store.transport.requests().size(), 0u);
}

TEST(S3Store, RepeatsOneRefusalOfAKeyThatWasKnown) {
  InTurn store({FakeS3::Error(403, "AccessDenied"), Good("bytes")});
  auto made = S3Store::Make(
      {.settings = KeysAt("http://store.test"), .environment = EnvironmentOf({}), .transport = &store.transport});
  S3Request request = GetOf("b", "key");
  request.is_known = true;
  EXPECT_EQ((*made)->Run(request)->body, "bytes");
}

TEST(S3Store, TakesTheEndpointAndTheRegionOfTheEnvironment) {
  InTurn store({Good("")});
  const auto made = S3Store::Make({.settings = {},
                                   .environment = EnvironmentOf({{"AWS_ENDPOINT_URL", "http://other.test"},
                                                                 {"AWS_ENDPOINT_URL_S3", "http://store.test:80"},
                                                                 {"AWS_REGION", "eu-north-1"},
                                                                 {"AWS_ACCESS_KEY_ID", "id"},
                                                                 {"AWS_SECRET_ACCESS_KEY", "secret"}}),
                                   .transport = &store.transport});
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_TRUE((*made)->Run(GetOf("b", "key")).ok());
  EXPECT_EQ(store.transport.requests()[0].url, "http://store.test/b/key");
  EXPECT_THAT(std::string(store.transport.requests()[0].Find("authorization")), HasSubstr("/eu-north-1/s3/"));
}

TEST(S3Store, RefusesHalfOfTheKeys) {
  InTurn store({Good("")});
  StorageSettings settings;
  settings.endpoint = "http://store.test";
  settings.access_key = "shown-to-nobody";
  auto made = S3Store::Make({.settings = settings, .environment = EnvironmentOf({}), .transport = &store.transport});
  EXPECT_EQ(KindOf(made.status()), ErrorKind::kGraph);
  EXPECT_THAT(std::string(ToStd(made.status().message())), Not(HasSubstr("shown-to-nobody")));
}

TEST(S3Endpoint, PutsTheBucketWhereTheStoreLooksForIt) {
  const auto url = [](std::string endpoint, std::string_view bucket) {
    return S3Endpoint::Make(std::move(endpoint))->Url("eu-west-1", bucket, "a/b c");
  };
  EXPECT_EQ(url("", "bucket"), "https://bucket.s3.eu-west-1.amazonaws.com/a/b%20c");
  EXPECT_EQ(url("", "with.dot"), "https://s3.eu-west-1.amazonaws.com/with.dot/a/b%20c");
  EXPECT_EQ(S3Endpoint::Make("")->Url("cn-north-1", "b", ""), "https://b.s3.cn-north-1.amazonaws.com.cn/");
  EXPECT_EQ(url("http://127.0.0.1:7480/", "bucket"), "http://127.0.0.1:7480/bucket/a/b%20c");
  EXPECT_EQ(url("https://host:443", "bucket"), "https://host/bucket/a/b%20c");
  EXPECT_EQ(url("https://{bucket}.s3.lan:9000", "bucket"), "https://bucket.s3.lan:9000/a/b%20c");
  EXPECT_EQ(url("https://oss-eu.aliyuncs.com", "bucket"), "https://bucket.oss-eu.aliyuncs.com/a/b%20c");
  EXPECT_EQ(url("https://host/base", "bucket"), "https://host/base/bucket/a/b%20c");
  for (const char* bad :
       {"host:9000", "ftp://host", "http://", "https://user:secret@host", "http://host?a", "http://a b"}) {
    const absl::Status status = S3Endpoint::Make(bad).status();
    EXPECT_EQ(KindOf(status), ErrorKind::kGraph) << bad;
    EXPECT_THAT(std::string(ToStd(status.message())), Not(HasSubstr("secret")));
  }
}

TEST(S3Path, NamesABucketAndAKey) {
  EXPECT_EQ(ParseS3Path("s3://b/a/%20?#b")->key, "a/%20?#b");
  EXPECT_EQ(ParseS3Path("s3a://b")->bucket, "b");
  EXPECT_EQ(ParseS3Path("s3://b/a")->Prefix(), "a/");
  EXPECT_EQ(ParseS3Path("s3://b/")->Prefix(), "");
  for (const char* bad :
       {"b/a", "s3://", "s3:///key", "s3://a:b/key", "s3://a@b/key", "s3://.b/key", "s3://a%2fb/key"}) {
    EXPECT_EQ(KindOf(ParseS3Path(bad).status()), ErrorKind::kGraph) << bad;
  }
  EXPECT_EQ(KindOf(ParseS3Path("s3://data--use1-az4--x-s3/key").status()), ErrorKind::kUnsupported);
  EXPECT_EQ(KindOf(ParseS3Path(Cat("s3://b/", std::string(1025, 'k'))).status()), ErrorKind::kGraph);
  EXPECT_EQ(KindOf(ParseObjectPath("s3://b/folder/").status()), ErrorKind::kNotFound);
}

}  // namespace
}  // namespace headrace::s3
