#include "io/files/http/http_file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/cancellation.h"
#include "io/files/http/awaited_result.h"
#include "io/files/http/testing/fake_transport.h"
#include "io/files/output_stream.h"

namespace headrace::http {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMegabyte = int64_t{1} << 20;

std::string FileBytes(int64_t count) {
  std::string bytes(static_cast<size_t>(count), '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31 + i / 4093);
  return bytes;
}

std::string TextOf(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.data<uint8_t>()), static_cast<size_t>(tensor.bytes())};
}

FakeReply RedirectTo(std::string location) {
  FakeReply reply;
  reply.status = 302;
  reply.headers.push_back({"location", std::move(location)});
  return reply;
}

// A file system over a server that answers as `answer` says.
struct Served {
  explicit Served(FakeTransport::Answer answer, std::string authorization = "")
      : transport(std::move(answer)), files(&transport, {}, std::move(authorization)) {}
  std::string Text(const std::string& path) const {
    const absl::StatusOr<Tensor> read = files.Read(path);
    return read.ok() ? TextOf(*read) : std::string(read.status().message());
  }

  FakeTransport transport;
  HttpFileSystem files;
};

Served ServedFile(const std::string& bytes, const std::string& etag) {
  return Served([bytes, etag](const FakeRequest& request) { return ServeBytes(request, bytes, etag); });
}

TEST(HttpFileSystem, ReadsSmallFilesByOneRequest) {
  for (const int64_t size : {int64_t{0}, int64_t{1}, int64_t{110'000}, 8 * kMegabyte}) {
    const std::string file = FileBytes(size);
    Served served([&](const FakeRequest& request) { return ServeBytes(request, file, "\"1\""); });
    EXPECT_TRUE(served.Text("http://h/a") == file) << size;
    EXPECT_EQ(served.transport.requests().size(), 1u);
    EXPECT_EQ(served.transport.requests()[0].Find("accept-encoding"), "identity");
  }
}

TEST(HttpFileSystem, ReadsLargeFilesByPartsAtOnce) {
  const std::string file = FileBytes(20 * kMegabyte + 5);
  Served served([&](const FakeRequest& request) {
    EXPECT_EQ(request.Find("if-match"), request.number == 0 ? "" : "\"1\"");
    return ServeBytes(request, file, "\"1\"");
  });
  EXPECT_TRUE(served.Text("http://h/a") == file);
  EXPECT_EQ(served.transport.requests().size(), 3u);
}

TEST(HttpFileSystem, AListedFileIsReadWithoutAskingForItsSize) {
  const std::string file = FileBytes(20 * kMegabyte);
  Served served([&](const FakeRequest& request) { return ServeBytes(request, file, "\"1\""); });
  AwaitedResult<Tensor> awaited;
  served.files.StartRead("http://h/a", {static_cast<int64_t>(file.size()), VersionHash("\"1\"")},
                         [&](absl::StatusOr<Tensor> read) { awaited.Set(std::move(read)); });
  const absl::StatusOr<Tensor> read = awaited.Wait([] {});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(TextOf(*read) == file);
  EXPECT_EQ(served.transport.requests().size(), 3u);
}

TEST(HttpFileSystem, AListedFileThatChangedIsAnError) {
  const std::string file = FileBytes(1000);
  Served served([&](const FakeRequest& request) { return ServeBytes(request, file, "\"2\""); });
  const auto read = [&](ListedFile listed) {
    AwaitedResult<Tensor> awaited;
    served.files.StartRead("http://h/a", listed, [&](absl::StatusOr<Tensor> got) { awaited.Set(std::move(got)); });
    return awaited.Wait([] {}).status();
  };
  EXPECT_EQ(read({1000, VersionHash("\"2\"")}), absl::OkStatus());
  for (const ListedFile& listed : {ListedFile{1000, VersionHash("\"1\"")}, ListedFile{999, 0}, ListedFile{-1, 1}}) {
    const absl::Status error = read(listed);
    EXPECT_EQ(KindOf(error), ErrorKind::kData);
    EXPECT_THAT(std::string(error.message()), HasSubstr("http://h/a"));
  }
}

TEST(HttpFileSystem, OpensAndReadsByRanges) {
  const std::string file = FileBytes(9 * kMegabyte);
  Served served([&](const FakeRequest& request) { return ServeBytes(request, file, "\"1\""); });
  const auto opened = served.files.Open("http://h/a");
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(*(*opened)->Size(), 9 * kMegabyte);
  std::string target(1000, '\0');
  const auto span = absl::MakeSpan(reinterpret_cast<uint8_t*>(target.data()), target.size());
  // Across the border of parts, at the end, and beyond it.
  EXPECT_EQ(*(*opened)->ReadAt(8 * kMegabyte - 500, span), 1000);
  EXPECT_EQ(target, file.substr(8 * kMegabyte - 500, 1000));
  EXPECT_EQ(*(*opened)->ReadAt(9 * kMegabyte - 10, span), 10);
  EXPECT_EQ(target.substr(0, 10), file.substr(9 * kMegabyte - 10));
  EXPECT_EQ(*(*opened)->ReadAt(9 * kMegabyte, span), 0);
  EXPECT_EQ(*(*opened)->ReadAt(10 * kMegabyte, span), 0);
  // One to open, two, one, and none.
  EXPECT_EQ(served.transport.requests().size(), 4u);
}

TEST(HttpFileSystem, AFileThatChangesWhileOpenIsAnError) {
  std::atomic<int> version = 1;
  Served served([&](const FakeRequest& request) {
    return ServeBytes(request, "0123456789", "\"" + std::to_string(version) + "\"");
  });
  const auto opened = served.files.Open("http://h/a");
  ASSERT_TRUE(opened.ok()) << opened.status();
  version = 2;
  uint8_t byte = 0;
  const auto read = (*opened)->ReadAt(0, absl::MakeSpan(&byte, 1));
  EXPECT_EQ(KindOf(read.status()), ErrorKind::kData);
  EXPECT_THAT(std::string(read.status().message()), HasSubstr("http://h/a changed since it was listed or opened"));
}

TEST(HttpFileSystem, AHostWithoutPartsGivesTheWholeOnce) {
  const std::string file = FileBytes(100'000);
  Served served([&](const FakeRequest&) {
    FakeReply reply;
    reply.body = file;
    return reply;
  });
  EXPECT_TRUE(served.Text("http://h/a") == file);
  const auto opened = served.files.Open("http://h/a");
  ASSERT_TRUE(opened.ok()) << opened.status();
  uint8_t byte = 0;
  for (const int64_t offset : {int64_t{0}, int64_t{77'777}, int64_t{99'999}}) {
    EXPECT_EQ(*(*opened)->ReadAt(offset, absl::MakeSpan(&byte, 1)), 1);
    EXPECT_EQ(byte, static_cast<uint8_t>(file[static_cast<size_t>(offset)]));
  }
  EXPECT_EQ(served.transport.requests().size(), 2u);
  const auto stat = served.files.Stat("http://h/a");
  ASSERT_TRUE(stat.ok()) << stat.status();
  EXPECT_EQ(stat->size, 100'000);
  const auto listed = served.files.Open("http://h/a", {.size = 100'000, .version = 0});
  ASSERT_TRUE(listed.ok()) << listed.status();
  EXPECT_EQ(*(*listed)->ReadAt(77'777, absl::MakeSpan(&byte, 1)), 1);
  EXPECT_EQ(byte, static_cast<uint8_t>(file[77'777]));
  EXPECT_THAT(std::string(served.files.Open("http://h/a", {.size = 7, .version = 0}).status().message()),
              HasSubstr("100000"));
}

TEST(HttpFileSystem, StatSaysSizeAndStrongVersions) {
  for (const char* const etag : {"\"1\"", "W/\"1\"", ""}) {
    const Served served = ServedFile("bytes", etag);
    const auto stat = served.files.Stat("http://h/a");
    ASSERT_TRUE(stat.ok()) << stat.status();
    EXPECT_EQ(stat->type, EntryType::kFile);
    EXPECT_EQ(stat->size, 5);
    EXPECT_EQ(stat->version, etag[0] == '"' ? etag : "");
  }
  EXPECT_EQ(ServedFile("", "\"1\"").files.Stat("http://h/a")->size, 0);
}

TEST(HttpFileSystem, WhatIsRefusedSaysWhy) {
  const auto status = [](int number) {
    const Served served([&](const FakeRequest&) {
      FakeReply reply;
      reply.status = number;
      return reply;
    });
    return served.files.Stat("http://user:word@h/a?signature=1").status();
  };
  EXPECT_EQ(KindOf(status(404)), ErrorKind::kNotFound);
  EXPECT_EQ(KindOf(status(403)), ErrorKind::kUnsupported);
  EXPECT_EQ(KindOf(status(400)), ErrorKind::kData);
  EXPECT_THAT(std::string(status(404).message()), HasSubstr("http://h/a: not found"));
  EXPECT_EQ(std::string(status(403).message()).find("signature"), std::string::npos);
}

TEST(HttpFileSystem, FollowsRedirectsAndRemembersThem) {
  Served served([](const FakeRequest& request) {
    if (request.url == "http://h/a") return RedirectTo("//other/b");
    if (request.url == "http://other/b") return RedirectTo("c?x");
    EXPECT_EQ(request.url, "http://other/c?x");
    return ServeBytes(request, "bytes", "\"1\"");
  });
  EXPECT_EQ(served.Text("http://h/a"), "bytes");
  EXPECT_EQ(served.Text("http://h/a"), "bytes");
  EXPECT_EQ(served.transport.requests().size(), 4u);
}

TEST(HttpFileSystem, AnAddressThatIsNoLongerGoodIsAskedForAgain) {
  std::atomic<int> signature = 1;
  Served served([&](const FakeRequest& request) {
    if (request.url == "http://h/a") return RedirectTo("http://h/b?" + std::to_string(signature));
    FakeReply refused;
    refused.status = 403;
    if (request.url != "http://h/b?" + std::to_string(signature)) return refused;
    return ServeBytes(request, "bytes", "\"1\"");
  });
  EXPECT_EQ(served.Text("http://h/a"), "bytes");
  signature = 2;
  EXPECT_EQ(served.Text("http://h/a"), "bytes");
}

TEST(HttpFileSystem, RedirectsWithoutEndAndToOtherProtocolsAreErrors) {
  Served circle([](const FakeRequest&) { return RedirectTo("/a"); });
  EXPECT_THAT(circle.Text("http://h/a"), HasSubstr("http://h/a is redirected more than 5 times"));
  EXPECT_EQ(circle.transport.requests().size(), 6u);
  Served down([](const FakeRequest&) { return RedirectTo("http://h/a?signature=1"); });
  EXPECT_THAT(down.Text("https://h/a"), HasSubstr("from https to http"));
  EXPECT_EQ(down.Text("https://h/a").find("signature"), std::string::npos);
  Served file([](const FakeRequest&) { return RedirectTo("file:///etc/passwd"); });
  EXPECT_THAT(file.Text("http://h/a"), HasSubstr("not of http or https"));
}

TEST(HttpFileSystem, AuthorizationGoesToItsOwnHostAlone) {
  Served served(
      [](const FakeRequest& request) {
        const bool own = request.url.starts_with("http://h/");
        EXPECT_EQ(request.Find("authorization"), own ? "Bearer secret" : "") << request.url;
        if (request.url == "http://h/a") return RedirectTo("/b");
        if (request.url == "http://h/b") return RedirectTo("http://h:8080/c");
        return ServeBytes(request, "bytes", "");
      },
      "Bearer secret");
  EXPECT_EQ(served.Text("http://h/a"), "bytes");
}

TEST(HttpFileSystem, ACodedFormIsRefused) {
  Served served([](const FakeRequest& request) {
    FakeReply reply = ServeBytes(request, "bytes", "");
    reply.headers.push_back({"content-encoding", "gzip"});
    return reply;
  });
  EXPECT_THAT(served.Text("http://h/a"), HasSubstr("coded form"));
}

TEST(HttpFileSystem, PasswordsInUrlsAreErrorsThatDoNotShowThem) {
  const Served served = ServedFile("x", "\"1\"");
  for (const std::string url :
       {"https://alice:hidden@h/a", "https://hidden@h", "https://a:hidden@@h?b", "http://:hidden@h#c"}) {
    const absl::StatusOr<FileSystem::Located> located = served.files.Locate(url);
    ASSERT_EQ(KindOf(located.status()), ErrorKind::kGraph) << url;
    EXPECT_THAT(std::string(located.status().message()), HasSubstr("by storage="));
    EXPECT_EQ(located.status().message().find("hidden"), std::string::npos) << located.status();
  }
  for (const std::string url : {"https://h/@a", "https://h/a?b=c@d", "https://h#@"}) {
    EXPECT_TRUE(served.files.Locate(url).ok()) << url;
  }
}

// AddressSanitizer would see a write to memory that is gone.
TEST(HttpFileSystem, EndsReadsUnderWayThatNobodyWaitsFor) {
  const std::string file = FileBytes(17 * kMegabyte);
  FakeTransport transport(
      [&](const FakeRequest& request) {
        FakeReply reply = ServeBytes(request, file, "\"1\"");
        reply.stalls = true;
        reply.cut_at = 1000;
        return reply;
      },
      FakeTransport::Time::kByHand);
  const HttpFileSystem files(&transport, {}, "");
  const auto opened = files.Open("http://h/a", {static_cast<int64_t>(file.size()), 0});
  ASSERT_TRUE(opened.ok()) << opened.status();
  absl::Status whole;
  absl::Status range;
  auto target = std::make_shared<std::vector<uint8_t>>(file.size());
  const std::weak_ptr<std::vector<uint8_t>> lives = target;
  const auto cancellation = std::make_shared<Cancellation>();
  {
    const Cancellation::Scope scope(cancellation);
    files.StartRead("http://h/a", {static_cast<int64_t>(file.size()), 0},
                    [&](const absl::StatusOr<Tensor>& read) { whole = read.status(); });
    (*opened)->StartReadAt(0, absl::MakeSpan(*target),
                           [&range, target](const absl::StatusOr<int64_t>& read) { range = read.status(); });
  }
  target.reset();
  transport.Advance(1);
  const int64_t under_way = transport.outstanding();
  EXPECT_GE(under_way, 2);
  cancellation->Cancel();
  EXPECT_FALSE(lives.expired());
  transport.Advance(1);
  EXPECT_EQ(KindOf(whole), ErrorKind::kClosed) << whole;
  EXPECT_EQ(KindOf(range), ErrorKind::kClosed) << range;
  EXPECT_EQ(transport.outstanding(), 0);
  EXPECT_EQ(transport.cancelled(), under_way);
  EXPECT_TRUE(lives.expired());
}

TEST(HttpFileSystem, HasNoListings) {
  const Served served = ServedFile("", "");
  EXPECT_EQ(KindOf(served.files.ListPages("https://h/a/", true).status()), ErrorKind::kUnsupported);
  EXPECT_EQ(KindOf(served.files.far()->ListTree("https://h/a/").status()), ErrorKind::kUnsupported);
  EXPECT_EQ(KindOf(served.files.Create("https://h/a", {}).status()), ErrorKind::kUnsupported);
}

TEST(HttpFileSystem, CountsReadsApartFromWhatIsKnownOfFiles) {
  const Served served = ServedFile("bytes", "");
  EXPECT_EQ(served.Text("http://h/a"), "bytes");
  ASSERT_TRUE(served.files.Stat("http://h/a").ok());
  const StoreCounters counters = served.files.far()->counters();
  EXPECT_EQ(counters.reads, 1);
  EXPECT_EQ(counters.lists, 1);
  EXPECT_EQ(counters.received, 6);
}

TEST(HttpFileSystem, ReadsAtTheEndOfTheLargestSize) {
  Served served([](const FakeRequest& request) {
    FakeReply reply;
    reply.status = 206;
    const std::string range(request.Find("range").substr(6));
    reply.headers.push_back({"content-range", "bytes " + range + "/9223372036854775807"});
    reply.body = range == "0-0" ? "a" : "12345678";
    return reply;
  });
  const auto opened = served.files.Open("http://h/a");
  ASSERT_TRUE(opened.ok()) << opened.status();
  std::string target(8, '\0');
  const auto span = absl::MakeSpan(reinterpret_cast<uint8_t*>(target.data()), target.size());
  EXPECT_EQ(*(*opened)->ReadAt(std::numeric_limits<int64_t>::max() - 8, span), 8);
  EXPECT_EQ(target, "12345678");
  EXPECT_EQ(KindOf((*opened)->ReadAt(-1, span).status()), ErrorKind::kInternal);
}

TEST(HttpFileSystem, FollowsAddressesWithLettersThatUrlsCannotHold) {
  Served served([](const FakeRequest& request) {
    if (request.url == "http://h/a") return RedirectTo("/a b/\xc3\xa9?c=\"d\"");
    return ServeBytes(request, "bytes", "");
  });
  EXPECT_EQ(served.Text("http://h/a"), "bytes");
  EXPECT_EQ(served.transport.requests()[1].url, "http://h/a%20b/%C3%A9?c=%22d%22");
}

TEST(HttpFileSystem, AnAddressThatIsNoLongerReachedIsForgotten) {
  std::atomic<bool> away = false;
  Served served([&](const FakeRequest& request) {
    if (request.url == "http://h/a") return RedirectTo(away ? "http://other/a" : "http://mirror/a");
    FakeReply reply = ServeBytes(request, "bytes", "");
    if (!away || request.url != "http://mirror/a") return reply;
    reply.status = 0;
    reply.fault = Fault::kNoHost;
    return reply;
  });
  EXPECT_EQ(served.Text("http://h/a"), "bytes");
  away = true;
  EXPECT_NE(served.Text("http://h/a"), "bytes");
  EXPECT_EQ(served.Text("http://h/a"), "bytes");
}

TEST(HttpFileSystem, VeryLongAddressesAreNotRemembered) {
  Served served([](const FakeRequest& request) {
    if (request.url == "http://h/a") return RedirectTo("http://other/a?" + std::string(100'000, 'x'));
    return ServeBytes(request, "bytes", "");
  });
  EXPECT_EQ(served.Text("http://h/a"), "bytes");
  EXPECT_EQ(served.Text("http://h/a"), "bytes");
  EXPECT_EQ(served.transport.requests().size(), 4u);
}

}  // namespace
}  // namespace headrace::http
