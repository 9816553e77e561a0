#include "io/files/hdfs/listed_pages.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "io/files/hdfs/testing/served_cluster.h"

namespace headrace::hdfs {
namespace {

using Names = std::vector<std::string>;

Names NamesOf(absl::StatusOr<std::unique_ptr<FolderPages>> pages) {
  EXPECT_TRUE(pages.ok()) << pages.status();
  Names names;
  while (pages.ok()) {
    const auto page = (*pages)->Next();
    EXPECT_TRUE(page.ok()) << page.status();
    if (!page.ok() || page->empty()) break;
    for (const FolderEntry& entry : *page) names.push_back(entry.name);
  }
  return names;
}

TEST(ListedPages, ListFoldersOfAnySizeOfParts) {
  for (const size_t page : {0, 1, 2, 3, 1000}) {
    ServedCluster served;
    served.cluster.set_page(page);
    for (const char* const path : {"/f/b", "/f/a", "/f/ä", "/f/c/d"}) served.cluster.Put(path, "12345");
    EXPECT_EQ(NamesOf(served.files.ListPages("hdfs://nn/f", true)), (Names{"a", "b", "c", "ä"})) << page;
  }
}

TEST(ListedPages, KnowTypesSizesAndVersions) {
  ServedCluster served;
  served.cluster.Put("/f/a", "12345");
  served.cluster.MakeFolder("/f/b");
  const auto entries = served.files.List("hdfs://nn/f", true);
  ASSERT_TRUE(entries.ok()) << entries.status();
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ((*entries)[0].type, EntryType::kFile);
  EXPECT_EQ((*entries)[0].size, 5);
  EXPECT_EQ((*entries)[0].version, served.files.Stat("hdfs://nn/f/a")->version);
  EXPECT_EQ((*entries)[1].type, EntryType::kFolder);
}

TEST(ListedPages, AskOnceWhetherAClusterListsByParts) {
  ServedCluster served;
  served.cluster.set_page(0);
  served.cluster.Put("/f/a", "x");
  NamesOf(served.files.ListPages("hdfs://nn/f", true));
  NamesOf(served.files.ListPages("hdfs://nn/f", true));
  EXPECT_EQ(served.Urls("op=LISTSTATUS_BATCH").size(), 1u);
}

TEST(ListedPages, GoThroughATreeInOrderOfWholeNames) {
  // "a-b" stands before "a/…", though the folder "a" stands before "a-b".
  Names files = {"a-b", "a.x", "a/1", "a/b/2", "a/b/c/3", "a/z", "a0", "b/1", "c"};
  for (const size_t page : {0, 1, 2, 3, 1000}) {
    ServedCluster served;
    served.cluster.set_page(page);
    for (const std::string& file : files) served.cluster.Put("/top/" + file, "x");
    served.cluster.MakeFolder("/top/empty");
    const Names listed = NamesOf(served.files.ListTree("hdfs://nn/top"));
    EXPECT_EQ(listed, files) << page;
    EXPECT_TRUE(std::is_sorted(listed.begin(), listed.end()));
    EXPECT_EQ(NamesOf(served.files.ListTree("hdfs://nn/top/")), files) << page;
  }
}

TEST(ListedPages, AskForSeveralFoldersAtOnce) {
  ServedCluster served;
  Names files;
  for (int folder = 10; folder < 60; ++folder) {
    files.push_back(Cat(folder, "/1"));
    served.cluster.Put(Cat("/top/", folder, "/1"), "x");
  }
  served.cluster.set_rule([](const http::FakeRequest&) -> std::optional<http::FakeReply> { return std::nullopt; });
  EXPECT_EQ(NamesOf(served.files.ListTree("hdfs://nn/top")), files);
  EXPECT_EQ(served.transport.requests().size(), 51u);
  EXPECT_GT(served.transport.most_outstanding(), 4);
}

TEST(ListedPages, EndWhereAFolderIsMissingOrAFile) {
  ServedCluster served;
  served.cluster.Put("/f/a", "x");
  for (const char* const path : {"hdfs://nn/f/a", "hdfs://nn/g"}) {
    EXPECT_EQ(KindOf(served.files.ListPages(path, true).status()), ErrorKind::kNotFound) << path;
    EXPECT_EQ(KindOf(served.files.ListTree(path).status()), ErrorKind::kNotFound) << path;
  }
}

TEST(ListedPages, PassOverAFolderThatIsRemovedMeanwhileAndNoOther) {
  ServedCluster served;
  served.cluster.Put("/f/a/1", "x");
  served.cluster.Put("/f/b", "x");
  served.cluster.set_rule([](const http::FakeRequest& request) -> std::optional<http::FakeReply> {
    if (request.url.find("/f/a?") == std::string::npos) return std::nullopt;
    return ExceptionReply(404, "FileNotFoundException", "File /f/a does not exist.");
  });
  EXPECT_EQ(NamesOf(served.files.ListTree("hdfs://nn/f")), Names{"b"});
  served.cluster.set_rule([](const http::FakeRequest& request) -> std::optional<http::FakeReply> {
    if (request.url.find("/f/a?") == std::string::npos) return std::nullopt;
    return ExceptionReply(403, "AccessControlException", "Permission denied: user=alice");
  });
  const auto pages = served.files.ListTree("hdfs://nn/f");
  ASSERT_TRUE(pages.ok());
  EXPECT_EQ(KindOf((*pages)->Next().status()), ErrorKind::kUnsupported);
}

TEST(ListedPages, RefuseATreeWithoutEnd) {
  ServedCluster served;
  served.cluster.MakeFolder("/f");
  served.cluster.set_rule([](const http::FakeRequest&) -> std::optional<http::FakeReply> {
    http::FakeReply reply;
    reply.body =
        "{\"DirectoryListing\":{\"partialListing\":{\"FileStatuses\":{\"FileStatus\":[{\"pathSuffix\":\"a\",\"type\":"
        "\"DIRECTORY\",\"length\":0}]}},\"remainingEntries\":0}}";
    return reply;
  });
  const auto pages = served.files.ListTree("hdfs://nn/f");
  ASSERT_TRUE(pages.ok()) << pages.status();
  const absl::Status status = (*pages)->Next().status();
  EXPECT_EQ(KindOf(status), ErrorKind::kData) << status;
  EXPECT_LT(served.transport.requests().size(), 1100u);
}

TEST(ListedPages, RefuseAListingThatDoesNotGoOn) {
  ServedCluster served;
  served.cluster.Put("/f/a", "x");
  served.cluster.set_rule([](const http::FakeRequest& request) -> std::optional<http::FakeReply> {
    if (request.url.find("LISTSTATUS_BATCH") == std::string::npos) return std::nullopt;
    http::FakeReply reply;
    reply.body =
        "{\"DirectoryListing\":{\"partialListing\":{\"FileStatuses\":{\"FileStatus\":[{\"pathSuffix\":\"a\",\"type\":"
        "\"FILE\",\"length\":1}]}},\"remainingEntries\":1}}";
    return reply;
  });
  const auto pages = served.files.ListPages("hdfs://nn/f", true);
  ASSERT_TRUE(pages.ok());
  EXPECT_EQ((*pages)->Next()->size(), 1u);
  EXPECT_EQ(KindOf((*pages)->Next().status()), ErrorKind::kData);
}

}  // namespace
}  // namespace headrace::hdfs
