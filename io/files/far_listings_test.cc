#include "io/files/far_listings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <utility>

#include "core/error.h"
#include "io/files/far_files.h"
#include "io/files/file_system_registry.h"
#include "io/files/testing/memory_store.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

using Kind = MemoryStore::Kind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FarListingsTest : public ::testing::Test {
 protected:
  FarListingsTest() {
    registry_.Add("mem", &store_);
    files_ = listings_.Over(&registry_);
    for (const std::string name : {"cat/1.jpg", "cat/2.jpg", "dog/3.jpg", "list.txt"}) {
      store_.Put("mem://b/set/" + name, name);
    }
  }

  const FarFiles& far() const { return *files_->Locate("mem://b/set")->files->far(); }
  std::vector<std::string> Names(absl::StatusOr<std::unique_ptr<FolderPages>> pages) const {
    std::vector<std::string> names;
    while (pages.ok()) {
      const auto page = (*pages)->Next();
      if (!page.ok() || page->empty()) break;
      for (const FolderEntry& entry : *page) names.push_back(entry.name);
    }
    return names;
  }

  MemoryStore store_;
  FileSystemRegistry registry_{LocalFileSystem()};
  FarListings listings_;
  const FileSystem* files_ = nullptr;
};

TEST_F(FarListingsTest, ListsATreeOnce) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(Names(far().ListTree("mem://b/set/")), ElementsAre("cat/1.jpg", "cat/2.jpg", "dog/3.jpg", "list.txt"));
    EXPECT_THAT(Names(far().ListTree("mem://b/set/cat")), ElementsAre("1.jpg", "2.jpg"));
    EXPECT_THAT(Names(files_->ListPages("mem://b/set", true)), ElementsAre("cat", "dog", "list.txt"));
  }
  EXPECT_EQ(store_.count(), 1);
}

TEST_F(FarListingsTest, AnswersStatsFromListings) {
  const std::string version = store_.Stat("mem://b/set/cat/1.jpg")->version;
  store_.ForgetRequests();
  Names(far().ListTree("mem://b/set"));
  const auto stat = files_->Stat("mem://b/set/cat/1.jpg");
  ASSERT_TRUE(stat.ok());
  EXPECT_EQ(stat->size, 9);
  EXPECT_EQ(stat->version, version);
  EXPECT_EQ(files_->Stat("mem://b/set/cat")->type, EntryType::kFolder);
  EXPECT_EQ(files_->Stat("mem://b/set/cat/")->type, EntryType::kFolder);
  EXPECT_EQ(files_->Stat("mem://b/set")->type, EntryType::kFolder);
  EXPECT_EQ(KindOf(files_->Stat("mem://b/set/ca").status()), ErrorKind::kNotFound);
  EXPECT_EQ(KindOf(files_->Stat("mem://b/set/cat/1.jpg/x").status()), ErrorKind::kNotFound);
  EXPECT_EQ(store_.count(Kind::kStat), 0);
  // Not below what was listed.
  EXPECT_EQ(KindOf(files_->Stat("mem://b/other").status()), ErrorKind::kNotFound);
  EXPECT_EQ(store_.count(Kind::kStat), 1);
}

TEST_F(FarListingsTest, AListingOfOneLevelCoversItsEntriesAlone) {
  Names(files_->ListPages("mem://b/set", true));
  EXPECT_TRUE(files_->Stat("mem://b/set/list.txt").ok());
  EXPECT_EQ(files_->Stat("mem://b/set/cat")->type, EntryType::kFolder);
  EXPECT_EQ(store_.count(Kind::kStat), 0);
  EXPECT_TRUE(files_->Stat("mem://b/set/cat/1.jpg").ok());
  EXPECT_EQ(store_.count(Kind::kStat), 1);
  EXPECT_TRUE(files_->Stat("mem://b/set/cat/1.jpg").ok());
  EXPECT_EQ(store_.count(Kind::kStat), 1) << "what was asked once is known";
}

TEST_F(FarListingsTest, OpensFilesAsTheyWereListed) {
  Names(far().ListTree("mem://b/set"));
  const auto file = files_->Open("mem://b/set/list.txt");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(*(*file)->Size(), 8);
  EXPECT_EQ(store_.count(Kind::kStat), 0);
  store_.Put("mem://b/set/list.txt", "anew text");
  uint8_t bytes[8];
  EXPECT_THAT((*file)->ReadAt(0, absl::MakeSpan(bytes)).status().message(), HasSubstr("changed since it was listed"));
  absl::Status read;
  store_.Put("mem://b/set/cat/1.jpg", "another");
  Names(far().ListTree("mem://b/set/cat"));
}

TEST_F(FarListingsTest, ForgetsAListingThatWasNotTrueAnyMore) {
  Names(far().ListTree("mem://b/set"));
  store_.Put("mem://b/set/cat/1.jpg", "another");
  const auto read_now = [&] {
    absl::StatusOr<Tensor> read = InternalError("not called");
    files_->StartRead("mem://b/set/cat/1.jpg", {}, [&](absl::StatusOr<Tensor> result) { read = std::move(result); });
    return read;
  };
  EXPECT_THAT(read_now().status().message(), HasSubstr("changed since it was listed"));
  EXPECT_EQ(read_now()->bytes_value(), "another");
  EXPECT_EQ(files_->Stat("mem://b/set/cat/1.jpg")->size, 7);
  Names(far().ListTree("mem://b/set"));
  EXPECT_EQ(store_.count(Kind::kTreePage), 2);
}

TEST_F(FarListingsTest, ForgetsWhatIsWritten) {
  Names(far().ListTree("mem://b/set"));
  EXPECT_FALSE(files_->Stat("mem://b/set/index").ok());
  EXPECT_FALSE(files_->Stat("mem://b/set/new").ok());
  ASSERT_TRUE(files_->Write("mem://b/set/index", {"i"}).ok());
  ASSERT_TRUE(files_->Write("mem://b/set/new/a", {"a"}).ok());
  EXPECT_TRUE(files_->Stat("mem://b/set/index").ok());
  EXPECT_EQ(files_->Stat("mem://b/set/new")->type, EntryType::kFolder);
  EXPECT_THAT(Names(far().ListTree("mem://b/set")), ::testing::IsSupersetOf({"index", "new/a"}));
  ASSERT_TRUE(files_->Remove("mem://b/set/index").ok());
  EXPECT_FALSE(files_->Stat("mem://b/set/index").ok());
}

TEST_F(FarListingsTest, KeepsOtherVersionsWhenAFileIsWritten) {
  Names(far().ListTree("mem://b/set"));
  ASSERT_TRUE(files_->Write("mem://b/set/index", {"i"}).ok());
  const int64_t before = store_.count();
  EXPECT_TRUE(files_->Stat("mem://b/set/cat/1.jpg").ok());
  EXPECT_EQ(store_.count(), before);
  store_.Put("mem://b/set/cat/1.jpg", store_.Get("mem://b/set/cat/1.jpg"));
  absl::Status read;
  files_->StartRead("mem://b/set/cat/1.jpg", {}, [&](const absl::StatusOr<Tensor>& result) { read = result.status(); });
  EXPECT_THAT(read.message(), HasSubstr("changed since it was listed"));
}

// An index that is written beside data leaves their versions known.
TEST_F(FarListingsTest, KeepsWhatItKnowsOfFilesBesideOneThatIsWritten) {
  Names(far().ListTree("mem://b/set"));
  ASSERT_TRUE(files_->Write("mem://b/set/cat/index", {"i"}).ok());
  store_.Put("mem://b/set/cat/1.jpg", "1/jpg.tac");
  EXPECT_NE(far().ListedAs("mem://b/set/cat/1.jpg").version, 0u);
  const auto file = files_->Open("mem://b/set/cat/1.jpg");
  ASSERT_TRUE(file.ok());
  uint8_t bytes[9];
  EXPECT_THAT((*file)->ReadAt(0, absl::MakeSpan(bytes)).status().message(), HasSubstr("changed since it was listed"));
  EXPECT_EQ(far().ListedAs("mem://b/set/cat/1.jpg").version, 0u) << "it has another one";
  EXPECT_NE(far().ListedAs("mem://b/set/cat/2.jpg").version, 0u);
}

TEST_F(FarListingsTest, ListsAnewWhereAFileWasWritten) {
  Names(far().ListTree("mem://b/set"));
  ASSERT_TRUE(files_->Write("mem://b/set/cat/new/4.jpg", {"4"}).ok());
  EXPECT_EQ(files_->Stat("mem://b/set/cat/new")->type, EntryType::kFolder);
  EXPECT_THAT(Names(far().ListTree("mem://b/set/dog")), ElementsAre("3.jpg"));
  EXPECT_EQ(store_.count(Kind::kTreePage), 1) << "nothing was written there";
  EXPECT_THAT(Names(far().ListTree("mem://b/set/cat")), ElementsAre("1.jpg", "2.jpg", "new/4.jpg"));
  EXPECT_THAT(Names(far().ListTree("mem://b/set")),
              ElementsAre("cat/1.jpg", "cat/2.jpg", "cat/new/4.jpg", "dog/3.jpg", "list.txt"));
  EXPECT_THAT(Names(files_->ListPages("mem://b/set/cat", true)), ElementsAre("1.jpg", "2.jpg", "new"));
  EXPECT_EQ(store_.count(Kind::kTreePage), 3);
  ASSERT_TRUE(files_->Remove("mem://b/set/cat/new/4.jpg").ok());
  EXPECT_THAT(Names(files_->ListPages("mem://b/set/cat", true)), ElementsAre("1.jpg", "2.jpg"));
  EXPECT_EQ(KindOf(files_->Stat("mem://b/set/cat/new").status()), ErrorKind::kNotFound);
}

// A listing that is made while a file is written may lack it, or have the old one.
TEST_F(FarListingsTest, TrustsNoListingOfAFileThatIsBeingWritten) {
  const auto stream = files_->Create("mem://b/set/cat/9.jpg", {});
  ASSERT_TRUE(stream.ok());
  Names(far().ListTree("mem://b/set"));
  ASSERT_TRUE((*stream)->Append({"nine"}).ok());
  ASSERT_TRUE((*stream)->Commit().ok());
  EXPECT_EQ(files_->Stat("mem://b/set/cat/9.jpg")->size, 4);
  EXPECT_THAT(Names(far().ListTree("mem://b/set/cat")), ElementsAre("1.jpg", "2.jpg", "9.jpg"));
}

TEST_F(FarListingsTest, TrustsAListingNotOfWhatWasWrittenMeanwhile) {
  bool written = false;
  store_.set_before([&](const MemoryStore::Request& request) {
    if (request.kind != Kind::kTreePage || std::exchange(written, true)) return absl::OkStatus();
    return files_->Write("mem://b/set/dog/3.jpg", {"another"});
  });
  Names(far().ListTree("mem://b/set"));
  EXPECT_EQ(far().ListedAs("mem://b/set/dog/3.jpg").size, -1);
  EXPECT_EQ(far().ListedAs("mem://b/set/cat/1.jpg").size, 9);
}

TEST_F(FarListingsTest, ListsForManyNamedFiles) {
  std::vector<std::string> paths;
  for (int i = 0; i < 100; ++i) {
    paths.push_back(Cat("mem://b/shards/", i, ".tar"));
    store_.Put(paths.back(), "x");
  }
  far().Expect(absl::MakeSpan(paths).first(3));
  EXPECT_EQ(store_.count(), 0) << "few are asked about one by one";
  far().Expect(paths);
  for (const std::string& path : paths) EXPECT_EQ(files_->Stat(path)->size, 1);
  far().Expect(paths);
  EXPECT_EQ(store_.count(Kind::kListPage), 1);
  EXPECT_EQ(store_.count(), 1);
}

TEST_F(FarListingsTest, GivesUpAListingThatCostsMoreThanTheFiles) {
  MemoryStore store({.page = 2});
  FarListings listings;
  const FileSystem* const files = listings.Over(&store);
  for (int i = 0; i < 1000; ++i) store.Put(Cat("mem://b/a/", i), "x");
  std::vector<std::string> paths;
  for (int i = 980; i < 1000; ++i) paths.push_back(Cat("mem://b/a/", i));
  files->Locate("mem://b")->files->far()->Expect(paths);
  EXPECT_EQ(store.count(Kind::kListPage), 20);
}

TEST_F(FarListingsTest, LeavesTheMachinesFilesAlone) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("a", "1");
  EXPECT_EQ(files_->Stat(path)->size, 1);
  folder.Write("a", "22");
  EXPECT_EQ(files_->Stat(path)->size, 2);
  EXPECT_EQ(files_->Locate(path)->files, LocalFileSystem());
}

TEST_F(FarListingsTest, IsOneFileSystemOverEach) {
  EXPECT_EQ(listings_.Over(&registry_), files_);
  EXPECT_EQ(listings_.Over(files_), files_);
  EXPECT_EQ(files_->kept_as(), &registry_);
}

TEST_F(FarListingsTest, ListsOnceForAllThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { Names(far().ListTree("mem://b/set")); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store_.count(), 1);
}

TEST_F(FarListingsTest, KeepsNothingOfAListingThatFailed) {
  store_.set_before([](const MemoryStore::Request&) { return ResourceError("the network is down"); });
  EXPECT_THAT(far().ListTree("mem://b/set").status().message(), HasSubstr("the network is down"));
  store_.set_before(nullptr);
  EXPECT_EQ(Names(far().ListTree("mem://b/set")).size(), 4u);
}

}  // namespace
}  // namespace headrace
