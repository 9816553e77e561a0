// Of listings and kept values over a far store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "io/files/far_listings.h"
#include "io/files/testing/memory_store.h"
#include "io/files/testing/temporary_folder.h"
#include "io/listings/image_listing.h"
#include "io/listings/kept_by_files.h"

namespace headrace {
namespace {

using Kind = MemoryStore::Kind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kFarImages[] = {
    "cat/1.jpg",    "cat/sub/2.JPG", "cat/.hidden/3.jpg", "cat/.4.jpg", "cat-b/5.jpg",
    "cat/note.txt", ".git/6.jpg",    "dog/7.png",         "top.txt",
};

std::vector<std::string> FarRows(const ImageListing& listing) {
  std::vector<std::string> rows;
  for (int64_t i = 0; i < listing.size(); ++i) {
    rows.push_back(Cat(listing.RelativePath(i), " ", listing.label(i), " ", listing.file_size(i)));
  }
  return rows;
}

TEST(FarImageListing, ListsAsOnADiskByOneRequest) {
  const TemporaryFolder folder;
  MemoryStore store;
  for (const std::string_view name : kFarImages) {
    folder.Write(name, name);
    store.Put(Cat("mem://b/set/", name), name);
  }
  const auto near = ImageListing::Make(*LocalFileSystem(), folder.path(), {});
  const auto far = ImageListing::Make(store, "mem://b/set/", {});
  ASSERT_TRUE(near.ok() && far.ok()) << near.status() << far.status();
  EXPECT_EQ(FarRows(*far), FarRows(*near));
  EXPECT_THAT(FarRows(*far), ElementsAre("cat/1.jpg 0 9", "cat/sub/2.JPG 0 13", "cat-b/5.jpg 1 11", "dog/7.png 2 9"));
  EXPECT_EQ(far->Path(0), "mem://b/set/cat/1.jpg");
  EXPECT_EQ(store.count(), 1);
  EXPECT_EQ(store.count(Kind::kTreePage), 1);
  ImageListingOptions options;
  options.class_map = {{".git", 7}, {"dog", 3}};
  EXPECT_THAT(FarRows(*ImageListing::Make(store, "mem://b/set", options)),
              ElementsAre(".git/6.jpg 7 10", "dog/7.png 3 9"));
}

TEST(FarImageListing, CoversVersions) {
  MemoryStore store;
  MemoryStore plain({.versions = false});
  const TemporaryFolder folder;
  for (MemoryStore* each : {&store, &plain}) each->Put("mem://b/cat/1.jpg", "same");
  folder.Write("cat/1.jpg", "same");
  const auto print = [](const FileSystem& files, const std::string& root) {
    return ImageListing::Make(files, root, {})->fingerprint();
  };
  const uint64_t first = print(store, "mem://b");
  EXPECT_EQ(print(store, "mem://b"), first);
  EXPECT_EQ(print(plain, "mem://b"), print(*LocalFileSystem(), folder.path()));
  store.Put("mem://b/cat/1.jpg", "emas");
  EXPECT_NE(print(store, "mem://b"), first);
  const ImageListing listing = *ImageListing::Make(store, "mem://b", {});
  EXPECT_EQ(listing.file_version(0), VersionHash(store.Stat("mem://b/cat/1.jpg")->version));
  EXPECT_EQ(ImageListing::Make(plain, "mem://b", {})->file_version(0), 0u);
}

TEST(FarImageListing, SaysWhatIsMissing) {
  MemoryStore store;
  store.Put("mem://b/set/1.jpg", "x");
  const auto message = [&](const std::string& root) {
    return std::string(ImageListing::Make(store, root, {}).status().message());
  };
  EXPECT_THAT(message("mem://b/set"), HasSubstr("holds 1 image directly"));
  EXPECT_THAT(message("mem://b/sett"), HasSubstr("did you mean mem://b/set?"));
  store.Put("mem://b/set/cat/a.webp", "x");
  EXPECT_THAT(message("mem://b/set"), HasSubstr("1 .webp"));
}

TEST(FarKeptByFiles, IsKeptWhileVersionsAreEqual) {
  MemoryStore store;
  store.Put("mem://b/list", "1");
  KeptByFiles<int> kept;
  int made = 0;
  const auto get = [&](const FileSystem& files) {
    return **kept.Get(files, "x", {"mem://b/list"}, [&]() -> absl::StatusOr<int> { return ++made; });
  };
  EXPECT_EQ(get(store), 1);
  EXPECT_EQ(get(store), 1) << "a version tells a change, however short ago";
  {
    FarListings listings;
    EXPECT_EQ(get(*listings.Over(&store)), 1) << "of one store, whatever a run knows of it";
  }
  store.Put("mem://b/list", "2");
  EXPECT_EQ(get(store), 2);
  kept.Forget(store, "x");
  EXPECT_EQ(get(store), 3);
}

TEST(FarKeptByFiles, IsNotKeptWithoutVersions) {
  MemoryStore store({.versions = false});
  store.Put("mem://b/list", "1");
  KeptByFiles<int> kept;
  int made = 0;
  for (int i = 1; i <= 2; ++i) {
    EXPECT_EQ(**kept.Get(store, "x", {"mem://b/list"}, [&]() -> absl::StatusOr<int> { return ++made; }), i);
  }
}

}  // namespace
}  // namespace headrace
