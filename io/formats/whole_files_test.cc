#include "io/formats/whole_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/stop_signal.h"
#include "core/text.h"
#include "io/files/started_reads.h"
#include "io/files/testing/memory_store.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string WholeName(uint64_t file) { return Cat("mem://pictures/", file, ".jpg"); }
std::string WholeBytes(uint64_t file) { return Cat("picture ", file); }

// Objects of a far store, as they were when it was made.
class StoredFiles : public WholeFiles {
 public:
  StoredFiles(const FileSystem* files, uint64_t count) : WholeFiles(files) {
    for (uint64_t i = 0; i < count; ++i) {
      const FileStat stat = *files->Stat(WholeName(i));
      listed_.push_back({stat.size, VersionHash(stat.version)});
    }
  }
  uint64_t size() const override { return listed_.size(); }

 private:
  std::string PathOf(uint64_t file) const override { return WholeName(file); }
  ListedFile ListedAs(uint64_t file) const override { return listed_[file]; }

  std::vector<ListedFile> listed_;
};

class FarWholeFiles : public ::testing::Test {
 protected:
  static constexpr uint64_t kCount = 6;
  FarWholeFiles() : store_({.completes = MemoryStore::Completes::kOnDemand}) {
    for (uint64_t i = 0; i < kCount; ++i) store_.Put(WholeName(i), WholeBytes(i));
    files_ = std::make_unique<StoredFiles>(&store_, kCount);
    store_.ForgetRequests();
  }
  // Of each item that is read; then the error, if there is one.
  std::vector<std::string> Read(std::vector<uint64_t> items) {
    std::vector<RandomAccessReader::Content> contents(items.size());
    absl::Status wrong;
    const size_t read = files_->Read(items, absl::MakeSpan(contents), wrong);
    std::vector<std::string> texts;
    for (size_t i = 0; i < read; ++i) texts.emplace_back(contents[i].bytes);
    if (!wrong.ok()) texts.push_back(Describe(wrong));
    return texts;
  }
  static std::string Describe(const absl::Status& status) { return DescribeError(status); }

  MemoryStore store_;
  std::unique_ptr<StoredFiles> files_;
};

TEST_F(FarWholeFiles, SayHowManyReadsMayBeOutstanding) {
  EXPECT_EQ(files_->most_outstanding(), store_.most_outstanding());
  EXPECT_EQ(StoredFiles(&store_, 0).most_outstanding(), 0);
}

TEST_F(FarWholeFiles, AreAllAskedForBeforeTheFirstIsThere) {
  StartedReads started;
  files_->Start({{0, 1, 2, 3, 4, 5}});
  EXPECT_EQ(store_.outstanding(), kCount);
  while (store_.CompleteOne(store_.outstanding() - 1)) {
  }
  EXPECT_THAT(Read({0, 1, 2}), ElementsAre("picture 0", "picture 1", "picture 2"));
  EXPECT_THAT(Read({5, 4, 3}), ElementsAre("picture 5", "picture 4", "picture 3"));
  EXPECT_EQ(store_.count(MemoryStore::Kind::kRead), static_cast<int64_t>(kCount));
  EXPECT_EQ(store_.count(), static_cast<int64_t>(kCount)) << "sizes come from the listing";
}

TEST_F(FarWholeFiles, AreAskedForOnceEachTimeTheyAreStarted) {
  StartedReads started;
  files_->Start({{3, 3}});
  EXPECT_EQ(store_.outstanding(), 2);
  store_.CompleteAll();
  EXPECT_THAT(Read({3}), ElementsAre("picture 3"));
  EXPECT_THAT(Read({3}), ElementsAre("picture 3"));
  EXPECT_EQ(store_.count(MemoryStore::Kind::kRead), 2);
}

TEST_F(FarWholeFiles, AreRefusedIfTheyChangedSinceTheyWereListed) {
  store_.Put(WholeName(1), "another one");
  StartedReads started;
  files_->Start({{0, 1, 2}});
  store_.CompleteAll();
  EXPECT_THAT(Read({0, 1, 2}), ElementsAre("picture 0", HasSubstr(WholeName(1))));
  EXPECT_THAT(Read({2}), ElementsAre("picture 2"));
}

TEST_F(FarWholeFiles, AreNotWaitedForByWorkThatShouldEnd) {
  StartedReads started;
  files_->Start({{0, 1}});
  std::atomic<bool> stop{true};
  const StopSignal signal(&stop);
  std::vector<RandomAccessReader::Content> contents(2);
  absl::Status wrong;
  EXPECT_EQ(files_->Read({{0, 1}}, absl::MakeSpan(contents), wrong), 0);
  EXPECT_EQ(KindOf(wrong), ErrorKind::kClosed);
}

TEST_F(FarWholeFiles, MayCompleteAfterNobodyWantsThem) {
  {
    StartedReads started;
    files_->Start({{0, 1}});
  }
  files_.reset();
  store_.CompleteAll();
  EXPECT_EQ(store_.outstanding(), 0);
}

TEST_F(FarWholeFiles, AreReadTogetherWithoutATaskThatStartsThem) {
  std::vector<std::string> read;
  std::thread reader([&] { read = Read({0, 1, 2}); });
  store_.WaitFor(3);
  store_.CompleteAll();
  reader.join();
  EXPECT_THAT(read, ElementsAre("picture 0", "picture 1", "picture 2"));
}

}  // namespace
}  // namespace headrace
