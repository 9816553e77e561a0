#include "io/files/http/http_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/stop_signal.h"
#include "io/files/http/testing/fake_transport.h"

namespace headrace::http {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecondNs = 1000 * kMs;

std::string SomeBytes(size_t count) {
  std::string bytes(count, '\0');
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>(i * 7 + i / 251);
  return bytes;
}

FakeReply StatusReply(int status) {
  FakeReply reply;
  reply.status = status;
  return reply;
}

FakeReply FaultReply(Fault fault) {
  FakeReply reply;
  reply.status = 0;
  reply.fault = fault;
  return reply;
}

Call PlainGet() {
  Call call;
  call.name = "test://a";
  call.request.url = "http://host/a";
  return call;
}

Call GetInto(std::string& target, int64_t offset = 0) {
  Call call = PlainGet();
  call.range = {offset, static_cast<int64_t>(target.size())};
  call.target = absl::MakeSpan(reinterpret_cast<uint8_t*>(target.data()), target.size());
  return call;
}

// Runs a call against a server that answers as `answer` says.
absl::StatusOr<Reply> Ask(FakeTransport::Answer answer, Call call) {
  FakeTransport transport(std::move(answer));
  HttpClient client(&transport, {});
  return client.Run(std::move(call));
}

// Waits for calls, and knows when they ended: the clock jumps on.
class Ends {
 public:
  explicit Ends(FakeTransport* transport, int calls) : transport_(transport), left_(calls) {}
  HttpClient::Done Done() {
    return [this](absl::StatusOr<Reply> reply) {
      const std::lock_guard<std::mutex> lock(mutex_);
      last_ns_ = transport_->Now();
      replies_.push_back(std::move(reply));
      if (--left_ == 0) all_.notify_all();
    };
  }
  const std::vector<absl::StatusOr<Reply>>& Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    all_.wait(lock, [&] { return left_ == 0; });
    return replies_;
  }
  int64_t last_ns() const { return last_ns_; }

 private:
  FakeTransport* const transport_;
  std::mutex mutex_;
  std::condition_variable all_;
  int left_;
  int64_t last_ns_ = 0;
  std::vector<absl::StatusOr<Reply>> replies_;
};

TEST(HttpClient, GivesAPlainReply) {
  const auto reply = Ask([](const FakeRequest& request) { return ServeBytes(request, "bytes", "\"1\""); }, PlainGet());
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->head.status, 200);
  EXPECT_EQ(reply->head.Find("etag"), "\"1\"");
  EXPECT_EQ(reply->body, "bytes");
  EXPECT_EQ(reply->received, 5);
  EXPECT_EQ(reply->attempts, 1);
}

TEST(HttpClient, StatusesThatRepeatingCannotHelpAreResults) {
  for (const int status : {201, 204, 301, 400, 403, 404, 412, 416, 501}) {
    const auto reply = Ask([&](const FakeRequest&) { return StatusReply(status); }, PlainGet());
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(reply->head.status, status);
    EXPECT_EQ(reply->attempts, 1);
  }
}

TEST(HttpClient, PutsARangeIntoTheTarget) {
  const std::string file = SomeBytes(5000);
  std::string target(1000, '\0');
  const auto reply =
      Ask([&](const FakeRequest& request) { return ServeBytes(request, file, "\"1\""); }, GetInto(target, 4500));
  ASSERT_TRUE(reply.ok()) << reply.status();
  // The file ends before the range.
  EXPECT_EQ(reply->received, 500);
  EXPECT_EQ(target.substr(0, 500), file.substr(4500));
}

TEST(HttpClient, RepeatsWhatFailed) {
  for (const int status : {408, 429, 500, 502, 503, 504}) {
    const auto reply = Ask(
        [&](const FakeRequest& request) {
          return request.number < 3 ? StatusReply(status) : ServeBytes(request, "bytes", "");
        },
        PlainGet());
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(reply->body, "bytes");
    EXPECT_EQ(reply->attempts, 4);
  }
  for (const Fault fault : {Fault::kNoHost, Fault::kRefused, Fault::kTimedOut, Fault::kCut, Fault::kOther}) {
    const auto reply = Ask(
        [&](const FakeRequest& request) {
          return request.number < 3 ? FaultReply(fault) : ServeBytes(request, "bytes", "");
        },
        PlainGet());
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(reply->attempts, 4);
  }
}

TEST(HttpClient, GoesOnFromTheByteThatACutBodyReached) {
  const std::string file = SomeBytes(300'000);
  for (const int64_t cut : {int64_t{0}, int64_t{1}, int64_t{150'000}, int64_t{199'999}}) {
    std::string target(200'000, '\0');
    std::vector<std::string> ranges;
    const auto reply = Ask(
        [&](const FakeRequest& request) {
          ranges.emplace_back(request.Find("range"));
          if (request.number == 1) {
            EXPECT_EQ(request.Find("if-match"), cut == 0 ? "" : "\"1\"");
          }
          FakeReply sent = ServeBytes(request, file, "\"1\"");
          if (request.number > 0) return sent;
          sent.fault = Fault::kCut;
          sent.cut_at = cut;
          return sent;
        },
        GetInto(target, 50'000));
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(target, file.substr(50'000, 200'000));
    EXPECT_EQ(reply->received, 200'000);
    ASSERT_EQ(ranges.size(), 2u);
    EXPECT_EQ(ranges[0], "bytes=50000-249999");
    EXPECT_EQ(ranges[1], "bytes=" + std::to_string(50'000 + cut) + "-249999");
  }
}

TEST(HttpClient, ABodyThatCameWholeNeedsNoOtherRequestWhateverFollowed) {
  const std::string file = SomeBytes(100);
  std::string target(100, '\0');
  const auto reply = Ask(
      [&](const FakeRequest& request) {
        FakeReply sent = ServeBytes(request, file, "\"1\"");
        sent.fault = Fault::kCut;
        sent.cut_at = 100;
        return sent;
      },
      GetInto(target));
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->attempts, 1);
  EXPECT_EQ(target, file);
}

TEST(HttpClient, WithoutAStrongEtagACutBodyBeginsAnew) {
  const std::string file = SomeBytes(1000);
  for (const char* const etag : {"", "W/\"1\""}) {
    std::string target(1000, '\0');
    const auto reply = Ask(
        [&](const FakeRequest& request) {
          EXPECT_EQ(request.Find("range"), "bytes=0-999");
          EXPECT_EQ(request.Find("if-match"), "");
          FakeReply sent = ServeBytes(request, file, etag);
          if (request.number > 0) return sent;
          sent.fault = Fault::kCut;
          sent.cut_at = 500;
          return sent;
        },
        GetInto(target));
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(target, file);
  }
}

TEST(HttpClient, AFileThatChangedBetweenItsPartsIsAnError) {
  // Of a host that heeds If-Match, and of one that does not.
  for (const bool heeds : {true, false}) {
    std::string target(1000, '\0');
    const auto reply = Ask(
        [&](const FakeRequest& given) {
          FakeRequest request = given;
          if (!heeds) std::erase_if(request.headers, [](const Header& header) { return header.name == "If-Match"; });
          if (given.number > 0) return ServeBytes(request, std::string(1000, 'b'), "\"2\"");
          FakeReply sent = ServeBytes(request, std::string(1000, 'a'), "\"1\"");
          sent.fault = Fault::kCut;
          sent.cut_at = 500;
          return sent;
        },
        GetInto(target));
    EXPECT_EQ(KindOf(reply.status()), ErrorKind::kData);
    EXPECT_THAT(std::string(reply.status().message()), HasSubstr("test://a changed while it was read"));
    EXPECT_EQ(target.find('b'), std::string::npos);
  }
}

TEST(HttpClient, RefusesOtherPartsThanItAskedFor) {
  const std::string file = SomeBytes(1000);
  for (const char* const range : {"bytes 1-100/1000", "bytes 0-98/1000", "bytes 0-100/1000", "bytes 0-99/50", "none"}) {
    std::string target(100, '\0');
    const auto reply = Ask(
        [&](const FakeRequest&) {
          FakeReply sent = StatusReply(206);
          sent.headers.push_back({"content-range", range});
          sent.body = file.substr(0, 100);
          return sent;
        },
        GetInto(target));
    EXPECT_EQ(KindOf(reply.status()), ErrorKind::kData) << range;
    EXPECT_THAT(std::string(reply.status().message()),
                AllOf(HasSubstr("test://a"), HasSubstr("3 attempts"), HasSubstr(range)));
    EXPECT_EQ(target, std::string(100, '\0'));
  }
}

TEST(HttpClient, TakesTheWholeForAPartOnlyIfThatIsGood) {
  const std::string file = SomeBytes(1000);
  const auto whole = [&](const FakeRequest&) {
    FakeReply sent;
    sent.body = file;
    return sent;
  };
  std::string target(100, '\0');
  const auto refused = Ask(whole, GetInto(target));
  EXPECT_EQ(KindOf(refused.status()), ErrorKind::kData);
  Call call = PlainGet();
  call.range = {0, 100};
  call.whole_is_good = true;
  const auto reply = Ask(whole, std::move(call));
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->head.status, 200);
  EXPECT_EQ(reply->body, file);
}

TEST(HttpClient, AWholeThatIsGoodGoesIntoTheTargetIfItFits) {
  for (const char* const length : {"", "unknown"}) {
    for (const size_t size : {size_t{100}, size_t{101}}) {
      const std::string file = SomeBytes(size);
      std::string target(100, '\0');
      Call call = GetInto(target);
      call.whole_is_good = true;
      const auto reply = Ask(
          [&](const FakeRequest&) {
            FakeReply sent;
            if (*length != '\0') sent.headers.push_back({"content-length", length});
            sent.body = file;
            return sent;
          },
          std::move(call));
      ASSERT_TRUE(reply.ok()) << reply.status();
      EXPECT_EQ(reply->received, static_cast<int64_t>(size));
      EXPECT_EQ(size == 100 ? target : reply->body, file);
      EXPECT_EQ(reply->body.empty(), size == 100);
    }
  }
}

TEST(HttpClient, BodiesHaveALimit) {
  Call call = PlainGet();
  call.most_body = 999;
  const auto known = Ask([](const FakeRequest& request) { return ServeBytes(request, SomeBytes(1000), ""); }, call);
  EXPECT_EQ(KindOf(known.status()), ErrorKind::kResource);
  const auto unknown = Ask(
      [](const FakeRequest&) {
        FakeReply sent;
        sent.headers.push_back({"content-length", "unknown"});
        sent.body = SomeBytes(1'000'000);
        return sent;
      },
      call);
  EXPECT_EQ(KindOf(unknown.status()), ErrorKind::kResource);
}

TEST(HttpClient, AHeadThatItsCheckRefusesGivesNoByte) {
  std::string target(10, 'x');
  Call call = GetInto(target);
  call.check = [](const Head& head) { return DataError("refused: ", head.Find("etag")); };
  const auto reply = Ask([](const FakeRequest& request) { return ServeBytes(request, "0123456789", "\"1\""); }, call);
  EXPECT_EQ(std::string(reply.status().message()), "refused: \"1\"");
  EXPECT_EQ(target, "xxxxxxxxxx");
}

TEST(HttpClient, AnUnknownHostThatIsNotReachedIsGivenUpSoon) {
  FakeTransport transport([](const FakeRequest&) { return FaultReply(Fault::kRefused); });
  HttpClient client(&transport, {});
  const auto reply = client.Run(PlainGet());
  EXPECT_EQ(KindOf(reply.status()), ErrorKind::kResource);
  EXPECT_TRUE(IsBeyondRow(reply.status()));
  EXPECT_THAT(std::string(reply.status().message()),
              AllOf(HasSubstr("test://a: its host cannot be reached"), HasSubstr("4 attempts")));
  EXPECT_LT(transport.Now(), kSecondNs);
}

TEST(HttpClient, AHostThatWasThereIsWaitedFor) {
  // 60 seconds in which nothing is good.
  FakeTransport transport([&](const FakeRequest& request) {
    const bool away = request.at_ns > kSecondNs && request.at_ns < 61 * kSecondNs;
    FakeReply reply = away ? StatusReply(503) : ServeBytes(request, "bytes", "");
    reply.lasts_ns = 100 * kMs;
    return reply;
  });
  HttpClient client(&transport, {});
  for (int i = 0; i < 20; ++i) {
    const auto reply = client.Run(PlainGet());
    ASSERT_TRUE(reply.ok()) << reply.status();
  }
  EXPECT_GT(transport.Now(), 61 * kSecondNs);
  EXPECT_GT(client.counters().throttled, 2);
}

TEST(HttpClient, AHostThatStaysAwayIsGivenUp) {
  FakeTransport transport([](const FakeRequest&) { return StatusReply(503); });
  HttpClient client(&transport, {});
  const auto reply = client.Run(PlainGet());
  EXPECT_EQ(KindOf(reply.status()), ErrorKind::kResource);
  EXPECT_THAT(std::string(reply.status().message()), HasSubstr("status 503"));
  EXPECT_GT(transport.Now(), 90 * kSecondNs);
  EXPECT_LT(transport.requests().size(), 40u);
}

TEST(HttpClient, CertificatesAreNotTriedAgain) {
  FakeTransport transport([](const FakeRequest&) { return FaultReply(Fault::kTls); });
  HttpClient client(&transport, {});
  const auto reply = client.Run(PlainGet());
  EXPECT_THAT(std::string(reply.status().message()), HasSubstr("ca_file="));
  EXPECT_EQ(transport.requests().size(), 1u);
}

TEST(HttpClient, RetryAfterIsTheLeastWait) {
  FakeTransport transport([](const FakeRequest& request) {
    FakeReply reply = request.number == 0 ? StatusReply(503) : ServeBytes(request, "bytes", "");
    reply.headers.push_back({"retry-after", "7"});
    return reply;
  });
  HttpClient client(&transport, {});
  ASSERT_TRUE(client.Run(PlainGet()).ok());
  EXPECT_GE(transport.requests()[1].at_ns, 7 * kSecondNs);
  EXPECT_GE(client.counters().paused_ns, 7 * kSecondNs);
}

TEST(HttpClient, RequestsThatMayNotBeRepeatedAreRepeatedOnlyIfTheyReachedNobody) {
  Call call = PlainGet();
  call.may_repeat = false;
  const auto reached = Ask([](const FakeRequest&) { return FaultReply(Fault::kCut); }, call);
  EXPECT_THAT(std::string(reached.status().message()), HasSubstr("1 attempt,"));
  const auto refused = Ask(
      [](const FakeRequest& request) { return request.number == 0 ? FaultReply(Fault::kRefused) : StatusReply(200); },
      call);
  EXPECT_TRUE(refused.ok()) << refused.status();
}

TEST(HttpClient, ACallMayHaveFewerAttempts) {
  Call call = PlainGet();
  call.most_attempts = 1;
  const auto reply = Ask([](const FakeRequest&) { return FaultReply(Fault::kRefused); }, call);
  EXPECT_THAT(std::string(reply.status().message()), HasSubstr("1 attempt,"));
}

TEST(HttpClient, TheDeadlineIsOfAllAttempts) {
  FakeTransport transport([](const FakeRequest&) {
    FakeReply reply;
    reply.status = 0;
    reply.stalls = true;
    return reply;
  });
  HttpClient client(&transport, {.idle_ms = 1000});
  Call call = PlainGet();
  call.request.deadline_ms = 2500;
  const auto reply = client.Run(std::move(call));
  EXPECT_EQ(KindOf(reply.status()), ErrorKind::kResource);
  EXPECT_LE(transport.Now(), 2500 * kMs);
  EXPECT_GE(transport.requests().size(), 2u);
}

TEST(HttpClient, EachAttemptIsPreparedAnew) {
  Call call = PlainGet();
  int prepared = 0;
  call.prepare = [&](Request& attempt, int64_t received) {
    EXPECT_EQ(received, 0);
    attempt.headers.push_back({"signature", std::to_string(++prepared)});
    return absl::OkStatus();
  };
  call.judge = [](const Head& head, std::string_view) {
    return head.status == 403 ? Verdict::kRetryAtOnce : Verdict::kResult;
  };
  FakeTransport transport([](const FakeRequest& request) {
    EXPECT_EQ(request.Find("signature"), std::to_string(request.number + 1));
    return StatusReply(403);
  });
  HttpClient client(&transport, {});
  const auto reply = client.Run(std::move(call));
  ASSERT_TRUE(reply.ok()) << reply.status();
  // Once alone, and without a wait.
  EXPECT_EQ(reply->attempts, 2);
  EXPECT_EQ(transport.Now(), 0);
}

TEST(HttpClient, AnErrorOfPrepareEndsTheCallAndLeavesItsPlace) {
  FakeTransport transport([](const FakeRequest&) { return StatusReply(200); });
  HttpClient client(&transport, {.connections = 1});
  Call bad = PlainGet();
  bad.prepare = [](Request&, int64_t) { return DataError("no key"); };
  EXPECT_EQ(std::string(client.Run(bad).status().message()), "no key");
  EXPECT_TRUE(client.Run(PlainGet()).ok());
}

TEST(HttpClient, PartsThatPrepareAsksForAreResumed) {
  const std::string file = SomeBytes(1000);
  std::string target(1000, '\0');
  Call call = PlainGet();
  call.target = absl::MakeSpan(reinterpret_cast<uint8_t*>(target.data()), target.size());
  call.prepare_resumes = true;
  call.prepare = [](Request& attempt, int64_t received) {
    attempt.url += "?offset=" + std::to_string(received);
    return absl::OkStatus();
  };
  const auto reply = Ask(
      [&](const FakeRequest& request) {
        FakeReply sent;
        const size_t offset = std::stoul(request.url.substr(request.url.find('=') + 1));
        sent.body = file.substr(offset);
        if (request.number > 0) return sent;
        sent.fault = Fault::kTimedOut;
        sent.cut_at = 600;
        return sent;
      },
      call);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(target, file);
  EXPECT_EQ(reply->received, 1000);
}

TEST(HttpClient, ARaisedStopSignalCancels) {
  FakeTransport transport([](const FakeRequest&) {
    FakeReply reply;
    reply.stalls = true;
    return reply;
  });
  HttpClient client(&transport, {.idle_ms = 0});
  std::atomic<bool> stop = true;
  const StopSignal signal(&stop);
  const auto reply = client.Run(PlainGet());
  EXPECT_EQ(KindOf(reply.status()), ErrorKind::kClosed);
  EXPECT_EQ(transport.outstanding(), 0);
}

TEST(HttpClient, CallsThatWaitForAPlaceAreCancelled) {
  FakeTransport transport(
      [](const FakeRequest&) {
        FakeReply reply;
        reply.after_ns = kSecondNs;
        return reply;
      },
      FakeTransport::Time::kByHand);
  HttpClient client(&transport, {.connections = 1});
  std::vector<std::string> ends;
  const auto end = [&](std::string name) {
    return
        [&ends, name](const absl::StatusOr<Reply>& reply) { ends.push_back(name + (reply.ok() ? " ok" : " closed")); };
  };
  client.Start(PlainGet(), end("first"));
  const HttpClient::Id second = client.Start(PlainGet(), end("second"));
  client.Start(PlainGet(), end("third"));
  transport.Advance(0);
  EXPECT_EQ(transport.outstanding(), 1);
  client.Cancel(second);
  transport.Advance(0);
  EXPECT_EQ(ends, std::vector<std::string>({"second closed"}));
  transport.Advance(2 * kSecondNs);
  EXPECT_EQ(ends, std::vector<std::string>({"second closed", "first ok", "third ok"}));
}

TEST(HttpClient, ASlowReadIsSentASecondTime) {
  const std::string file = SomeBytes(10'000);
  FakeTransport transport([&](const FakeRequest& request) {
    FakeReply reply = ServeBytes(request, file, "\"1\"");
    reply.after_ns = request.number == 300 ? 30 * kSecondNs : 10 * kMs;
    return reply;
  });
  HttpClient client(&transport, {});
  for (int i = 0; i <= 300; ++i) {
    std::string target(10'000, '\0');
    Call call = GetInto(target);
    call.may_hedge = true;
    Ends ends(&transport, 1);
    client.Start(std::move(call), ends.Done());
    const absl::StatusOr<Reply>& reply = ends.Wait().front();
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(target, file);
    EXPECT_EQ(reply->attempts, i == 300 ? 2 : 1);
    EXPECT_LT(ends.last_ns() - transport.requests()[static_cast<size_t>(i)].at_ns, kSecondNs);
  }
  EXPECT_EQ(client.counters().hedges, 1);
  EXPECT_EQ(client.counters().reads, 301);
  // The slow sending is cancelled after its call has ended: before the next one ends.
  Ends next(&transport, 1);
  client.Start(PlainGet(), next.Done());
  next.Wait();
  EXPECT_EQ(transport.cancelled(), 1);
}

TEST(HttpClient, ASlowReadIsSentToWhereItsCallFindsOne) {
  const std::string file = SomeBytes(10'000);
  int to_other = 0;
  FakeTransport transport([&](const FakeRequest& request) {
    FakeReply reply = ServeBytes(request, file, "\"1\"");
    if (request.url != "http://other/file") {
      reply.after_ns = request.number >= 300 ? 30 * kSecondNs : 10 * kMs;
    } else if (++to_other == 2) {
      // It does not have what the first gives later.
      reply = StatusReply(404);
    }
    return reply;
  });
  HttpClient client(&transport, {});
  int64_t last_ns = 0;
  for (int i = 0; i < 302; ++i) {
    std::string target(10'000, '\0');
    Call call = GetInto(target);
    call.may_hedge = true;
    call.find_hedge = [](int64_t received, const Call::FoundHedge& found) {
      EXPECT_EQ(received, 0);
      Request request;
      request.url = "http://other/file";
      request.headers = {{"Range", "bytes=0-9999"}};
      found(std::move(request));
    };
    const int64_t began_ns = transport.Now();
    Ends ends(&transport, 1);
    client.Start(std::move(call), ends.Done());
    ASSERT_TRUE(ends.Wait().front().ok());
    EXPECT_EQ(target, file);
    last_ns = ends.last_ns() - began_ns;
    if (i < 301) {
      EXPECT_LT(last_ns, kSecondNs);
    }
  }
  EXPECT_GE(last_ns, 30 * kSecondNs);
  EXPECT_EQ(to_other, 2);
  EXPECT_EQ(client.counters().hedges, 2);
}

FakeReply PartReply(std::string body, std::string content_range) {
  FakeReply reply;
  reply.status = 206;
  reply.headers = {{"content-range", std::move(content_range)}, {"etag", "\"1\""}};
  reply.body = std::move(body);
  return reply;
}

// A read of 10'000 bytes that is sent a second time: the first sending gives its head after 30 s.
struct ReadTwice {
  enum class Second { kSameHost, kOtherPlace };

  // `cut_at`: where the first sending breaks off; -1: it does not.
  ReadTwice(Second second, int64_t cut_at, const FakeReply& reply_of_second);

  std::string target = std::string(10'000, '\0');
  absl::StatusOr<Reply> reply;
  StoreCounters counters;
  std::string last_range;
};

ReadTwice::ReadTwice(Second second, int64_t cut_at, const FakeReply& reply_of_second) {
  constexpr int kBefore = 60;  // they earn the second sending
  const std::string file = SomeBytes(10'000);
  FakeTransport transport([&](const FakeRequest& request) {
    if (request.number == kBefore + 1) {
      EXPECT_EQ(request.url, second == Second::kOtherPlace ? "http://other/a" : "http://host/a");
      return reply_of_second;
    }
    FakeReply honest = ServeBytes(request, file, "\"1\"");
    honest.after_ns = request.number == kBefore ? 30 * kSecondNs : 10 * kMs;
    if (request.number == kBefore && cut_at >= 0) {
      honest.fault = Fault::kCut;
      honest.cut_at = cut_at;
    }
    return honest;
  });
  HttpClient client(&transport, {});
  for (int i = 0; i < kBefore; ++i) EXPECT_TRUE(client.Run(GetInto(target)).ok());
  target.assign(10'000, '\0');
  Call call = GetInto(target);
  call.may_hedge = true;
  call.check = [](const Head& head) {
    return head.Find("etag") == "\"1\"" ? absl::OkStatus() : DataError("test://a: another version");
  };
  if (second == Second::kOtherPlace) {
    call.find_hedge = [](int64_t /*received*/, const Call::FoundHedge& found) {
      Request request;
      request.url = "http://other/a";
      found(std::move(request));
    };
  }
  reply = client.Run(std::move(call));
  counters = client.counters();
  last_range = transport.requests().back().Find("range");
}

// What a second sending may end with, other than the bytes.
std::vector<FakeReply> LostReplies() {
  FakeReply other_version = PartReply(SomeBytes(10'000), "bytes 0-9999/10000");
  other_version.headers.back().value = "\"2\"";
  FakeReply cut = PartReply(SomeBytes(10'000), "bytes 0-9999/10000");
  cut.fault = Fault::kCut;
  cut.cut_at = 10;
  return {FaultReply(Fault::kTls),
          FaultReply(Fault::kNotSent),
          FaultReply(Fault::kTooLong),
          FaultReply(Fault::kRefused),
          StatusReply(404),
          StatusReply(503),
          PartReply(SomeBytes(10), "bytes 5-14/10000"),
          other_version,
          cut};
}

TEST(HttpClient, ASecondSendingThatBringsNothingEndsNoCall) {
  for (const ReadTwice::Second second : {ReadTwice::Second::kSameHost, ReadTwice::Second::kOtherPlace}) {
    for (const FakeReply& lost : LostReplies()) {
      SCOPED_TRACE(testing::Message() << "fault " << static_cast<int>(lost.fault) << ", status " << lost.status);
      const ReadTwice read(second, -1, lost);
      ASSERT_TRUE(read.reply.ok()) << read.reply.status();
      EXPECT_EQ(read.reply->head.status, 206);
      EXPECT_EQ(read.reply->attempts, 2);
      EXPECT_EQ(read.target, SomeBytes(10'000));
      EXPECT_EQ(read.counters.hedges, 1);
      EXPECT_EQ(read.counters.throttled, lost.status == 503 ? 1 : 0);
    }
  }
}

TEST(HttpClient, WhatAnotherPlaceLacksIsNotTheEndOfTheFile) {
  const ReadTwice read(ReadTwice::Second::kOtherPlace, -1, PartReply(SomeBytes(10), "bytes 0-9/10"));
  ASSERT_TRUE(read.reply.ok()) << read.reply.status();
  EXPECT_EQ(read.reply->received, 10'000);
  EXPECT_EQ(read.target, SomeBytes(10'000));
}

TEST(HttpClient, TheFirstPlaceIsAskedOnWhereItBrokeOffAndAnotherGaveNothing) {
  for (FakeReply lost : LostReplies()) {
    SCOPED_TRACE(testing::Message() << "fault " << static_cast<int>(lost.fault) << ", status " << lost.status);
    // After the first has broken off.
    lost.after_ns = 40 * kSecondNs;
    const ReadTwice read(ReadTwice::Second::kOtherPlace, 4000, lost);
    ASSERT_TRUE(read.reply.ok()) << read.reply.status();
    EXPECT_EQ(read.reply->attempts, 3);
    EXPECT_EQ(read.last_range, "bytes=4000-9999");
    EXPECT_EQ(read.target, SomeBytes(10'000));
  }
}

TEST(HttpClient, SecondSendingsAreFew) {
  FakeTransport transport([&](const FakeRequest& request) {
    FakeReply reply = ServeBytes(request, "bytes", "\"1\"");
    reply.after_ns = 5 * kSecondNs;
    return reply;
  });
  HttpClient client(&transport, {});
  for (int i = 0; i < 500; ++i) {
    std::string target(5, '\0');
    Call call = GetInto(target);
    call.may_hedge = true;
    ASSERT_TRUE(client.Run(std::move(call)).ok());
  }
  EXPECT_LE(client.counters().hedges, 10);
}

TEST(HttpClient, ATenthOf503sCostsLittle) {
  FakeTransport transport([](const FakeRequest& request) {
    FakeReply reply = request.number % 10 == 0 ? StatusReply(503) : ServeBytes(request, "bytes", "");
    reply.after_ns = 20 * kMs;
    return reply;
  });
  HttpClient client(&transport, {.connections = 16});
  constexpr int kCalls = 2000;
  Ends ends(&transport, kCalls);
  for (int i = 0; i < kCalls; ++i) client.Start(PlainGet(), ends.Done());
  for (const absl::StatusOr<Reply>& reply : ends.Wait()) EXPECT_TRUE(reply.ok()) << reply.status();
  EXPECT_LE(transport.most_outstanding(), 16);
  // 2,223 requests of 20 ms, 16 at once: 2.8 s.
  EXPECT_LT(ends.last_ns(), 3500 * kMs);
}

TEST(HttpClient, CountsWhatTheNetworkDid) {
  FakeTransport transport([](const FakeRequest& request) {
    FakeReply reply = request.number == 0 ? StatusReply(500) : ServeBytes(request, "bytes", "");
    reply.after_ns = 3 * kMs;
    reply.lasts_ns = 2 * kMs;
    reply.connects = request.number == 0;
    return reply;
  });
  HttpClient client(&transport, {});
  Call call = PlainGet();
  call.purpose = Purpose::kWrite;
  const std::string body = "sent";
  call.request.method = "PUT";
  call.request.body = {body};
  ASSERT_TRUE(client.Run(std::move(call)).ok());
  const StoreCounters counters = client.counters();
  EXPECT_EQ(counters.reads, 0);
  EXPECT_EQ(counters.writes, 1);
  EXPECT_EQ(counters.retries, 1);
  EXPECT_EQ(counters.throttled, 0);
  EXPECT_EQ(counters.received, 5);
  EXPECT_EQ(counters.sent, 8);
  EXPECT_EQ(counters.connections, 1);
  EXPECT_EQ(counters.waiting_ns, 6 * kMs);
  EXPECT_EQ(counters.transfer_ns, 4 * kMs);
}

TEST(HttpClient, ErrorsNameNoUrl) {
  Call call = PlainGet();
  call.request.url = "http://host/a?signature=secret";
  const auto reply = Ask([](const FakeRequest&) { return FaultReply(Fault::kRefused); }, call);
  EXPECT_EQ(std::string(reply.status().message()).find("secret"), std::string::npos);
}

TEST(HttpClient, AHeadMayNameMoreBytesThanAreTakenWhole) {
  Call call = PlainGet();
  call.request.method = "HEAD";
  call.most_body = 1000;
  const auto reply = Ask(
      [](const FakeRequest&) {
        FakeReply sent;
        sent.headers.push_back({"content-length", "1000000000000"});
        return sent;
      },
      std::move(call));
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->head.Find("content-length"), "1000000000000");
}

TEST(HttpClient, APartThatEndsAtTheLastNumberIsRefused) {
  std::string target(4, '\0');
  const auto reply = Ask(
      [](const FakeRequest&) {
        FakeReply sent;
        sent.status = 206;
        sent.headers.push_back({"content-range", "bytes 0-9223372036854775807/*"});
        sent.body = "abcd";
        return sent;
      },
      GetInto(target));
  EXPECT_EQ(KindOf(reply.status()), ErrorKind::kData);
}

TEST(HttpClient, BytesBeyondThoseThatTheHeadNamesAreRefused) {
  std::string target(1000, '\0');
  const auto reply = Ask(
      [](const FakeRequest&) {
        FakeReply sent;
        sent.status = 206;
        // Without a length, as in chunks.
        sent.headers = {{"content-range", "bytes 0-499/500"}, {"content-length", ""}, {"etag", "\"1\""}};
        sent.body = SomeBytes(1000);
        return sent;
      },
      GetInto(target));
  EXPECT_EQ(KindOf(reply.status()), ErrorKind::kData) << reply.status();
  EXPECT_EQ(target.substr(500), std::string(500, '\0'));
}

TEST(HttpClient, ErrorsShowTheBeginningOfWhatAHostSays) {
  std::string target(4, '\0');
  const auto reply = Ask(
      [](const FakeRequest&) {
        FakeReply sent;
        sent.status = 206;
        sent.headers.push_back({"content-range", std::string(100'000, 'x')});
        return sent;
      },
      GetInto(target));
  EXPECT_EQ(KindOf(reply.status()), ErrorKind::kData);
  EXPECT_LT(reply.status().message().size(), 1000u);
}

TEST(HttpClient, ARequestThatCannotBeSentIsAnErrorAtOnce) {
  FakeTransport transport([](const FakeRequest&) { return FaultReply(Fault::kNotSent); });
  HttpClient client(&transport, {});
  const auto reply = client.Run(PlainGet());
  EXPECT_EQ(KindOf(reply.status()), ErrorKind::kGraph);
  EXPECT_EQ(transport.requests().size(), 1u);
}

TEST(HttpClient, TheRestOfOneVersionIsNotPutAfterTheWholeOfAnother) {
  const std::string old_file = SomeBytes(1000);
  const std::string new_file(1000, 'n');
  std::string target(1000, '\0');
  Call call = GetInto(target);
  call.whole_is_good = true;
  call.may_hedge = true;
  std::atomic<int> parts = 0;
  FakeTransport transport([&](const FakeRequest& request) {
    FakeReply sent;
    if (request.Find("range").empty()) return sent;
    switch (parts.fetch_add(1)) {
      case 0:
        sent = ServeBytes(request, old_file, "\"old\"");
        sent.fault = Fault::kCut;
        sent.cut_at = 100;
        break;
      case 1:
        // Takes no notice of Range and If-Match, and is slow.
        sent.body = new_file;
        sent.headers.push_back({"etag", "\"new\""});
        sent.after_ns = 3 * kSecondNs;
        sent.lasts_ns = 10 * kSecondNs;
        break;
      case 2:
        // Sent before that head came, and first to end.
        EXPECT_EQ(request.Find("range"), "bytes=100-999");
        sent = ServeBytes(request, old_file, "\"old\"");
        sent.after_ns = 5 * kSecondNs;
        break;
      default:
        sent = ServeBytes(request, new_file, "\"new\"");
    }
    return sent;
  });
  HttpClient client(&transport, {});
  // Second sendings are earned.
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(client.Run(PlainGet()).ok());
  const auto reply = client.Run(std::move(call));
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->received, 1000);
  EXPECT_EQ(target, new_file);
}

}  // namespace
}  // namespace headrace::http
