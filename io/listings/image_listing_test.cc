#include "io/listings/image_listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/hash.h"
#include "core/interrupt.h"
#include "core/testing/rounds.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/one_file.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const FileSystem& Local() { return *LocalFileSystem(); }

std::string Message(const absl::Status& status) { return std::string(status.message()); }

absl::StatusOr<ImageListing> List(const std::string& folder, const ImageListingOptions& options = {}) {
  return ImageListing::Make(Local(), folder, options);
}

std::vector<std::string> Rows(const ImageListing& listing) {
  std::vector<std::string> rows;
  for (int64_t i = 0; i < listing.size(); ++i) rows.push_back(Cat(listing.RelativePath(i), " ", listing.label(i)));
  return rows;
}

std::string ErrorOf(const std::string& folder, const ImageListingOptions& options = {}) {
  const auto listing = List(folder, options);
  if (listing.ok()) return "no error";
  EXPECT_EQ(KindOf(listing.status()), ErrorKind::kNotFound);
  return Message(listing.status());
}

TEST(ImageListing, LeavesOutHiddenNames) {
  TemporaryFolder folder;
  for (const char* name :
       {".ipynb_checkpoints/a.jpg", "cat/.thumbnails/b.jpg", "cat/._c.jpg", "cat/c.jpg", "dog/d.jpg"})
    folder.Write(name);
  const auto listing = List(folder.path());
  ASSERT_TRUE(listing.ok()) << listing.status();
  EXPECT_THAT(Rows(*listing), ElementsAre("cat/c.jpg 0", "dog/d.jpg 1"));
  ImageListingOptions options;
  options.class_map = {{".ipynb_checkpoints", 7}};
  const auto named = List(folder.path(), options);
  ASSERT_TRUE(named.ok()) << named.status();
  EXPECT_THAT(Rows(*named), ElementsAre(".ipynb_checkpoints/a.jpg 7"));
}

TEST(ImageListing, SortsClassesAndPaths) {
  TemporaryFolder folder;
  for (const char* name : {"dog/2.jpg", "dog/10.jpg", "cat/b.PNG", "cat/a.JpEg", "bird/a/z.jpg", "bird/a.jpg",
                           "bird/a/b/c.jpeg", "dog/notes.txt"}) {
    folder.Write(name);
  }
  const auto listing = List(folder.path());
  ASSERT_TRUE(listing.ok()) << listing.status();
  EXPECT_THAT(Rows(*listing), ElementsAre("bird/a.jpg 0", "bird/a/b/c.jpeg 0", "bird/a/z.jpg 0", "cat/a.JpEg 1",
                                          "cat/b.PNG 1", "dog/10.jpg 2", "dog/2.jpg 2"));
  EXPECT_EQ(listing->Path(3), folder / "cat/a.JpEg");
  ASSERT_EQ(listing->classes().size(), 3u);
  EXPECT_EQ(listing->classes()[1].name, "cat");
  EXPECT_EQ(listing->classes()[1].begin, 3);
  EXPECT_EQ(listing->classes()[1].end, 5);
}

TEST(ImageListing, DoesNotDependOnThreadsOrTheirSpeed) {
  TemporaryFolder folder;
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) folder.Write(Cat("class", random() % 20, "/", random() % 4, "/", i, ".jpg"));
  const auto expected = List(folder.path(), {.threads = 1});
  ASSERT_TRUE(expected.ok());
  std::atomic<int> calls{0};
  FaultyFileSystem slow(LocalFileSystem(), [&](std::string_view, const std::string&) {
    std::this_thread::sleep_for(std::chrono::microseconds(calls.fetch_add(1) * 7919 % 301));
    return absl::OkStatus();
  });
  for (const int threads : {0, 2, 7, 40}) {
    const auto listing = ImageListing::Make(slow, folder.path(), {.threads = threads});
    ASSERT_TRUE(listing.ok());
    EXPECT_EQ(Rows(*listing), Rows(*expected));
    EXPECT_EQ(listing->fingerprint(), expected->fingerprint());
  }
}

TEST(ImageListing, FollowsLinks) {
  TemporaryFolder folder;
  folder.Write("elsewhere/deep/1.jpg");
  folder.Write("photos/cat/2.jpg");
  folder.Link("../elsewhere", "photos/linked");
  folder.Link("../../elsewhere/deep", "photos/cat/more");
  folder.Link("2.jpg", "photos/cat/3.jpg");
  const auto listing = List(folder / "photos");
  ASSERT_TRUE(listing.ok()) << listing.status();
  EXPECT_THAT(Rows(*listing), ElementsAre("cat/2.jpg 0", "cat/3.jpg 0", "cat/more/1.jpg 0", "linked/deep/1.jpg 1"));
}

TEST(ImageListing, RefusesLinksThatLeadBack) {
  for (const char* target : {".", "..", "../.."}) {
    TemporaryFolder folder;
    folder.Write("photos/cat/1.jpg");
    folder.Link(target, "photos/cat/loop");
    EXPECT_THAT(ErrorOf(folder / "photos"), AllOf(HasSubstr("cat/loop"), HasSubstr("makes a cycle"))) << target;
  }
}

// A folder behind each of two links, and again, makes more paths than a walk can visit.
void FanOut(const TemporaryFolder& folder, int levels) {
  for (int i = 0; i < levels; ++i) {
    folder.MakeFolder(Cat("levels/", i));
    for (const char* name : {"a", "b"}) folder.Link(folder / Cat("levels/", i + 1), Cat("levels/", i, "/", name));
  }
  folder.Write(Cat("levels/", levels, "/1.jpg"));
  folder.MakeFolder("photos");
  folder.Link(folder / "levels/0", "photos/cat");
}

TEST(ImageListing, BoundsTheFilesThatLinksReachAgain) {
  TemporaryFolder deep;
  FanOut(deep, 12);
  EXPECT_THAT(ErrorOf(deep / "photos"), HasSubstr("symbolic links lead to this folder in more than 16 ways"));
  // Many classes may be one folder, too.
  TemporaryFolder wide;
  for (int i = 0; i < 100; ++i) wide.Write(Cat("store/", i, ".jpg"));
  wide.MakeFolder("photos");
  for (int i = 0; i < 200; ++i) wide.Link("../store", Cat("photos/", i));
  EXPECT_THAT(ErrorOf(wide / "photos"), HasSubstr("symbolic links lead to this folder in more than 16 ways"));
}

TEST(ImageListing, DoesNotBoundTheFilesThatLinksReachOnce) {
  TemporaryFolder folder;
  folder.MakeFolder("photos");
  for (int i = 0; i < 200; ++i) {
    for (int file = 0; file < 60; ++file) folder.Write(Cat("store/", i, "/", file, ".jpg"));
    folder.Link(Cat("../store/", i), Cat("photos/", i));
  }
  const auto listing = List(folder / "photos");
  ASSERT_TRUE(listing.ok()) << listing.status();
  EXPECT_EQ(listing->size(), 12'000);
}

TEST(ImageListing, EndsWhereItIsInterrupted) {
  for (const int classes : {1, 3}) {
    TemporaryFolder folder;
    FanOut(folder, 9);
    for (int i = 1; i < classes; ++i) folder.Link(folder / "levels/0", Cat("photos/", i));
    const std::thread::id here = std::this_thread::get_id();
    const Interrupt interrupt([here] {
      EXPECT_EQ(std::this_thread::get_id(), here);
      return true;
    });
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    absl::Status status;
    while (status.ok() && std::chrono::steady_clock::now() < until) {
      status = List(folder / "photos").status();
    }
    EXPECT_EQ(KindOf(status), ErrorKind::kClosed) << status;
  }
}

TEST(ImageListing, PassesOverWhatIsNoFile) {
  TemporaryFolder folder;
  folder.Write("cat/1.jpg");
  ASSERT_EQ(mkfifo((folder / "cat/2.jpg").c_str(), 0600), 0);
  EXPECT_THAT(Rows(*List(folder.path())), ElementsAre("cat/1.jpg 0"));
}

TEST(ImageListing, RefusesANulInAPath) {
  TemporaryFolder folder;
  folder.Write("cat/1.jpg");
  const auto listing = List(folder.path() + std::string("\0/x", 3));
  EXPECT_EQ(KindOf(listing.status()), ErrorKind::kGraph);
  EXPECT_THAT(Message(listing.status()), HasSubstr("\\0/x' contains a NUL"));
}

TEST(ImageListing, RefusesABrokenLinkThatShouldBeAnImage) {
  TemporaryFolder folder;
  folder.Write("cat/1.jpg");
  folder.Link("nowhere", "cat/notes.txt");
  EXPECT_TRUE(List(folder.path()).ok());
  folder.Link("nowhere", "cat/2.jpg");
  EXPECT_THAT(ErrorOf(folder.path()), AllOf(HasSubstr("cat/2.jpg"), HasSubstr("not there")));
}

TEST(ImageListing, TakesOtherExtensions) {
  TemporaryFolder folder;
  folder.Write("cat/1.jpg");
  folder.Write("cat/2.WebP");
  folder.Write("cat/3.tar.gz");
  const auto listing = List(folder.path(), {.extensions = {"webp", ".TAR.GZ"}});
  ASSERT_TRUE(listing.ok());
  EXPECT_THAT(Rows(*listing), ElementsAre("cat/2.WebP 0", "cat/3.tar.gz 0"));
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{}, {""}, {"."}, {"a/b"}}) {
    EXPECT_EQ(KindOf(List(folder.path(), {.extensions = wrong}).status()), ErrorKind::kGraph);
  }
}

TEST(ImageListing, AClassMapNamesAndChooses) {
  TemporaryFolder folder;
  for (const char* name : {"cat/1.jpg", "dog/1.jpg", "fox/1.jpg"}) folder.Write(name);
  const auto listing = List(folder.path(), {.class_map = {{"fox", 5}, {"cat", -1}}});
  ASSERT_TRUE(listing.ok());
  EXPECT_THAT(Rows(*listing), ElementsAre("cat/1.jpg -1", "fox/1.jpg 5"));
  EXPECT_THAT(ErrorOf(folder.path(), {.class_map = {{"cat", 0}, {"wolf", 1}}}),
              AllOf(HasSubstr("wolf"), HasSubstr("cat, dog, fox")));
}

TEST(ImageListing, NamesAMissingFolder) {
  TemporaryFolder folder;
  folder.MakeFolder("photos");
  EXPECT_THAT(ErrorOf(folder / "photo"), AllOf(HasSubstr(folder / "photo"), HasSubstr("did you mean")));
  folder.Write("file");
  EXPECT_THAT(ErrorOf(folder / "file"), HasSubstr("is a file, where a folder is expected"));
}

TEST(ImageListing, SaysWhatToDoWithoutClassFolders) {
  TemporaryFolder folder;
  EXPECT_THAT(ErrorOf(folder.path()), AllOf(HasSubstr("no class folders"), HasSubstr("it is empty")));
  folder.Write("1.jpg");
  folder.Write("2.jpg");
  EXPECT_THAT(ErrorOf(folder.path()), HasSubstr("holds 2 images directly: put them in one folder a class"));
}

TEST(ImageListing, NamesClassesWithoutImages) {
  TemporaryFolder folder;
  folder.Write("cat/1.jpg");
  folder.Write("dog/1.webp");
  folder.Write("dog/2.webp");
  folder.Write("dog/README");
  EXPECT_THAT(ErrorOf(folder.path()), AllOf(HasSubstr(folder / "dog"), HasSubstr(".jpeg, .jpg, .png"),
                                            HasSubstr("2 .webp, 1 no extension"), HasSubstr("allow_empty")));
  folder.MakeFolder("eel");
  EXPECT_THAT(ErrorOf(folder.path()), HasSubstr("2 class folders hold no images: dog, eel"));
  const auto listing = List(folder.path(), {.allow_empty = true});
  ASSERT_TRUE(listing.ok());
  EXPECT_THAT(Rows(*listing), ElementsAre("cat/1.jpg 0"));
  EXPECT_EQ(listing->classes().size(), 3u);
}

TEST(ImageListing, FindsEachImagesClassBetweenEmptyOnes) {
  TemporaryFolder folder;
  for (const char* name : {"a", "c", "d", "f"}) folder.MakeFolder(name);
  folder.Write("b/1.jpg");
  folder.Write("e/1.jpg");
  const auto listing = List(folder.path(), {.allow_empty = true});
  ASSERT_TRUE(listing.ok());
  EXPECT_THAT(Rows(*listing), ElementsAre("b/1.jpg 1", "e/1.jpg 4"));
}

TEST(ImageListing, SaysWhatWasThereWhenNothingFits) {
  TemporaryFolder folder;
  folder.Write("cat/1.webp");
  folder.Write("dog/1.gif");
  EXPECT_THAT(ErrorOf(folder.path(), {.allow_empty = true}),
              AllOf(HasSubstr("no images"), HasSubstr("1 .gif, 1 .webp"), HasSubstr("set extensions")));
}

TEST(ImageListing, PassesOnErrorsOfTheFileSystemInClassOrder) {
  TemporaryFolder folder;
  for (int i = 0; i < 30; ++i) folder.Write(Cat("class", 10 + i, "/1.jpg"));
  FaultyFileSystem faulty(LocalFileSystem(), [](std::string_view call, const std::string& path) {
    const bool fail = call == "List" && (path.find("class17") != path.npos || path.find("class31") != path.npos);
    return fail ? DataError(path, ": no answer") : absl::OkStatus();
  });
  for (int i = 0; i < 20; ++i) {
    const auto listing = ImageListing::Make(faulty, folder.path(), {});
    EXPECT_THAT(Message(listing.status()), AllOf(HasSubstr("class17"), HasSubstr("no answer")));
  }
}

TEST(ImageListing, FingerprintsWhatARowDependsOn) {
  TemporaryFolder folder;
  folder.Write("a/cat/1.jpg", "12345");
  folder.Write("a/dog/1.jpg", "123");
  folder.Write("b/cat/1.jpg", "54321");
  folder.Write("b/dog/1.jpg", "321");
  const uint64_t before = List(folder / "a")->fingerprint();
  EXPECT_EQ(before, List(folder / "b")->fingerprint()) << "where the folder stands does not count";
  EXPECT_NE(before, List(folder / "a", {.class_map = {{"cat", 0}, {"dog", 2}}})->fingerprint());
  EXPECT_NE(before, List(folder / "a", {.extensions = {".jpg"}})->fingerprint());
  folder.Write("a/dog/1.jpg", "1234");
  EXPECT_NE(before, List(folder / "a")->fingerprint());
  std::filesystem::rename(folder / "b/cat/1.jpg", folder / "b/cat/2.jpg");
  EXPECT_NE(before, List(folder / "b")->fingerprint());
  std::filesystem::rename(folder / "b/cat/2.jpg", folder / "b/cat/1.jpg");
  EXPECT_EQ(before, List(folder / "b")->fingerprint());
  std::filesystem::rename(folder / "b/dog", folder / "b/dox");
  EXPECT_NE(before, List(folder / "b")->fingerprint());
}

// The hash must not change, because fingerprints are part of saved states.
TEST(ImageListing, HashesAsEver) {
  EXPECT_EQ(HashBytes(""), 10992944619873892687ULL);
  EXPECT_EQ(HashBytes("headrace", 1), 8186187681600773117ULL);
  EXPECT_NE(HashBytes("a"), HashBytes(std::string_view("a\0", 2)));
}

class SavedListing : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"photos/cat/1.jpg", "photos/cat/deep/2.jpg", "photos/dog/1.png"}) folder_.Write(name);
    listing_ = *List(folder_ / "photos");
    ASSERT_TRUE(listing_.Save(Local(), Saved()).ok());
    bytes_ = Local().Read(Saved())->bytes_value();
  }
  std::string Saved() const { return folder_ / "saved"; }
  absl::StatusOr<ImageListing> Load(const ImageListingOptions& options = {}) const {
    return ImageListing::Load(Local(), Saved(), "elsewhere", options);
  }
  absl::StatusOr<ImageListing> LoadBytes(std::string_view bytes) const {
    return ImageListing::Load(OneFile(std::string(bytes)), Saved(), "elsewhere", {});
  }
  // Hashes the payload anew, so that what lies after the checksum is tried as well.
  static void Seal(std::string& bytes) {
    if (bytes.size() < 28) return;
    const uint64_t payload = bytes.size() - 28;
    const uint64_t hash = HashBytes(std::string_view(bytes).substr(28));
    std::memcpy(&bytes[12], &payload, 8);
    std::memcpy(&bytes[20], &hash, 8);
  }

  TemporaryFolder folder_;
  ImageListing listing_;
  std::string bytes_;
};

TEST_F(SavedListing, ComesBack) {
  const auto loaded = Load();
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(Rows(*loaded), Rows(listing_));
  EXPECT_EQ(loaded->fingerprint(), listing_.fingerprint());
  for (int64_t i = 0; i < listing_.size(); ++i) EXPECT_EQ(loaded->file_size(i), listing_.file_size(i));
  EXPECT_EQ(loaded->Path(0), "elsewhere/cat/1.jpg");
}

TEST_F(SavedListing, RefusesOtherOptions) {
  for (const ImageListingOptions& other : {ImageListingOptions{.extensions = {".png"}}, {.class_map = {{"cat", 0}}}}) {
    const auto loaded = Load(other);
    EXPECT_EQ(KindOf(loaded.status()), ErrorKind::kGraph);
    EXPECT_THAT(Message(loaded.status()), AllOf(HasSubstr(Saved()), HasSubstr("other extensions")));
  }
  EXPECT_TRUE(Load({.allow_empty = true, .threads = 3}).ok()) << "these do not change a listing";
}

TEST_F(SavedListing, RefusesEveryCutAndEveryFlippedBit) {
  for (size_t cut = 0; cut < bytes_.size(); ++cut) {
    EXPECT_EQ(KindOf(LoadBytes(bytes_.substr(0, cut)).status()), ErrorKind::kData) << cut;
  }
  EXPECT_FALSE(LoadBytes(bytes_ + "x").ok());
  for (size_t bit = 0; bit < 8 * bytes_.size(); ++bit) {
    std::string flipped = bytes_;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const auto loaded = LoadBytes(flipped);
    EXPECT_FALSE(loaded.ok()) << bit;
    EXPECT_THAT(Message(loaded.status()), HasSubstr(Saved()));
  }
}

TEST_F(SavedListing, SaysWhatIsWrong) {
  EXPECT_THAT(Message(LoadBytes("\xff\xd8\xff").status()), HasSubstr("not a listing"));
  EXPECT_THAT(Message(LoadBytes(bytes_.substr(0, bytes_.size() - 1)).status()), HasSubstr("damaged"));
  std::string newer = bytes_;
  newer[8] = 9;
  const absl::Status status = LoadBytes(newer).status();
  EXPECT_EQ(KindOf(status), ErrorKind::kUnsupported);
  EXPECT_THAT(Message(status), HasSubstr("version 9"));
}

TEST_F(SavedListing, RefusesPathsThatLeadOutOfItsFolder) {
  using std::string_view_literals::operator""sv;
  for (const std::string_view hostile : {"../p/2.jpg"sv, "deep/../.j"sv, "deep/2\0jpg"sv}) {
    std::string bytes = bytes_;
    bytes.replace(bytes.find("deep/2.jpg"), 10, hostile);
    Seal(bytes);
    const absl::Status status = LoadBytes(bytes).status();
    EXPECT_EQ(KindOf(status), ErrorKind::kData) << hostile;
    EXPECT_THAT(Message(status), HasSubstr("leads out of its folder"));
  }
  std::string bytes = bytes_;
  bytes.replace(bytes.find("deep/2.jpg"), 10, "d..p/..jpg");
  Seal(bytes);
  EXPECT_TRUE(LoadBytes(bytes).ok()) << "these only look like it";
}

TEST_F(SavedListing, SurvivesAnyBytesBehindARightChecksum) {
  const int rounds = Rounds(20000, {.quick = 3000, .sanitized = 3000});
  std::mt19937_64 random(11);
  int loaded = 0;
  for (int round = 0; round < rounds; ++round) {
    std::string bytes = bytes_;
    for (uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
      const size_t at = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes.erase(at, 1 + random() % 9);
          break;
        case 2:
          bytes.insert(at, 1 + random() % 9, static_cast<char>(random()));
          break;
        default:
          // A whole number at the offset of a count or a length.
          const uint64_t number = random() >> (random() % 64);
          if (at + 8 <= bytes.size()) std::memcpy(&bytes[at / 4 * 4 + 8 <= bytes.size() ? at / 4 * 4 : at], &number, 8);
      }
      if (bytes.empty()) bytes = "x";
    }
    if (random() % 8 != 0) {
      Seal(bytes);
      bytes.replace(0, std::min<size_t>(12, bytes.size()), bytes_, 0, std::min<size_t>(12, bytes.size()));
    }
    const auto listing = LoadBytes(bytes);
    if (!listing.ok()) {
      EXPECT_NE(KindOf(listing.status()), ErrorKind::kInternal) << listing.status();
      continue;
    }
    ++loaded;
    for (int64_t i = 0; i < listing->size(); ++i) {
      const std::string path = Cat("/", listing->RelativePath(i), "/");
      EXPECT_TRUE(path.find("/../") == std::string::npos && path.find('\0') == std::string::npos) << path;
      listing->file_size(i);
    }
  }
  EXPECT_GT(loaded, 0) << "some changes only touch names";
  printf("HEADRACE-COUNT fuzz=%d\n", rounds);
}

}  // namespace
}  // namespace headrace
