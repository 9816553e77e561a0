#include "io/files/testing/memory_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "core/error.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> NamesOf(absl::StatusOr<std::unique_ptr<FolderPages>> pages) {
  std::vector<std::string> names;
  while (true) {
    const auto page = (*pages)->Next();
    if (page->empty()) return names;
    for (const FolderEntry& entry : *page) {
      names.push_back(Cat(entry.name, entry.type == EntryType::kFolder ? "/" : "", entry.size));
    }
  }
}

TEST(MemoryStore, ListsLevelsAndTreesByPages) {
  MemoryStore store({.page = 2});
  for (const std::string name : {"a/1", "a/2", "a/b/3", "a-b", "a0", "c/d/e"}) store.Put("mem://x/" + name, name);
  EXPECT_THAT(NamesOf(store.ListPages("mem://x", true)), ElementsAre("a-b3", "a/-1", "a02", "c/-1"));
  EXPECT_THAT(NamesOf(store.ListTree("mem://x/a")), ElementsAre("13", "23", "b/35"));
  EXPECT_EQ(store.count(MemoryStore::Kind::kTreePage), 2);
  EXPECT_EQ(store.Stat("mem://x/a")->type, EntryType::kFolder);
  EXPECT_EQ(KindOf(store.Stat("mem://x/b").status()), ErrorKind::kNotFound);
}

TEST(MemoryStore, RefusesAnotherVersionThanListed) {
  MemoryStore store;
  store.Put("mem://x/a", "old");
  const FileStat stat = *store.Stat("mem://x/a");
  const ListedFile listed{stat.size, VersionHash(stat.version)};
  const auto opened = store.Open("mem://x/a", listed);
  store.Put("mem://x/a", "new");
  uint8_t bytes[3];
  EXPECT_THAT((*opened)->ReadAt(0, absl::MakeSpan(bytes)).status().message(), HasSubstr("changed since it was listed"));
  absl::Status read;
  store.StartRead("mem://x/a", listed, [&](const absl::StatusOr<Tensor>& result) { read = result.status(); });
  EXPECT_THAT(read.message(), HasSubstr("changed since it was listed"));
}

TEST(MemoryStore, CompletesReadsWhenItIsTold) {
  MemoryStore store({.completes = MemoryStore::Completes::kOnDemand});
  store.Put("mem://x/a", "a");
  store.Put("mem://x/b", "b");
  std::string read;
  for (const std::string path : {"mem://x/a", "mem://x/b"}) {
    store.StartRead(path, {}, [&](const absl::StatusOr<Tensor>& result) { read += result->bytes_value(); });
  }
  EXPECT_EQ(store.outstanding(), 2u);
  EXPECT_TRUE(store.CompleteOne(1));
  EXPECT_EQ(read, "b");
  store.CompleteAll();
  EXPECT_EQ(read, "ba");
  EXPECT_EQ(store.given("mem://x/a"), 1);
}

TEST(MemoryStore, CompletesReadsOnItsThread) {
  MemoryStore store({.completes = MemoryStore::Completes::kOnThread});
  store.Put("mem://x/a", "a");
  std::mutex mutex;
  std::condition_variable came;
  std::thread::id on;
  store.StartRead("mem://x/a", {}, [&](const absl::StatusOr<Tensor>&) {
    const std::lock_guard<std::mutex> lock(mutex);
    on = std::this_thread::get_id();
    came.notify_all();
  });
  std::unique_lock<std::mutex> lock(mutex);
  came.wait(lock, [&] { return on != std::thread::id(); });
  EXPECT_NE(on, std::this_thread::get_id());
}

TEST(MemoryStore, EndsOutstandingReadsWhenItIsDestroyed) {
  absl::Status read;
  {
    MemoryStore store({.completes = MemoryStore::Completes::kOnDemand});
    store.Put("mem://x/a", "a");
    store.StartRead("mem://x/a", {}, [&](const absl::StatusOr<Tensor>& result) { read = result.status(); });
  }
  EXPECT_EQ(KindOf(read), ErrorKind::kClosed);
}

TEST(MemoryStore, WritesFilesAndDrafts) {
  MemoryStore store;
  ASSERT_TRUE(store.Write("mem://x/a", {"b", "c"}).ok());
  EXPECT_EQ(store.Get("mem://x/a"), "bc");
  OutputOptions options;
  options.draft = ".draft";
  const auto stream = store.Create("mem://x/d", options);
  ASSERT_TRUE((*stream)->Append({"half"}).ok());
  ASSERT_TRUE((*stream)->Keep().ok());
  EXPECT_FALSE(store.Has("mem://x/d"));
  const auto resumed = store.Resume("mem://x/d", options, 2);
  ASSERT_TRUE((*resumed)->Commit().ok());
  EXPECT_EQ(store.Get("mem://x/d"), "ha");
  ASSERT_TRUE(store.Remove("mem://x/d").ok());
  EXPECT_FALSE(store.Has("mem://x/d"));
}

}  // namespace
}  // namespace headrace
