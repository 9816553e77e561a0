#include "io/listings/kept_listings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "core/error.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

class Kept : public ::testing::Test {
 protected:
  Kept() {
    for (const char* name : {"cat/1.jpg", "cat/deep/2.jpg", "dog/3.jpg"}) folder_.Write(Cat("photos/", name), name);
  }
  std::shared_ptr<const ImageListing> Get(const ImageListingOptions& options = {}) {
    lists_ = 0;
    return *kept_.Get(files_, folder_ / "photos", options);
  }
  std::shared_ptr<const ImageListing> GetSaved() {
    lists_ = reads_ = 0;
    const std::string path = folder_ / "listing";
    return *kept_.Get(files_, folder_ / "photos", {}, &path);
  }
  // Until the time of the path's change has moved on, which goes by steps of some milliseconds.
  void Change(const std::string& path, const std::function<void()>& how) {
    const int64_t before = LocalFileSystem()->Stat(folder_ / path)->changed_ns;
    while (LocalFileSystem()->Stat(folder_ / path)->changed_ns == before) how();
  }
  // Sets the time of modification to what it was, as `rsync -a` and `tar` do.
  void Restore(const std::string& path) {
    const auto time = std::filesystem::last_write_time(folder_ / path);
    Change(path, [&] { std::filesystem::last_write_time(folder_ / path, time); });
  }

  TemporaryFolder folder_;
  std::atomic<int> lists_{0};
  std::atomic<int> reads_{0};
  FaultyFileSystem files_{LocalFileSystem(), [this](std::string_view call, const std::string&) {
                            if (call == "List") ++lists_;
                            if (call == "Read") ++reads_;
                            return absl::OkStatus();
                          }};
  int64_t ahead_ = 10 * kSecond;  // of the files' times
  KeptListings kept_{[this] {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * kSecond + now.tv_nsec + ahead_;
  }};
};

TEST_F(Kept, IsGivenAgainWhereNothingChanged) {
  const auto first = Get();
  EXPECT_EQ(lists_, 4);
  EXPECT_EQ(Get(), first);
  EXPECT_EQ(lists_, 0);
}

TEST_F(Kept, IsMadeAnewWhereAFolderChanged) {
  for (const std::string folder : {"photos", "photos/cat", "photos/cat/deep", "photos/dog"}) {
    const auto before = Get();
    Restore(folder);
    EXPECT_NE(Get(), before) << folder;
    EXPECT_EQ(lists_, 4);
  }
  const auto before = Get();
  Change("photos/cat/deep", [this] {
    std::filesystem::remove(folder_ / "photos/cat/deep/new.jpg");
    folder_.Write("photos/cat/deep/new.jpg", "new");
  });
  EXPECT_EQ(Get()->size(), before->size() + 1);
}

TEST_F(Kept, IsMadeAnewWhereAnotherFolderStandsThere) {
  const auto before = Get();
  std::filesystem::rename(folder_ / "photos/dog", folder_ / "old");
  folder_.Write("photos/dog/4.jpg", "4");
  EXPECT_EQ(Get()->RelativePath(2), "dog/4.jpg");
  EXPECT_EQ(before->RelativePath(2), "dog/3.jpg");
}

TEST_F(Kept, IsNotTrustedWhereAFolderHadJustChanged) {
  ahead_ = kSecond;
  const auto first = Get();
  EXPECT_NE(Get(), first);
}

TEST_F(Kept, BelongsToItsOptions) {
  const auto first = Get();
  EXPECT_NE(Get({.extensions = {".jpg"}}), first);
  EXPECT_EQ(Get({.class_map = {{"cat", 3}}})->size(), 2);
  EXPECT_EQ(Get(), first);
}

TEST_F(Kept, AreTheLatestFew) {
  std::weak_ptr<const ImageListing> first = Get();
  for (int32_t label = 1; label <= static_cast<int32_t>(KeptListings::kMost); ++label) {
    EXPECT_FALSE(first.expired());
    Get({.class_map = {{"cat", label}}});
  }
  EXPECT_TRUE(first.expired());
}

TEST_F(Kept, IsMadeAnewOnceForgotten) {
  const auto first = Get();
  kept_.Forget(first.get());
  EXPECT_NE(Get(), first);
}

TEST_F(Kept, ErrorsAreFoundAnew) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(KindOf(kept_.Get(files_, folder_ / "none", {}).status()), ErrorKind::kNotFound);
  }
}

TEST_F(Kept, IsNotSavedWhereNothingIsToBeWritten) {
  const std::string path = folder_ / "listing";
  EXPECT_EQ((*kept_.Get(files_, folder_ / "photos", {}, &path, /*writes=*/false))->size(), 3);
  EXPECT_FALSE(std::filesystem::exists(path));
  // A run saves it.
  GetSaved();
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(Kept, IsGivenAgainWhereItsFileIsUnchanged) {
  GetSaved();
  EXPECT_EQ(lists_, 4);
  const auto read = GetSaved();
  EXPECT_EQ(reads_, 1);
  EXPECT_EQ(GetSaved(), read);
  EXPECT_EQ(reads_, 0);
  // It is trusted as it is.
  folder_.Write("photos/dog/new.jpg", "new");
  EXPECT_EQ(GetSaved(), read);
  Restore("listing");
  EXPECT_NE(GetSaved(), read);
  EXPECT_EQ(reads_, 1);
}

}  // namespace
}  // namespace headrace
