#include "io/files/s3/s3_file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/stop_signal.h"
#include "io/files/cancellation.h"
#include "io/files/http/awaited_result.h"
#include "io/files/s3/testing/fake_s3.h"
#include "io/files/s3/tree_listing.h"

namespace headrace::s3 {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Unset(const char* /*name*/) { return {}; }

// A store in memory, and the file system over it.
struct TestStore {
  explicit TestStore(size_t page = 1000, PartLimits limits = {}, StorageSettings settings = {},
                     http::FakeTransport::Time time = http::FakeTransport::Time::kJumps)
      : s3(page), transport([this](const http::FakeRequest& request) { return s3.Answer(request); }, time) {
    if (settings.endpoint.empty()) settings.endpoint = FakeS3::kEndpoint;
    settings.access_key = "the-access-key";
    settings.secret_key = "the-secret-key";
    files = std::make_unique<S3FileSystem>(
        StoreOptions{.settings = std::move(settings), .environment = Unset, .transport = &transport}, limits);
  }

  size_t Count(std::string_view method) const {
    const std::vector<http::FakeRequest> all = transport.requests();
    return static_cast<size_t>(
        std::count_if(all.begin(), all.end(), [&](const http::FakeRequest& each) { return each.method == method; }));
  }

  FakeS3 s3;
  http::FakeTransport transport;
  std::unique_ptr<S3FileSystem> files;
};

std::string Bytes(const absl::StatusOr<Tensor>& read) {
  return read.ok() ? std::string(read->bytes_value()) : std::string(ToStd(read.status().message()));
}

std::string Long(size_t bytes) {
  std::string text(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 2654435761u >> 13);
  return text;
}

ListedFile ListedAs(std::string_view bytes) {
  const std::string etag = FakeS3::ETagOf(bytes);
  return {static_cast<int64_t>(bytes.size()), VersionHash(etag.substr(1, etag.size() - 2))};
}

std::vector<FolderEntry> AllOfPages(FolderPages& pages) {
  std::vector<FolderEntry> all;
  while (true) {
    auto page = pages.Next();
    EXPECT_TRUE(page.ok()) << page.status();
    if (!page.ok() || page->empty()) return all;
    std::move(page->begin(), page->end(), std::back_inserter(all));
  }
}

std::vector<std::string> NamesBelow(const FileSystem& files, const std::string& folder) {
  const auto pages = files.far()->ListTree(folder);
  EXPECT_TRUE(pages.ok()) << pages.status();
  std::vector<std::string> names;
  if (!pages.ok()) return names;
  for (const FolderEntry& entry : AllOfPages(**pages)) names.push_back(entry.name);
  return names;
}

TEST(S3FileSystem, ReadsWholeObjectsOfAnySize) {
  TestStore store;
  const int64_t piece = 8 << 20;
  for (const int64_t size : {int64_t{0}, int64_t{1}, int64_t{1000}, piece - 1, piece, piece + 1, 2 * piece + 5}) {
    const std::string bytes = Long(static_cast<size_t>(size));
    store.s3.Put("whole", bytes);
    EXPECT_TRUE(Bytes(store.files->Read("s3://b/whole")) == bytes) << size;
    absl::StatusOr<Tensor> read;
    http::AwaitedResult<Tensor> awaited;
    store.files->StartRead("s3://b/whole", ListedAs(bytes),
                           [&](absl::StatusOr<Tensor> given) { awaited.Set(std::move(given)); });
    EXPECT_TRUE(Bytes(awaited.Wait([] {})) == bytes) << size;
  }
}

TEST(S3FileSystem, ReadsAnUnknownSizeByOneRequest) {
  TestStore store;
  store.s3.Put("small", "bytes");
  EXPECT_EQ(Bytes(store.files->Read("s3://b/small")), "bytes");
  ASSERT_EQ(store.transport.requests().size(), 1u);
  EXPECT_EQ(store.transport.requests()[0].Find("range"), "bytes=0-8388607");
}

TEST(S3FileSystem, ReadsAListedObjectByOneRequest) {
  TestStore store;
  store.s3.Put("small", "bytes");
  http::AwaitedResult<Tensor> awaited;
  store.files->StartRead("s3://b/small", ListedAs("bytes"),
                         [&](absl::StatusOr<Tensor> given) { awaited.Set(std::move(given)); });
  EXPECT_EQ(Bytes(awaited.Wait([] {})), "bytes");
  ASSERT_EQ(store.transport.requests().size(), 1u);
  EXPECT_EQ(store.transport.requests()[0].Find("range"), "bytes=0-4");
}

TEST(S3FileSystem, ReadsRangesStraightAndGuarded) {
  TestStore store;
  const std::string bytes = Long(20 << 20);
  store.s3.Put("long", bytes);
  const auto file = store.files->Open("s3://b/long", ListedAs(bytes));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(store.transport.requests().size(), 0u);
  EXPECT_EQ(*(*file)->Size(), 20 << 20);
  std::vector<uint8_t> target(bytes.size());
  for (const auto& [offset, count] : std::vector<std::pair<int64_t, size_t>>{
           {0, 1}, {5, 100}, {100, 17u << 20}, {(20 << 20) - 3, 10}, {20 << 20, 10}, {30 << 20, 1}}) {
    const auto read = (*file)->ReadAt(offset, absl::MakeSpan(target.data(), count));
    ASSERT_TRUE(read.ok()) << read.status();
    const auto expected = std::string_view(bytes).substr(std::min<size_t>(offset, bytes.size()), count);
    EXPECT_EQ(*read, static_cast<int64_t>(expected.size()));
    EXPECT_EQ(std::memcmp(target.data(), expected.data(), expected.size()), 0);
  }
  const std::vector<http::FakeRequest> requests = store.transport.requests();
  ASSERT_EQ(requests.size(), 6u);  // the third read has three pieces, the last two none
  EXPECT_EQ(requests[0].Find("if-match"), "");
  EXPECT_EQ(requests[1].Find("if-match"), FakeS3::ETagOf(bytes));
}

TEST(S3FileSystem, RefusesAnObjectThatChangedSinceItWasListed) {
  TestStore store;
  const ListedFile listed = ListedAs("old bytes");
  const auto file = store.files->Open("s3://b/key", listed);
  for (const char* now : {"new bytes", "shorter", "longer than before"}) {
    store.s3.Put("key", now);
    std::string target(listed.size, 'x');
    const auto read = (*file)->ReadAt(0, absl::MakeSpan(reinterpret_cast<uint8_t*>(target.data()), target.size()));
    EXPECT_EQ(KindOf(read.status()), ErrorKind::kData) << now;
    EXPECT_THAT(read.status().message(), HasSubstr("s3://b/key changed since it was listed")) << now;
    EXPECT_EQ(target, "xxxxxxxxx");
    http::AwaitedResult<Tensor> awaited;
    store.files->StartRead("s3://b/key", listed, [&](absl::StatusOr<Tensor> given) { awaited.Set(std::move(given)); });
    EXPECT_THAT(Bytes(awaited.Wait([] {})), HasSubstr("changed since it was listed"));
  }
}

TEST(S3FileSystem, RefusesAnObjectThatChangesWhileItIsOpen) {
  TestStore store;
  store.s3.Put("key", "old bytes");
  const auto file = store.files->Open("s3://b/key");
  uint8_t target[4];
  ASSERT_TRUE((*file)->ReadAt(0, target).ok());
  store.s3.Put("key", "new bytes");
  EXPECT_THAT((*file)->ReadAt(4, target).status().message(), HasSubstr("changed since it was listed"));
  store.s3.Remove("key");
  EXPECT_EQ(KindOf((*file)->ReadAt(4, target).status()), ErrorKind::kNotFound);
}

TEST(S3FileSystem, RefusesAnEmptyObjectThatIsNoLongerEmpty) {
  TestStore store;
  store.s3.Put("key", "bytes");
  http::AwaitedResult<Tensor> awaited;
  store.files->StartRead("s3://b/key", ListedAs(""),
                         [&](absl::StatusOr<Tensor> given) { awaited.Set(std::move(given)); });
  EXPECT_THAT(Bytes(awaited.Wait([] {})), HasSubstr("changed since it was listed"));
}

TEST(S3FileSystem, SaysWhatIsThere) {
  TestStore store;
  store.s3.Put("a/b", "bytes");
  store.s3.Put("c/", "");
  const auto file = store.files->Stat("s3://b/a/b");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->size, 5);
  EXPECT_EQ(Cat("\"", file->version, "\""), FakeS3::ETagOf("bytes"));
  for (const char* folder : {"s3://b", "s3://b/", "s3://b/a", "s3://b/a/", "s3://b/c"}) {
    EXPECT_EQ(store.files->Stat(folder)->type, EntryType::kFolder) << folder;
  }
  for (const char* missing : {"s3://b/a/c", "s3://b/a/b/c", "s3://b/d/", "s3://nothing"}) {
    EXPECT_EQ(KindOf(store.files->Stat(missing).status()), ErrorKind::kNotFound) << missing;
  }
}

TEST(S3FileSystem, SaysTheCodeOfARefusal) {
  TestStore store;
  store.s3.Put("a/b", "bytes");
  store.s3.set_first([](const http::FakeRequest& request) -> std::optional<http::FakeReply> {
    http::FakeReply refusal = FakeS3::Error(403, "SignatureDoesNotMatch");
    if (request.method == "HEAD") refusal.body.clear();
    return refusal;
  });
  for (const absl::Status& refused :
       {store.files->Stat("s3://b/a/b").status(), store.files->Stat("s3://b/a/").status(),
        store.files->Open("s3://b/a/b").status(), MissingPathError(*store.files, "s3://b/a/b")}) {
    EXPECT_EQ(KindOf(refused), ErrorKind::kUnsupported);
    EXPECT_THAT(std::string(ToStd(refused.message())), HasSubstr("SignatureDoesNotMatch"));
  }
}

TEST(S3FileSystem, LooksAtWhatItMayReadWhereHeadIsRefused) {
  TestStore store;
  for (const std::string bytes : {"bytes", ""}) store.s3.Put(Cat("a/", bytes.size()), bytes);
  store.s3.set_first([](const http::FakeRequest& request) -> std::optional<http::FakeReply> {
    if (request.method != "HEAD") return std::nullopt;
    http::FakeReply refusal;
    refusal.status = 403;
    return refusal;
  });
  EXPECT_EQ(store.files->Stat("s3://b/a/5")->size, 5);
  EXPECT_EQ(store.files->Stat("s3://b/a/0")->size, 0);
  EXPECT_EQ(store.files->Stat("s3://b/a")->type, EntryType::kFolder);
  EXPECT_EQ(*(*store.files->Open("s3://b/a/5"))->Size(), 5);
}

TEST(S3FileSystem, ListsAFolderByPages) {
  for (const size_t page : {1, 2, 1000}) {
    TestStore store(page);
    for (const char* key : {"f/b.txt", "f/a b+ü%.txt", "f/sub/x", "f/sub/y", "f/", "other"}) store.s3.Put(key, "1234");
    const auto entries = store.files->List("s3://b/f", true);
    ASSERT_TRUE(entries.ok()) << entries.status();
    std::set<std::string> files;
    std::set<std::string> folders;
    for (const FolderEntry& entry : *entries) {
      (entry.type == EntryType::kFolder ? folders : files).insert(entry.name);
      if (entry.type == EntryType::kFile) {
        EXPECT_EQ(entry.size, 4);
        EXPECT_EQ(Cat("\"", entry.version, "\""), FakeS3::ETagOf("1234"));
      }
    }
    EXPECT_THAT(files, ElementsAre("a b+ü%.txt", "b.txt"));
    EXPECT_THAT(folders, ElementsAre("sub"));
    EXPECT_EQ(KindOf(store.files->List("s3://b/g").status()), ErrorKind::kNotFound);
  }
}

TEST(S3FileSystem, ListsATreeInTheOrderOfBytesWhateverThePages) {
  std::vector<std::string> names = {"a!", "a/x", "a/y/z", "a0", "b//c", "\xc3\xbc", "z z", "z+z", "z%2Bz"};
  for (int folder = 0; folder < 12; ++folder) {
    for (int file = 0; file < 9; ++file) names.push_back(Cat("deep/", folder % 3, "/", folder, "/", file, ".jpg"));
  }
  std::sort(names.begin(), names.end());
  for (const size_t page : {1, 2, 7, 1000}) {
    TestStore store(page);
    store.s3.Put("tree/", "");
    store.s3.Put("tree/deep/1/", "");
    store.s3.Put("treehouse", "beside it");
    for (const std::string& name : names) store.s3.Put("tree/" + name, "bytes");
    EXPECT_EQ(NamesBelow(*store.files, "s3://b/tree"), names) << page;
    EXPECT_EQ(NamesBelow(*store.files, "s3://b").size(), names.size() + 1) << page;
  }
}

TEST(S3FileSystem, ListsATreeOfOnePageByOneRequest) {
  for (const size_t files : {1, 999, 1000}) {
    TestStore store;
    for (size_t i = 0; i < files; ++i) store.s3.Put(Cat("t/", i), "");
    EXPECT_EQ(NamesBelow(*store.files, "s3://b/t/").size(), files);
    EXPECT_EQ(store.transport.requests().size(), 1u);
  }
}

TEST(S3FileSystem, ListsFoldersAtTheSameTime) {
  TestStore store(10);
  for (int folder = 0; folder < 20; ++folder) {
    for (int file = 0; file < 30; ++file) store.s3.Put(Cat("t/", 100 + folder, "/", 100 + file), "");
  }
  EXPECT_EQ(NamesBelow(*store.files, "s3://b/t").size(), 600u);
  EXPECT_GT(store.transport.most_outstanding(), 4);
}

TEST(S3FileSystem, EndsAListingThatIsNotTakenToItsEnd) {
  TestStore store(5);
  for (int file = 0; file < 100; ++file) store.s3.Put(Cat("t/", file % 7, "/", file), "");
  auto pages = store.files->ListTree("s3://b/t");
  ASSERT_TRUE(pages.ok());
  ASSERT_TRUE((*pages)->Next().ok());
  pages->reset();
}

TEST(S3FileSystem, RefusesListingsThatDoNotGoOn) {
  TestStore store;
  const auto page = [](std::string_view key) {
    http::FakeReply reply;
    reply.body = Cat("<ListBucketResult><Contents><Key>t/", key,
                     "</Key><Size>1</Size></Contents><IsTruncated>true</IsTruncated><NextContinuationToken>same"
                     "</NextContinuationToken></ListBucketResult>");
    return reply;
  };
  int count = 0;
  store.s3.set_first([&](const http::FakeRequest&) { return page(Cat(100 + count++)); });
  const auto listed = store.files->List("s3://b/t");
  EXPECT_EQ(KindOf(listed.status()), ErrorKind::kData);
  EXPECT_THAT(listed.status().message(), HasSubstr("does not go on"));
  auto tree = store.files->ListTree("s3://b/t");
  absl::Status status = tree.status();
  while (status.ok()) status = (*tree)->Next().status();
  EXPECT_EQ(KindOf(status), ErrorKind::kData) << status;
}

TEST(S3FileSystem, RefusesListingsOutOfOrder) {
  TestStore store;
  store.s3.set_first([](const http::FakeRequest&) {
    http::FakeReply reply;
    reply.body =
        "<ListBucketResult><Contents><Key>t/b</Key><Size>1</Size></Contents><Contents><Key>t/a</Key><Size>1</Size>"
        "</Contents><IsTruncated>false</IsTruncated></ListBucketResult>";
    return reply;
  });
  const auto tree = store.files->ListTree("s3://b/t");
  EXPECT_THAT((*tree)->Next().status().message(), HasSubstr("not in the order of its keys"));
}

TEST(S3FileSystem, WritesShortObjectsAtOnce) {
  TestStore store;
  for (const std::string& bytes : {std::string(), std::string("bytes"), Long(100'000)}) {
    ASSERT_TRUE(store.files->Write("s3://b/new", {bytes}).ok());
    EXPECT_EQ(store.s3.Get("new"), bytes);
  }
  EXPECT_EQ(store.Count("POST"), 0u);
}

TEST(S3FileSystem, WritesLongObjectsInPartsThatAreSeenWhenAllAreThere) {
  TestStore store(1000, {.part_bytes = 1000, .at_once = 3});
  for (const size_t size : {1000, 1001, 5000, 12345}) {
    const std::string bytes = Long(size);
    auto stream = store.files->Create("s3://b/new", {});
    ASSERT_TRUE(stream.ok());
    for (size_t at = 0; at < size; at += 333) {
      ASSERT_TRUE((*stream)->Append({std::string_view(bytes).substr(at, 333)}).ok());
    }
    EXPECT_EQ((*stream)->size(), static_cast<int64_t>(size));
    EXPECT_EQ(store.s3.Get("new"), std::nullopt);
    ASSERT_TRUE((*stream)->Commit().ok());
    EXPECT_EQ(store.s3.Get("new"), bytes);
    EXPECT_EQ(store.s3.uploads(), 0u);
    EXPECT_FALSE((*stream)->Commit().ok());
    EXPECT_FALSE((*stream)->Append({"more"}).ok());
    store.s3.Remove("new");
  }
}

TEST(S3FileSystem, WritesTheHeadAgain) {
  for (const size_t size : {30, 1000, 2500, 4000}) {
    TestStore store(1000, {.part_bytes = 1000, .at_once = 2});
    std::string bytes = Long(size);
    OutputOptions options;
    options.head = 1500;
    auto stream = store.files->Create("s3://b/new", options);
    ASSERT_TRUE((*stream)->Append({bytes}).ok());
    ASSERT_TRUE((*stream)->Rewrite(10, "0123456789").ok());
    EXPECT_FALSE((*stream)->Rewrite(1495, "0123456789").ok());
    bytes.replace(10, 10, "0123456789");
    ASSERT_TRUE((*stream)->Commit().ok());
    EXPECT_EQ(store.s3.Get("new"), bytes);
  }
}

TEST(S3FileSystem, LeavesNothingOfAStreamThatIsDropped) {
  TestStore store(1000, {.part_bytes = 1000, .at_once = 2});
  {
    auto stream = store.files->Create("s3://b/new", {});
    ASSERT_TRUE((*stream)->Append({Long(5500)}).ok());
    EXPECT_EQ(store.s3.uploads(), 1u);
    EXPECT_EQ(KindOf((*stream)->Keep()), ErrorKind::kUnsupported);
  }
  EXPECT_EQ(store.s3.uploads(), 0u);
  EXPECT_EQ(store.s3.Get("new"), std::nullopt);
}

TEST(S3FileSystem, FailsWhereAPartFails) {
  TestStore store(1000, {.part_bytes = 1000, .at_once = 2});
  store.s3.set_first([](const http::FakeRequest& request) -> std::optional<http::FakeReply> {
    if (request.url.find("partNumber=3") == std::string::npos) return std::nullopt;
    return FakeS3::Error(403, "AccessDenied");
  });
  {
    auto stream = store.files->Create("s3://b/new", {});
    absl::Status status = (*stream)->Append({Long(2500)});
    if (status.ok()) status = (*stream)->Append({Long(2500)});
    if (status.ok()) status = (*stream)->Commit();
    EXPECT_THAT(status.message(), HasSubstr("s3:PutObject"));
    EXPECT_EQ((*stream)->Commit(), status);
  }
  EXPECT_EQ(store.s3.uploads(), 0u);
}

TEST(S3FileSystem, TakesAnErrorWithTheStatus200ForOne) {
  TestStore store(1000, {.part_bytes = 1000, .at_once = 2});
  std::atomic<int> left{0};
  std::string code = "InternalError";
  store.s3.set_first([&](const http::FakeRequest& request) -> std::optional<http::FakeReply> {
    if (request.method != "POST" || request.body.empty() || left.fetch_sub(1) <= 0) return std::nullopt;
    return FakeS3::Error(200, code);
  });
  left = 2;
  ASSERT_TRUE(store.files->Write("s3://b/new", {Long(3000)}).ok());
  EXPECT_EQ(store.s3.Get("new")->size(), 3000u);
  left = 100;
  EXPECT_THAT(store.files->Write("s3://b/new", {Long(3000)}).message(), HasSubstr("InternalError"));
  EXPECT_GE(left.load(), 90);
  left = 1;
  code = "InvalidPart";
  EXPECT_THAT(store.files->Write("s3://b/new", {Long(3000)}).message(), HasSubstr("InvalidPart"));
  EXPECT_EQ(store.s3.uploads(), 0u);
}

// Stores send white space while they put a large object together.
TEST(S3FileSystem, TakesAnErrorThatComesAfterAWaitForOne) {
  const std::string wait(3000, ' ');
  for (const bool before : {false, true}) {
    TestStore store(1000, {.part_bytes = 1000, .at_once = 2});
    std::atomic<int> left{2};
    store.s3.set_first([&](const http::FakeRequest& request) -> std::optional<http::FakeReply> {
      if (request.method != "POST" || request.body.empty() || left.fetch_sub(1) <= 0) return std::nullopt;
      constexpr std::string_view kDeclaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
      http::FakeReply reply;
      reply.body = Cat(before ? wait : "", kDeclaration, before ? "" : wait,
                       "<Error><Code>InternalError</Code><Message>We had one</Message></Error>");
      return reply;
    });
    const absl::Status written = store.files->Write("s3://b/new", {Long(3000)});
    ASSERT_TRUE(written.ok()) << written;
    EXPECT_LE(left.load(), -1);
    EXPECT_EQ(store.s3.Get("new")->size(), 3000u);
  }
}

TEST(S3FileSystem, TakesAnErrorInPlaceOfAListingForOne) {
  TestStore store;
  store.s3.Put("t/a", "a");
  std::atomic<int> left{2};
  std::string code = "InternalError";
  store.s3.set_first([&](const http::FakeRequest&) -> std::optional<http::FakeReply> {
    if (left.fetch_sub(1) <= 0) return std::nullopt;
    return FakeS3::Error(200, code);
  });
  EXPECT_EQ(store.files->List("s3://b/t")->size(), 1u);
  left = 1;
  code = "AccessDenied";
  EXPECT_THAT(store.files->List("s3://b/t").status().message(), HasSubstr("could not list it: "));
  left = 1;
  EXPECT_THAT(store.files->List("s3://b/t").status().message(), HasSubstr("AccessDenied"));
}

TEST(S3FileSystem, EndsReadsThatNobodyWaitsFor) {
  TestStore store;
  store.s3.Put("a", std::string(1000, 'a'));
  const auto cancellation = std::make_shared<Cancellation>();
  cancellation->Cancel();
  const Cancellation::Scope scope(cancellation);
  http::AwaitedResult<Tensor> whole;
  store.files->StartRead("s3://b/a", {1000, 0}, [&](absl::StatusOr<Tensor> read) { whole.Set(std::move(read)); });
  EXPECT_EQ(KindOf(whole.Wait([] {}).status()), ErrorKind::kClosed);
  const auto file = store.files->Open("s3://b/a", {1000, 0});
  ASSERT_TRUE(file.ok());
  std::vector<uint8_t> bytes(1000);
  http::AwaitedResult<int64_t> range;
  (*file)->StartReadAt(0, absl::MakeSpan(bytes), [&](absl::StatusOr<int64_t> read) { range.Set(std::move(read)); });
  EXPECT_EQ(KindOf(range.Wait([] {}).status()), ErrorKind::kClosed);
}

TEST(S3FileSystem, FindsAnObjectWhoseCompletionWasNotHeardOf) {
  TestStore store(1000, {.part_bytes = 1000, .at_once = 2});
  std::atomic<bool> lost{false};
  store.s3.set_first([&](const http::FakeRequest& request) -> std::optional<http::FakeReply> {
    if (request.method != "POST" || request.body.empty() || lost.exchange(true)) return std::nullopt;
    http::FakeReply reply = store.s3.Answer(request);
    reply.status = 0;
    reply.fault = http::Fault::kCut;
    return reply;
  });
  ASSERT_TRUE(store.files->Write("s3://b/new", {Long(3000)}).ok());
  EXPECT_EQ(store.s3.Get("new"), Long(3000));
}

TEST(S3FileSystem, RefusesMorePartsThanAnObjectHas) {
  TestStore store(1000, {.part_bytes = 10, .at_once = 2, .most_parts = 3});
  EXPECT_TRUE(store.files->Write("s3://b/new", {Long(30)}).ok());
  EXPECT_EQ(KindOf(store.files->Write("s3://b/new", {Long(40)})), ErrorKind::kUnsupported);
}

TEST(S3FileSystem, RemovesObjects) {
  TestStore store;
  store.s3.Put("key", "bytes");
  EXPECT_TRUE(store.files->Remove("s3://b/key").ok());
  EXPECT_EQ(store.s3.Get("key"), std::nullopt);
  EXPECT_TRUE(store.files->Remove("s3://b/key").ok());
  EXPECT_FALSE(store.files->Remove("s3://other/key").ok());
}

TEST(S3FileSystem, SaysWhatTheStoreRefusedWithoutTheKeys) {
  TestStore store;
  store.s3.Put("key", "bytes");
  store.s3.set_first([](const http::FakeRequest&) {
    http::FakeReply reply = FakeS3::Error(403, "AccessDenied");
    reply.body = "<Error><Code>AccessDenied</Code><Message>the-access-key may not</Message></Error>";
    return reply;
  });
  const std::string message = Bytes(store.files->Read("s3://b/key"));
  EXPECT_THAT(message, AllOf(HasSubstr("s3://b/key"), HasSubstr("s3:GetObject"), HasSubstr("status 403 AccessDenied"),
                             HasSubstr("REQUEST17"), HasSubstr("1 attempt")));
  EXPECT_THAT(message, Not(HasSubstr("the-access-key")));
}

TEST(S3FileSystem, EndsAWaitByTheStopSignal) {
  TestStore store(1000, {}, {}, http::FakeTransport::Time::kByHand);
  store.s3.set_first([](const http::FakeRequest&) {
    http::FakeReply reply;
    reply.stalls = true;
    reply.status = 0;
    return reply;
  });
  std::atomic<bool> ended{false};
  // Its time stands still, so that nothing but the signal ends a request.
  std::thread events([&] {
    while (!ended) {
      store.transport.Advance(0);
      std::this_thread::yield();
    }
  });
  {
    const std::atomic<bool> stop{true};
    const StopSignal signal(&stop);
    EXPECT_EQ(KindOf(store.files->Read("s3://b/key").status()), ErrorKind::kClosed);
    EXPECT_EQ(KindOf(store.files->Stat("s3://b/key").status()), ErrorKind::kClosed);
    EXPECT_EQ(KindOf(store.files->ListTree("s3://b/key").status()), ErrorKind::kClosed);
    const auto file = store.files->Open("s3://b/key", {20 << 20, 1});
    std::vector<uint8_t> target(20 << 20);
    EXPECT_EQ(KindOf((*file)->ReadAt(0, absl::MakeSpan(target)).status()), ErrorKind::kClosed);
  }
  ended = true;
  events.join();
}

TEST(S3FileSystem, HearsOfTheEnvironmentsChanges) {
  TestStore store;
  store.s3.Put("key", "bytes");
  std::string endpoint = "http://first.test";
  StorageSettings anonymous;
  anonymous.anonymous = true;
  const S3FileSystem files({.settings = anonymous,
                            .environment =
                                [&endpoint](const char* name) {
                                  return std::string_view(name) == "AWS_ENDPOINT_URL" ? endpoint : std::string();
                                },
                            .transport = &store.transport});
  EXPECT_EQ(Bytes(files.Read("s3://b/key")), "bytes");
  endpoint = "http://second.test";
  EXPECT_EQ(Bytes(files.Read("s3://b/key")), "bytes");
  const std::vector<http::FakeRequest> requests = store.transport.requests();
  EXPECT_EQ(requests[0].url, "http://first.test/b/key");
  EXPECT_EQ(requests[1].url, "http://second.test/b/key");
  EXPECT_EQ(files.counters().reads, 2);
}

TEST(S3FileSystem, NamesAPriceOfAwsAlone) {
  TestStore store;
  store.s3.set_first([](const http::FakeRequest&) { return FakeS3::Error(404, "NoSuchBucket"); });
  EXPECT_LT(store.files->ListPrice({}), 0);
  StorageSettings settings;
  settings.anonymous = true;
  settings.ca_file = "/dev/null";
  const S3FileSystem aws({.settings = settings, .environment = Unset, .transport = &store.transport});
  ASSERT_FALSE(aws.Stat("s3://b").ok());
  StoreCounters counters;
  counters.reads = 1'281'000;
  EXPECT_NEAR(aws.ListPrice(counters), 0.5124, 1e-9);
}

TEST(S3FileSystem, OpensObjectsOfAnySize) {
  http::FakeTransport transport([](const http::FakeRequest& request) {
    http::FakeReply reply;
    EXPECT_EQ(request.method, "HEAD");
    reply.headers = {{"content-length", "5000000000000"}, {"etag", "\"1\""}};
    return reply;
  });
  StorageSettings settings;
  settings.endpoint = "http://store.test";
  settings.anonymous = true;
  const S3FileSystem files({.settings = settings, .environment = Unset, .transport = &transport});
  const auto opened = files.Open("s3://b/large");
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(*(*opened)->Size(), 5'000'000'000'000);
}

}  // namespace
}  // namespace headrace::s3
