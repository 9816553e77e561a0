#include "io/files/s3/credential_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/http/awaited_result.h"
#include "io/files/http/testing/fake_transport.h"
#include "io/files/s3/credential_reply.h"
#include "io/files/s3/kept_credentials.h"
#include "io/files/s3/process_output.h"
#include "io/files/s3/utc_time.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace::s3 {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Variables = std::map<std::string, std::string>;

http::FakeReply Text(std::string body, int status = 200) {
  http::FakeReply reply;
  reply.status = status;
  reply.body = std::move(body);
  return reply;
}

http::FakeReply Unreachable() {
  http::FakeReply reply;
  reply.status = 0;
  reply.fault = http::Fault::kRefused;
  return reply;
}

constexpr const char* kJson =
    R"({"Code": "Success", "AccessKeyId": "json-key", "SecretAccessKey": "json-secret", "Token": "json-token",
        "Expiration": "2013-05-24T06:00:00Z"})";

std::string StsXml(std::string_view action) {
  return Cat("<", action, "Response xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><", action,
             "Result><Credentials><AccessKeyId>sts-key</AccessKeyId><SecretAccessKey>sts-secret</SecretAccessKey>"
             "<SessionToken>sts-token</SessionToken><Expiration>2013-05-24T01:00:00Z</Expiration></Credentials></",
             action, "Result></", action, "Response>");
}

// Where nothing is found but what a test puts there.
struct Place {
  explicit Place(
      Variables given, http::FakeTransport::Answer answer = [](const http::FakeRequest&) { return Unreachable(); })
      : variables(std::move(given)), transport(std::move(answer)) {
    variables.emplace("HOME", folder.path());
  }
  absl::StatusOr<Credentials> Find(const std::string& profile = "") {
    CredentialPlace place;
    place.profile = profile;
    place.region = "eu-west-1";
    place.environment = [this](const char* name) {
      const auto found = variables.find(name);
      return found == variables.end() ? std::string() : found->second;
    };
    place.transport = &transport;
    place.now = [] { return int64_t{1369353600}; };
    return FindCredentials(place);
  }

  const TemporaryFolder folder;
  Variables variables;
  http::FakeTransport transport;
};

std::string MessageOf(const absl::StatusOr<Credentials>& found) { return std::string(ToStd(found.status().message())); }

TEST(CredentialChain, TakesTheEnvironmentsKeysAtHand) {
  const auto environment = [](const char* name) {
    const std::string_view variable = name;
    return std::string(variable == "AWS_ACCESS_KEY_ID"       ? "id"
                       : variable == "AWS_SECRET_ACCESS_KEY" ? "secret"
                       : variable == "AWS_SESSION_TOKEN"     ? "token"
                                                             : "");
  };
  const auto found = CredentialsAtHand({}, environment);
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->access_key, "id");
  EXPECT_EQ((*found)->token, "token");
  StorageSettings settings;
  settings.profile = "work";
  EXPECT_EQ(*CredentialsAtHand(settings, environment), std::nullopt);
  settings.access_key = "code-id";
  settings.secret_key = "code-secret";
  EXPECT_EQ((**CredentialsAtHand(settings, environment)).access_key, "code-id");
  settings.anonymous = true;
  EXPECT_TRUE((**CredentialsAtHand(settings, environment)).anonymous);
}

TEST(CredentialChain, AsksTheTokenServiceForAWebIdentity) {
  const TemporaryFolder tokens;
  Place place({{"AWS_WEB_IDENTITY_TOKEN_FILE", tokens.Write("token", "web+token\n")},
               {"AWS_ROLE_ARN", "arn:aws:iam::1:role/r"},
               {"AWS_ROLE_SESSION_NAME", "session"}},
              [](const http::FakeRequest&) { return Text(StsXml("AssumeRoleWithWebIdentity")); });
  const auto found = place.Find();
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->access_key, "sts-key");
  EXPECT_EQ(found->token, "sts-token");
  EXPECT_EQ(found->expires_s, 1369353600 + 3600);
  const http::FakeRequest asked = place.transport.requests().at(0);
  EXPECT_EQ(asked.method, "POST");
  EXPECT_EQ(asked.url, "https://sts.eu-west-1.amazonaws.com/");
  EXPECT_EQ(asked.body,
            "Action=AssumeRoleWithWebIdentity&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr&RoleSessionName=session&"
            "Version=2011-06-15&WebIdentityToken=web%2Btoken");
  EXPECT_EQ(asked.Find("authorization"), "");
}

TEST(CredentialChain, ReadsProfiles) {
  Place place({});
  place.folder.Write(".aws/credentials",
                     "[default]\naws_access_key_id = a\naws_secret_access_key=b # no comment\n"
                     "[work]\naws_access_key_id=w\naws_secret_access_key=x\naws_session_token=t\n");
  EXPECT_EQ(place.Find()->access_key, "a");
  EXPECT_EQ(place.Find()->secret_key, "b");
  EXPECT_EQ(place.Find("work")->token, "t");
  place.variables["AWS_PROFILE"] = "work";
  EXPECT_EQ(place.Find()->access_key, "w");
  EXPECT_THAT(MessageOf(place.Find("home")), HasSubstr("no profile 'home'"));
}

TEST(CredentialChain, AssumesRolesByOtherProfiles) {
  Place place({{"AWS_ENDPOINT_URL_STS", "http://sts.test"}},
              [](const http::FakeRequest&) { return Text(StsXml("AssumeRole")); });
  place.folder.Write(
      ".aws/config",
      "[profile top]\nrole_arn=arn:top\nsource_profile=middle\nexternal_id=e\n"
      "[profile middle]\nrole_arn=arn:middle\nsource_profile=base\n"
      "[profile base]\naws_access_key_id=base-key\naws_secret_access_key=base-secret\n"
      "[profile own]\nrole_arn=arn:own\nsource_profile=own\naws_access_key_id=o\naws_secret_access_key=p\n"
      "[profile loop]\nrole_arn=arn:l\nsource_profile=pool\n"
      "[profile pool]\nrole_arn=arn:p\nsource_profile=loop\n");
  const auto found = place.Find("top");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->access_key, "sts-key");
  const std::vector<http::FakeRequest> asked = place.transport.requests();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].url, "http://sts.test/");
  EXPECT_THAT(asked[0].body, HasSubstr("RoleArn=arn%3Amiddle"));
  EXPECT_THAT(std::string(asked[0].Find("authorization")), HasSubstr("Credential=base-key/20130524/eu-west-1/sts/"));
  EXPECT_THAT(asked[1].body, HasSubstr("ExternalId=e"));
  EXPECT_THAT(std::string(asked[1].Find("authorization")), HasSubstr("Credential=sts-key/"));
  EXPECT_EQ(asked[1].Find("x-amz-security-token"), "sts-token");
  EXPECT_TRUE(place.Find("own").ok());
  EXPECT_THAT(MessageOf(place.Find("loop")), HasSubstr("is its own source_profile"));
}

TEST(CredentialChain, RunsTheProcessOfAProfile) {
  Place place({});
  place.folder.Write(".aws/config",
                     "[default]\ncredential_process = printf '{\"Version\": 1, \"AccessKeyId\": \"p\", "
                     "\"SecretAccessKey\": \"q\", \"SessionToken\": \"r\"}'\n"
                     "[profile bad]\ncredential_process = echo secret-words; exit 3\n"
                     "[profile wrong]\ncredential_process = echo '{\"Version\": 2}'\n");
  const auto found = place.Find();
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->access_key, "p");
  EXPECT_EQ(found->token, "r");
  EXPECT_THAT(MessageOf(place.Find("bad")), HasSubstr("status 3"));
  EXPECT_THAT(MessageOf(place.Find("bad")), Not(HasSubstr("secret-words")));
  EXPECT_THAT(MessageOf(place.Find("wrong")), HasSubstr("version"));
}

TEST(CredentialChain, NamesTheCommandInPlaceOfSso) {
  Place place({});
  place.folder.Write(".aws/config", "[sso-session s]\nsso_start_url=u\n[profile work]\nsso_session=s\n");
  EXPECT_THAT(MessageOf(place.Find("work")), HasSubstr("aws configure export-credentials --format env --profile work"));
}

TEST(CredentialChain, AsksTheContainer) {
  const TemporaryFolder tokens;
  Place place({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:81/keys"},
               {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", tokens.Write("token", "container-token\n")}},
              [](const http::FakeRequest&) { return Text(kJson); });
  const auto found = place.Find();
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->access_key, "json-key");
  EXPECT_EQ(place.transport.requests()[0].url, "http://127.0.0.1:81/keys");
  EXPECT_EQ(place.transport.requests()[0].Find("authorization"), "container-token");
  place.variables["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = "/v2/keys";
  EXPECT_TRUE(place.Find().ok());
  EXPECT_EQ(place.transport.requests()[1].url, "http://169.254.170.2/v2/keys");
  place.variables.erase("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  for (const char* far : {"http://keys.test/", "http://127.0.0.1.keys.test/", "http://127.0.0.1@keys.test/",
                          "file:///etc/passwd", "http://127.evil.test"}) {
    place.variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = far;
    EXPECT_EQ(KindOf(place.Find().status()), ErrorKind::kUnsupported) << far;
  }
}

TEST(CredentialChain, AsksTheMachine) {
  Place place({{"AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:82/"}}, [](const http::FakeRequest& request) {
    if (request.method == "PUT") return Text("session");
    if (request.Find("x-aws-ec2-metadata-token") != "session") return Text("", 401);
    return request.url.ends_with("/role") ? Text(kJson) : Text("role\n");
  });
  const auto found = place.Find();
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->secret_key, "json-secret");
  const std::vector<http::FakeRequest> asked = place.transport.requests();
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_EQ(asked[0].url, "http://127.0.0.1:82/latest/api/token");
  EXPECT_EQ(asked[0].deadline_ms, 1000);
  place.variables["AWS_EC2_METADATA_DISABLED"] = "true";
  EXPECT_EQ(KindOf(place.Find().status()), ErrorKind::kNotFound);
  EXPECT_EQ(place.transport.requests().size(), 3u);
}

TEST(CredentialChain, SaysWhereItLookedAfterOneTryOfTheMachine) {
  Place place({});
  const std::string message = MessageOf(place.Find());
  EXPECT_THAT(message, HasSubstr("AWS_ACCESS_KEY_ID"));
  EXPECT_THAT(message, HasSubstr("the profile 'default'"));
  EXPECT_THAT(message, HasSubstr("the machine (it does not answer)"));
  EXPECT_THAT(message, HasSubstr("\"anonymous\": True"));
  EXPECT_EQ(place.transport.requests().size(), 1u);
}

TEST(CredentialReply, RefusesWhatIsNotCredentials) {
  for (const char* bad : {"", "[]", "{}", "{\"AccessKeyId\": 1}", "{\"AccessKeyId\": \"a\"}", "{\"AccessKeyId\"",
                          R"({"AccessKeyId": "a", "SecretAccessKey": "b", "Expiration": "soon"})",
                          R"({"AccessKeyId": "a\r\nx: y", "SecretAccessKey": "b"})"}) {
    EXPECT_EQ(KindOf(ParseCredentialJson(bad).status()), ErrorKind::kData) << bad;
  }
  EXPECT_EQ(KindOf(ParseCredentialJson(std::string(70'000, ' ')).status()), ErrorKind::kData);
  EXPECT_EQ(KindOf(ParseStsReply("<a><Credentials/></a>").status()), ErrorKind::kData);
  EXPECT_EQ(KindOf(ParseStsReply("<a>").status()), ErrorKind::kData);
}

TEST(ProcessOutput, EndsWhatTakesTooLongOrPrintsTooMuch) {
  EXPECT_EQ(*OutputOfCommand("echo one; echo two"), "one\ntwo\n");
  EXPECT_EQ(KindOf(OutputOfCommand("sleep 100 & sleep 100", std::chrono::milliseconds(50)).status()), ErrorKind::kData);
  EXPECT_EQ(KindOf(OutputOfCommand("yes").status()), ErrorKind::kData);
  EXPECT_EQ(KindOf(OutputOfCommand("no-such-command-here 2>/dev/null").status()), ErrorKind::kData);
}

Credentials KeysUntil(int64_t expires, std::string name) {
  Credentials keys;
  keys.access_key = std::move(name);
  keys.secret_key = "secret";
  keys.expires_s = expires;
  return keys;
}

std::string KeyOf(KeptCredentials& kept) {
  const auto awaited = std::make_shared<http::AwaitedResult<Credentials>>();
  // A copy of an error shares its text with the thread that found it, which ThreadSanitizer does not see.
  kept.Get([awaited](const absl::StatusOr<Credentials>& found) {
    awaited->Set(found.ok() ? found : NotFoundError(ToStd(found.status().message())));
  });
  const auto found = awaited->Wait([] {});
  return found.ok() ? found->access_key : std::string(ToStd(found.status().message()));
}

TEST(KeptCredentials, AreFoundOnceForAll) {
  std::atomic<int> finds{0};
  KeptCredentials kept([&]() -> absl::StatusOr<Credentials> { return KeysUntil(0, Cat("key-", finds.fetch_add(1))); },
                       [] { return int64_t{0}; });
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&kept] { EXPECT_EQ(KeyOf(kept), "key-0"); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(finds, 1);
}

TEST(KeptCredentials, AreRenewedBeforeTheyExpireWhileTheOldOnesAreGiven) {
  std::atomic<int> finds{0};
  std::atomic<int64_t> now{0};
  std::atomic<bool> may_end{true};
  KeptCredentials kept(
      [&]() -> absl::StatusOr<Credentials> {
        while (!may_end) std::this_thread::yield();
        const int number = finds.fetch_add(1);
        return KeysUntil((number + 1) * 1000, Cat("key-", number));
      },
      [&] { return now.load(); });
  EXPECT_EQ(KeyOf(kept), "key-0");
  now = 699;
  EXPECT_EQ(KeyOf(kept), "key-0");
  EXPECT_EQ(finds, 1);
  may_end = false;
  now = 701;
  EXPECT_EQ(KeyOf(kept), "key-0");
  EXPECT_EQ(KeyOf(kept), "key-0");
  may_end = true;
  while (KeyOf(kept) != "key-1") std::this_thread::yield();
  EXPECT_EQ(finds, 2);
  now = 2500;
  EXPECT_EQ(KeyOf(kept), "key-2");
}

TEST(KeptCredentials, AreFoundAgainWhenRefused) {
  std::atomic<int> finds{0};
  KeptCredentials kept(
      [&]() -> absl::StatusOr<Credentials> {
        const int number = finds.fetch_add(1);
        if (number == 1) return NotFoundError("none now");
        return KeysUntil(0, Cat("key-", number));
      },
      [] { return int64_t{0}; });
  EXPECT_EQ(KeyOf(kept), "key-0");
  kept.Refuse(KeysUntil(0, "key-of-another-time"));
  EXPECT_EQ(KeyOf(kept), "key-0");
  kept.Refuse(KeysUntil(0, "key-0"));
  EXPECT_EQ(KeyOf(kept), "none now");
  EXPECT_EQ(KeyOf(kept), "key-2");
  KeptCredentials lasting(KeysUntil(0, "lasting"));
  lasting.Refuse(KeysUntil(0, "lasting"));
  EXPECT_EQ(KeyOf(lasting), "lasting");
}

TEST(ProcessOutput, CommandsHaveTheUsualSignals) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto output = OutputOfCommand("grep -E 'SigBlk|SigIgn' /proc/self/status");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_THAT(*output, HasSubstr("SigBlk:\t0000000000000000"));
}

}  // namespace
}  // namespace headrace::s3
