#include "io/files/files_in_turn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/stop_signal.h"
#include "io/files/cancellation.h"
#include "io/files/testing/memory_store.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;
using Kind = MemoryStore::Kind;

constexpr int64_t kAnySize = int64_t{1} << 40;

std::vector<std::string> Numbered(int count) {
  std::vector<std::string> paths;
  for (int i = 0; i < count; ++i) paths.push_back(Cat("mem://b/texts/", i, ".txt"));
  return paths;
}

void Fill(MemoryStore& store, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) store.Put(path, Cat("of ", path));
}

TEST(FilesInTurn, GivesFarFilesInOrderAfterOneListing) {
  MemoryStore store({.completes = MemoryStore::Completes::kOnThread});
  const std::vector<std::string> paths = Numbered(300);
  Fill(store, paths);
  FilesInTurn files(store, paths, kAnySize);
  for (const std::string& path : paths) EXPECT_EQ(files.Next()->bytes_value(), Cat("of ", path));
  EXPECT_EQ(store.count(Kind::kStat), 0);
  EXPECT_EQ(store.count(Kind::kRead), 300);
  EXPECT_LE(store.count(Kind::kListPage), 2);
}

// Each request to it takes as long as the engine's patience with it.
TEST(FilesInTurn, AsksAStoreThatIsAwayAboutOneFile) {
  MemoryStore store;
  store.set_before([](const MemoryStore::Request&) { return BeyondRow(ResourceError("the store is away")); });
  FilesInTurn files(store, Numbered(300), kAnySize);
  EXPECT_EQ(KindOf(files.Next().status()), ErrorKind::kResource);
  EXPECT_EQ(store.count(Kind::kStat), 1);
  EXPECT_EQ(store.count(), 2) << "and one listing";
}

TEST(FilesInTurn, ReadsFilesThatCannotBeListed) {
  MemoryStore store;
  const std::vector<std::string> paths = Numbered(100);
  Fill(store, paths);
  store.set_before([](const MemoryStore::Request& request) {
    return request.kind == Kind::kListPage ? BeyondRow(ResourceError("listings are refused")) : absl::OkStatus();
  });
  FilesInTurn files(store, paths, kAnySize);
  for (const std::string& path : paths) EXPECT_EQ(files.Next()->bytes_value(), Cat("of ", path));
}

TEST(FilesInTurn, AsksForDozensAtOnce) {
  MemoryStore store({.completes = MemoryStore::Completes::kOnDemand});
  const std::vector<std::string> paths = Numbered(300);
  Fill(store, paths);
  const std::atomic<bool> stop = true;
  FilesInTurn files(store, paths, kAnySize);
  std::thread completes([&] {
    store.WaitFor(64);
    store.CompleteAll();
  });
  EXPECT_EQ(files.Next()->bytes_value(), Cat("of ", paths[0]));
  completes.join();
  EXPECT_EQ(store.most(), 64U);
  // The other replies are there, and what is begun next is dropped.
  const StopSignal signal(&stop);
  EXPECT_EQ(KindOf(files.Next().status()), ErrorKind::kClosed);
}

class CancelledReads : public MemoryStore {
 public:
  using MemoryStore::MemoryStore;
  void StartRead(const std::string& path, const ListedFile& listed, ReadDone done) const override {
    if (const auto cancellation = Cancellation::Current()) cancellation->Add([this] { ++cancelled; });
    MemoryStore::StartRead(path, listed, std::move(done));
  }

  mutable std::atomic<int> cancelled = 0;
};

TEST(FilesInTurn, CancelsWhatHasNotComeYet) {
  CancelledReads store({.completes = MemoryStore::Completes::kOnDemand});
  const std::vector<std::string> paths = Numbered(300);
  Fill(store, paths);
  {
    FilesInTurn files(store, paths, kAnySize);
    const std::atomic<bool> stop = false;
    const StopSignal signal(&stop);
    std::thread completes([&] {
      store.WaitFor(64);
      store.CompleteOne();
      store.CompleteOne();
    });
    EXPECT_TRUE(files.Next().ok());
    completes.join();
    EXPECT_EQ(store.cancelled, 0);
  }
  EXPECT_EQ(store.cancelled, 62);
  store.CompleteAll();
}

TEST(FilesInTurn, GivesErrorsInTurn) {
  MemoryStore store;
  std::vector<std::string> paths = Numbered(20);
  Fill(store, paths);
  store.Put(paths[3], std::string(100, 'x'));
  store.Drop(paths[5]);
  FilesInTurn files(store, paths, 99);
  for (int i = 0; i < 20; ++i) {
    const absl::StatusOr<Tensor> read = files.Next();
    if (i == 3) {
      EXPECT_THAT(read.status().message(), HasSubstr("100 bytes"));
    } else if (i == 5) {
      EXPECT_EQ(KindOf(read.status()), ErrorKind::kNotFound);
    } else {
      EXPECT_TRUE(read.ok()) << i << read.status();
    }
  }
  EXPECT_EQ(store.count(Kind::kRead, paths[3]), 0);
}

TEST(FilesInTurn, ReadsFilesOfThisMachine) {
  const TemporaryFolder folder;
  FilesInTurn files(*LocalFileSystem(), {folder.Write("a", "one"), folder.Write("b", "two")}, kAnySize);
  EXPECT_EQ(files.Next()->bytes_value(), "one");
  EXPECT_EQ(files.Next()->bytes_value(), "two");
}

}  // namespace
}  // namespace headrace
