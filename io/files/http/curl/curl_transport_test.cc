#include "io/files/http/curl/curl_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "io/files/http/testing/loopback_server.h"
#include "io/files/http/testing/plain_digests.h"

namespace headrace::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Transport& TestedTransport() {
  static Transport* const transport = CurlTransport::Make();
  return *transport;
}

// Keeps all that comes.
class Kept : public Receiver {
 public:
  explicit Kept(std::string* target = nullptr) : target_(target) {}

  bool OnHead(const Head& /*head*/, uint8_t*& target, size_t& bytes) override {
    if (target_ == nullptr) return true;
    target = reinterpret_cast<uint8_t*>(target_->data());
    bytes = target_->size();
    return true;
  }
  bool OnBody(std::string_view piece) override {
    body += piece;
    return true;
  }
  void OnEnd(Outcome outcome) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    outcome_ = std::move(outcome);
    ended_ = true;
    changed_.notify_all();
  }
  const Outcome& Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return ended_; });
    return outcome_;
  }

  std::string body;

 private:
  std::string* const target_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  Outcome outcome_;
};

Request RequestOf(std::string url) {
  Request request;
  request.url = std::move(url);
  return request;
}

Outcome Fetch(Request request, std::string* body = nullptr) {
  const auto kept = std::make_shared<Kept>();
  TestedTransport().Start(std::move(request), kept);
  Outcome outcome = kept->Wait();
  if (body != nullptr) *body = kept->body;
  return outcome;
}

// What a server that says `reply` once, and then goes, is taken for.
Outcome FetchOf(std::string reply, std::string* body = nullptr) {
  LoopbackServer server([&](Visitor& visitor) {
    if (!visitor.NextRequest().empty()) visitor.Send(reply);
  });
  return Fetch(RequestOf(server.Url("/a")), body);
}

int Threads() {
  int threads = 0;
  for ([[maybe_unused]] const auto& task : std::filesystem::directory_iterator("/proc/self/task")) ++threads;
  return threads;
}

TEST(CurlTransport, GivesHeadAndBody) {
  std::string body;
  const Outcome outcome =
      FetchOf("HTTP/1.1 200 Fine\r\nETag: \"1\"\r\nX-Two:  b \r\nContent-Length: 4\r\n\r\nbody", &body);
  EXPECT_EQ(outcome.fault, Fault::kNone) << outcome.reason;
  EXPECT_EQ(outcome.head.status, 200);
  EXPECT_EQ(outcome.head.Find("etag"), "\"1\"");
  EXPECT_EQ(outcome.head.Find("x-two"), "b");
  EXPECT_EQ(body, "body");
  EXPECT_EQ(outcome.received, 4);
  EXPECT_TRUE(outcome.connected);
  EXPECT_GT(outcome.first_byte_ns, 0);
  EXPECT_GE(outcome.total_ns, outcome.first_byte_ns);
}

TEST(CurlTransport, SendsWhatItIsGiven) {
  std::string sent;
  LoopbackServer server([&](Visitor& visitor) {
    sent = visitor.NextRequest();
    visitor.Send("HTTP/1.1 200 Fine\r\nContent-Length: 0\r\n\r\n");
  });
  Request request = RequestOf(server.Url("/a/../b%2Fc?x=%20&y"));
  request.method = "PUT";
  request.headers = {{"X-Empty", ""}, {"Range", "bytes=0-1"}};
  request.body = {"one ", "", "two"};
  const Outcome outcome = Fetch(std::move(request));
  EXPECT_EQ(outcome.fault, Fault::kNone) << outcome.reason;
  EXPECT_EQ(outcome.sent, 7);
  EXPECT_THAT(sent, HasSubstr("PUT /a/../b%2Fc?x=%20&y HTTP/1.1\r\n"));
  EXPECT_THAT(sent, HasSubstr("\r\nX-Empty:\r\n"));
  EXPECT_THAT(sent, HasSubstr("\r\nRange: bytes=0-1\r\n"));
  EXPECT_THAT(sent, HasSubstr("\r\nContent-Length: 7\r\n"));
  EXPECT_THAT(sent, HasSubstr("\r\n\r\none two"));
  EXPECT_EQ(sent.find("Expect"), std::string::npos);
  EXPECT_EQ(sent.find("Accept-Encoding"), std::string::npos);
}

TEST(CurlTransport, EachMethodHasItsForm) {
  std::vector<std::string> sent;
  LoopbackServer server([&](Visitor& visitor) {
    for (std::string request = visitor.NextRequest(); !request.empty(); request = visitor.NextRequest()) {
      sent.push_back(request);
      visitor.Send("HTTP/1.1 200 Fine\r\nContent-Length: 4\r\n\r\n");
      if (request.substr(0, 4) != "HEAD") visitor.Send("body");
    }
  });
  for (const char* const method : {"GET", "HEAD", "POST", "PUT", "DELETE"}) {
    Request request = RequestOf(server.Url("/a"));
    request.method = method;
    const Outcome outcome = Fetch(std::move(request));
    EXPECT_EQ(outcome.fault, Fault::kNone) << method << outcome.reason;
    EXPECT_EQ(outcome.received, std::string_view(method) == "HEAD" ? 0 : 4);
    EXPECT_EQ(sent.back().substr(0, sent.back().find(' ')), method);
  }
  EXPECT_THAT(sent[2], HasSubstr("Content-Length: 0\r\n"));
  EXPECT_THAT(sent[3], HasSubstr("Content-Length: 0\r\n"));
  EXPECT_EQ(sent[4].find("Content-Length"), std::string::npos);
  // The connection stays.
  EXPECT_EQ(server.connections(), 1);
}

TEST(CurlTransport, WritesStraightIntoTheTarget) {
  LoopbackServer server([](Visitor& visitor) {
    while (!visitor.NextRequest().empty()) visitor.Send("HTTP/1.1 200 Fine\r\nContent-Length: 4\r\n\r\nbody");
  });
  std::string target(4, '\0');
  const auto fits = std::make_shared<Kept>(&target);
  TestedTransport().Start(RequestOf(server.Url("/a")), fits);
  EXPECT_EQ(fits->Wait().fault, Fault::kNone);
  EXPECT_EQ(target, "body");
  EXPECT_EQ(fits->body, "");
  std::string small(3, '\0');
  const auto too_long = std::make_shared<Kept>(&small);
  TestedTransport().Start(RequestOf(server.Url("/a")), too_long);
  EXPECT_EQ(too_long->Wait().fault, Fault::kTooLong);
}

TEST(CurlTransport, RedirectsAreReplies) {
  const Outcome outcome = FetchOf("HTTP/1.1 307 There\r\nLocation: http://127.0.0.1:1/b\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(outcome.head.status, 307);
  EXPECT_EQ(outcome.head.Find("location"), "http://127.0.0.1:1/b");
}

TEST(CurlTransport, InterimRepliesAreLeftOut) {
  std::string body;
  const Outcome outcome = FetchOf(
      "HTTP/1.1 100 Continue\r\nX-A: 1\r\n\r\nHTTP/1.1 200 Fine\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n0\r\nX-After: 1\r\n\r\n",
      &body);
  EXPECT_EQ(outcome.head.status, 200);
  EXPECT_EQ(outcome.head.Find("x-a"), "");
  EXPECT_EQ(body, "abc");
}

TEST(CurlTransport, SaysWhatFailed) {
  EXPECT_EQ(FetchOf("").fault, Fault::kCut);
  const Outcome cut = FetchOf("HTTP/1.1 206 Part\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_EQ(cut.fault, Fault::kCut);
  EXPECT_EQ(cut.head.status, 206);
  EXPECT_EQ(cut.received, 3);
  EXPECT_EQ(FetchOf("HTTP/1.1 200 Fine\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n").fault, Fault::kCut);
  EXPECT_EQ(FetchOf("SSH-2.0-x\r\n\r\n").fault, Fault::kMalformed);
  EXPECT_EQ(FetchOf("HTTP/1.1 200 Fine\r\nContent-Length: -4\r\n\r\nbody").fault, Fault::kMalformed);
  std::string endless = "HTTP/1.1 200 Fine\r\n";
  for (int i = 0; i < 100'000; ++i) endless += "X-A: 1\r\n";
  const Outcome head = FetchOf(endless);
  EXPECT_EQ(head.fault, Fault::kMalformed) << head.reason;
  EXPECT_EQ(head.head.status, 0);
}

TEST(CurlTransport, AConnectionThatIsResetIsCut) {
  LoopbackServer server([](Visitor& visitor) {
    visitor.NextRequest();
    visitor.Send("HTTP/1.1 200 Fine\r\nContent-Length: 10\r\n\r\n");
    visitor.Reset();
  });
  EXPECT_EQ(Fetch(RequestOf(server.Url("/a"))).fault, Fault::kCut);
}

TEST(CurlTransport, AHostThatIsNotThereRefuses) {
  std::string url;
  {
    const LoopbackServer server([](Visitor&) {});
    url = server.Url("/a");
  }
  const Outcome outcome = Fetch(RequestOf(url));
  EXPECT_EQ(outcome.fault, Fault::kRefused);
  EXPECT_EQ(outcome.head.status, 0);
  // The others that waited for its addresses ask, too.
  std::vector<std::shared_ptr<Kept>> more;
  for (int i = 0; i < 20; ++i) {
    more.push_back(std::make_shared<Kept>());
    TestedTransport().Start(RequestOf(url), more.back());
  }
  for (const auto& each : more) EXPECT_EQ(each->Wait().fault, Fault::kRefused);
}

TEST(CurlTransport, AHostThatStallsIsTimedOut) {
  LoopbackServer server([](Visitor& visitor) {
    visitor.NextRequest();
    visitor.Send("HTTP/1.1 200 Fine\r\nContent-Length: 10\r\n\r\nab");
    visitor.Stall();
  });
  Request request = RequestOf(server.Url("/a"));
  request.deadline_ms = 50;
  const Outcome late = Fetch(request);
  EXPECT_EQ(late.fault, Fault::kTimedOut);
  EXPECT_EQ(late.received, 2);
  request.deadline_ms = 0;
  request.reach.idle_ms = 1;
  EXPECT_EQ(Fetch(request).fault, Fault::kTimedOut);
}

TEST(CurlTransport, AHostThatAcceptsNobodyIsRefused) {
  // A queue of one, which others fill.
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 0), 0);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  std::vector<int> others;
  for (int i = 0; i < 4; ++i) {
    others.push_back(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    connect(others.back(), reinterpret_cast<sockaddr*>(&address), size);
  }
  Request request = RequestOf("http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/");
  request.reach.connect_ms = 200;
  EXPECT_EQ(Fetch(request).fault, Fault::kRefused);
  // Those that wait for its addresses do not wait one after the other.
  std::vector<std::shared_ptr<Kept>> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(std::make_shared<Kept>());
    TestedTransport().Start(request, all.back());
  }
  for (const auto& each : all) {
    EXPECT_EQ(each->Wait().fault, Fault::kRefused);
    EXPECT_LT(each->Wait().total_ns, int64_t{10'000'000'000});
  }
  for (const int other : others) close(other);
  close(listener);
}

TEST(CurlTransport, ANameWithoutAnAddressSaysSo) {
  std::vector<std::shared_ptr<Kept>> all;
  for (int i = 0; i < 10; ++i) {
    all.push_back(std::make_shared<Kept>());
    Request request = RequestOf("http://a..b/");
    TestedTransport().Start(std::move(request), all.back());
  }
  for (const auto& each : all) EXPECT_EQ(each->Wait().fault, Fault::kNoHost) << each->Wait().reason;
}

TEST(CurlTransport, HeadersWithLineEndsAreNotSent) {
  Request request = RequestOf("http://127.0.0.1:1/");
  request.headers = {{"A", "b\r\nC: d"}};
  EXPECT_EQ(Fetch(std::move(request)).fault, Fault::kNotSent);
}

TEST(CurlTransport, OtherProtocolsAreNotSpoken) {
  EXPECT_EQ(Fetch(RequestOf("file:///etc/passwd")).fault, Fault::kNotSent);
}

TEST(CurlTransport, AddressesThatAreNotGoodAreNotSent) {
  for (const char* const url : {"http://127.0.0.1:99999/", "http://127.0.0.1:x/", "http://a b/", "http://"}) {
    EXPECT_EQ(Fetch(RequestOf(url)).fault, Fault::kNotSent) << url;
  }
}

TEST(CurlTransport, ErrorsShowNoPasswordOfAProxy) {
  for (const char* const proxy : {"htp://user:password@127.0.0.1:1", "http://user:password@127.0.0.1:x",
                                  "https://user:password@127.0.0.1:1", "http://user:password@127.0.0.1:1"}) {
    Request request = RequestOf("http://127.0.0.1:1/");
    request.reach.proxy = proxy;
    const Outcome outcome = Fetch(std::move(request));
    EXPECT_NE(outcome.fault, Fault::kNone);
    EXPECT_THAT(outcome.reason, Not(HasSubstr("password"))) << proxy;
  }
}

TEST(CurlTransport, CancelsAtAnyTime) {
  LoopbackServer server([](Visitor& visitor) {
    visitor.NextRequest();
    visitor.Stall();
  });
  std::vector<std::pair<Transport::Id, std::shared_ptr<Kept>>> all;
  for (int i = 0; i < 50; ++i) {
    const auto kept = std::make_shared<Kept>();
    const Transport::Id id = TestedTransport().Start(RequestOf(server.Url("/a")), kept);
    if (i % 2 == 0) TestedTransport().Cancel(id);
    all.emplace_back(id, kept);
  }
  for (const auto& [id, kept] : all) {
    TestedTransport().Cancel(id);
    EXPECT_EQ(kept->Wait().fault, Fault::kCancelled);
    TestedTransport().Cancel(id);
  }
  EXPECT_EQ(TestedTransport().outstanding(), 0);
}

TEST(CurlTransport, ManyRequestsNeedOneThread) {
  constexpr int kMany = 300;
  std::mutex mutex;
  std::condition_variable changed;
  int came = 0;
  bool goes = false;
  LoopbackServer server([&](Visitor& visitor) {
    visitor.NextRequest();
    std::unique_lock<std::mutex> lock(mutex);
    ++came;
    changed.notify_all();
    changed.wait(lock, [&] { return goes; });
    lock.unlock();
    visitor.Send("HTTP/1.1 200 Fine\r\nContent-Length: 4\r\n\r\nbody");
  });
  TestedTransport();
  const int before = Threads();
  std::vector<std::shared_ptr<Kept>> all;
  for (int i = 0; i < kMany; ++i) {
    all.push_back(std::make_shared<Kept>());
    TestedTransport().Start(RequestOf(server.Url("/a")), all.back());
  }
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return came == kMany; });
  // One of the server for each connection.
  EXPECT_LE(Threads(), before + kMany);
  goes = true;
  changed.notify_all();
  lock.unlock();
  for (const auto& kept : all) {
    EXPECT_EQ(kept->Wait().fault, Fault::kNone) << kept->Wait().reason;
    EXPECT_EQ(kept->body, "body");
  }
}

TEST(CurlTransport, CallsAfterATimeInOrder) {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<int> order;
  const auto add = [&](int number) {
    return [&, number] {
      const std::lock_guard<std::mutex> lock(mutex);
      order.push_back(number);
      changed.notify_all();
    };
  };
  const int64_t began = TestedTransport().Now();
  TestedTransport().After(20'000'000, add(3));
  TestedTransport().After(10'000'000, add(2));
  TestedTransport().After(0, add(1));
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return order.size() == 3; });
  EXPECT_EQ(order, std::vector<int>({1, 2, 3}));
  EXPECT_GE(TestedTransport().Now() - began, 20'000'000);
}

TEST(CurlTransport, DigestsAreTheStandardsOwn) {
  EXPECT_EQ(TestedTransport().DigestSha256({"a", "bc"}), PlainSha256({"abc"}));
  EXPECT_EQ(TestedTransport().DigestMd5({"message ", "digest"}), PlainMd5({"message digest"}));
  EXPECT_EQ(TestedTransport().HmacSha256("key", "text"), PlainHmacSha256("key", "text"));
  EXPECT_EQ(TestedTransport().HmacSha256("", ""), PlainHmacSha256("", ""));
  for (const size_t bytes : {31, 63, 64, 65, 200}) {
    const std::string key(bytes, '\x97');
    EXPECT_EQ(TestedTransport().HmacSha256(key, key), PlainHmacSha256(key, key)) << bytes;
  }
}

TEST(CurlTransport, SaysItsVersions) {
  EXPECT_THAT(TestedTransport().Versions(), HasSubstr("curl "));
  EXPECT_THAT(TestedTransport().Versions(), HasSubstr(", OpenSSL "));
}

}  // namespace
}  // namespace headrace::http
