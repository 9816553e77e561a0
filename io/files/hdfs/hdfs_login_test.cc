#include "io/files/hdfs/hdfs_login.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <optional>

#include "core/error.h"
#include "core/tensor.h"
#include "io/files/hdfs/testing/served_cluster.h"
#include "io/files/hdfs/token_file.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace::hdfs {
namespace {

using namespace std::string_literals;

constexpr std::string_view kPath = "hdfs://nn/a";

absl::Status Read(ServedCluster& served) { return served.files.Read(std::string(kPath)).status(); }

// A file of credentials with one token, whose identifier is `who`.
std::string Credentials(std::string_view who) {
  const auto text = [](std::string_view bytes) { return Cat(std::string(1, static_cast<char>(bytes.size())), bytes); };
  return "HDTS\0\1"s + text("") + text(who) + text("p") + text("HDFS_DELEGATION_TOKEN") + text("nn:8020") + "\0"s;
}
std::string TokenOf(std::string_view who) {
  return TokenText({std::string(who), "p", "HDFS_DELEGATION_TOKEN", "nn:8020"});
}

TEST(HdfsLogin, SaysTheUser) {
  HdfsFileSystem::Options options = TwoNameNodes();
  options.settings.user = "bob smith";
  ServedCluster served(options);
  served.cluster.Put("/a", "x");
  EXPECT_TRUE(Read(served).ok());
  EXPECT_FALSE(served.Urls("&user.name=bob%20smith").empty());
}

TEST(HdfsLogin, CarriesTheTokenOfTheSettings) {
  HdfsFileSystem::Options options = TwoNameNodes();
  options.settings.token = "given";
  ServedCluster served(options);
  served.cluster.Put("/a", "x");
  served.cluster.set_token("given");
  EXPECT_TRUE(Read(served).ok());
  EXPECT_TRUE(served.Urls("user.name").empty());
  // It is cancelled.
  served.cluster.set_token("other");
  const absl::Status refused = Read(served);
  EXPECT_EQ(KindOf(refused), ErrorKind::kUnsupported);
  EXPECT_EQ(refused.message().find("given"), std::string::npos);
}

TEST(HdfsLogin, TakesTheTokenOfAFileAndANewerOne) {
  const TemporaryFolder folder;
  HdfsFileSystem::Options options = TwoNameNodes();
  options.token_file = folder.Write("tokens", Credentials("first"));
  ServedCluster served(options);
  served.cluster.Put("/a", "x");
  served.cluster.set_token(TokenOf("first"));
  EXPECT_TRUE(Read(served).ok());
  served.cluster.set_token(TokenOf("second"));
  EXPECT_EQ(KindOf(Read(served)), ErrorKind::kUnsupported);
  folder.Write("tokens", Credentials("second"));
  EXPECT_TRUE(Read(served).ok());
  folder.Write("tokens", "damaged");
  served.cluster.set_token(TokenOf("third"));
  EXPECT_EQ(KindOf(Read(served)), ErrorKind::kData);
}

TEST(HdfsLogin, GetsATokenByKerberosWhenItIsAskedFor) {
  ServedCluster served;
  served.cluster.Put("/a", "x");
  served.cluster.set_token("made");
  EXPECT_TRUE(Read(served).ok());
  EXPECT_EQ(served.Urls("op=GETDELEGATIONTOKEN").size(), 1u);
  EXPECT_FALSE(served.Urls("delegation=made").empty());
  // The token is no longer known: there is another login.
  served.cluster.set_token("anew");
  EXPECT_TRUE(Read(served).ok());
  EXPECT_EQ(served.Urls("op=GETDELEGATIONTOKEN").size(), 2u);
}

TEST(HdfsLogin, LogsInOnceForReadsThatAreUnderWay) {
  ServedCluster served;
  served.cluster.Put("/a", "x");
  served.cluster.set_token("made");
  constexpr int kReads = 20;
  std::mutex mutex;
  std::condition_variable ended;
  int good = 0;
  int all = 0;
  for (int i = 0; i < kReads; ++i) {
    served.files.StartRead(std::string(kPath), {.size = 1}, [&](const absl::StatusOr<Tensor>& read) {
      const std::lock_guard lock(mutex);
      good += read.ok() ? 1 : 0;
      ++all;
      ended.notify_all();
    });
  }
  std::unique_lock lock(mutex);
  ended.wait(lock, [&] { return all == kReads; });
  EXPECT_EQ(good, kReads);
  EXPECT_EQ(served.Urls("op=GETDELEGATIONTOKEN").size(), 1u);
}

TEST(HdfsLogin, KeepsTheCookieWhereThereAreNoTokens) {
  ServedCluster served;
  served.cluster.Put("/a", "x");
  served.cluster.set_rule([](const http::FakeRequest& request) -> std::optional<http::FakeReply> {
    if (request.Find("cookie") == "hadoop.auth=signed") return std::nullopt;
    http::FakeReply reply;
    if (Parameter(request.url, "op") == "GETDELEGATIONTOKEN" && request.Find("authorization") == "Negotiate ticket") {
      reply.headers.push_back({"set-cookie", "hadoop.auth=signed; Path=/; HttpOnly"});
      reply.body = "{\"Token\":null}";
      return reply;
    }
    if (request.url.find("//dn") != std::string::npos) return std::nullopt;
    reply.status = 401;
    return reply;
  });
  EXPECT_TRUE(Read(served).ok());
}

TEST(HdfsLogin, SaysWhatToDoWithoutATicket) {
  HdfsFileSystem::Options options = TwoNameNodes();
  options.negotiate = [](std::string_view host) -> absl::StatusOr<std::string> {
    return UnsupportedError("no ticket for ", host, ": run kinit");
  };
  ServedCluster served(options);
  served.cluster.Put("/a", "x");
  served.cluster.set_token("made");
  const absl::Status error = Read(served);
  EXPECT_EQ(KindOf(error), ErrorKind::kUnsupported);
  EXPECT_EQ(error.message(), "no ticket for nn1: run kinit");
  EXPECT_TRUE(served.Urls("op=GETDELEGATIONTOKEN").empty());
}

TEST(HdfsLogin, DoesNotLogInWhereTheSettingsSayAnonymous) {
  HdfsFileSystem::Options options = TwoNameNodes();
  options.settings.anonymous = true;
  options.token_file = "/missing";
  ServedCluster served(options);
  served.cluster.Put("/a", "x");
  EXPECT_TRUE(Read(served).ok());
  served.cluster.set_token("made");
  EXPECT_EQ(KindOf(Read(served)), ErrorKind::kUnsupported);
}

TEST(HdfsLogin, LogsInAtTheNameNodeThatIsActive) {
  ServedCluster served;
  served.cluster.Put("/a", "x");
  served.cluster.set_token("made");
  served.cluster.set_rule([](const http::FakeRequest& request) -> std::optional<http::FakeReply> {
    if (request.url.find("//nn1") == std::string::npos || request.Find("authorization").empty()) return std::nullopt;
    return ExceptionReply(403, "StandbyException", "Operation category WRITE is not supported in state standby");
  });
  EXPECT_TRUE(Read(served).ok());
}

TEST(HdfsLogin, ReplacesATokenBeforeItEnds) {
  // By hand: the clock goes on by days.
  int made = 0;
  std::vector<std::string> queries;
  http::FakeTransport transport([&](const http::FakeRequest& request) {
    http::FakeReply reply;
    reply.body = Cat("{\"Token\":{\"urlString\":\"t", ++made, "\"}}");
    queries.push_back(request.url);
    return reply;
  });
  http::HttpClient client(&transport, {});
  NameNodes name_nodes({"http://nn:9870"});
  LoginSettings settings;
  settings.negotiate = [](std::string_view) { return std::string("ticket"); };
  HdfsLogin login(settings, &client, &name_nodes);
  ASSERT_TRUE(login.Renew(*login.Current()).ok());
  const auto first = *login.Current();
  EXPECT_EQ(first->query, "&delegation=t1");
  EXPECT_EQ(*login.Current(), first);
  std::mutex mutex;
  std::condition_variable later;
  bool came = false;
  transport.After(int64_t{13} * 3600 * 1'000'000'000, [&] {
    const std::lock_guard lock(mutex);
    came = true;
    later.notify_all();
  });
  {
    std::unique_lock lock(mutex);
    later.wait(lock, [&] { return came; });
  }
  EXPECT_EQ(*login.Current(), first);  // it goes on with the old one meanwhile
  // What is posted after the renewal runs after it.
  bool renewed = false;
  login.StartRenew(nullptr, [&](const absl::Status&) {
    const std::lock_guard lock(mutex);
    renewed = true;
    later.notify_all();
  });
  std::unique_lock lock(mutex);
  later.wait(lock, [&] { return renewed; });
  EXPECT_EQ((*login.Current())->query, "&delegation=t2");
}

}  // namespace
}  // namespace headrace::hdfs
