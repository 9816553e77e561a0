#include "io/files/far_glob.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "io/files/glob.h"
#include "io/files/plainly_missing.h"
#include "io/files/testing/memory_store.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

using Kind = MemoryStore::Kind;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Texts(const PathArena& paths) {
  std::vector<std::string> texts;
  for (int64_t i = 0; i < paths.size(); ++i) texts.emplace_back(paths[i]);
  return texts;
}

constexpr std::string_view kTreeNames[] = {"1.jpg",        "2.jpg",     ".hidden.jpg",   "a/1.jpg",    "a/b/2.jpg",
                                           "a/b/c/3.jpg",  "a/b/c.jpg", "a/.git/4.jpg",  "a-b/5.jpg",  "a0/6.png",
                                           "x[1]/7.jpg",   "x1/8.jpg",  "d/d/d/d/9.jpg", "d/d/10.jpg", "z/.k/11.jpg",
                                           "\xc3\xa9.jpg", "q?.jpg",    "star*.jpg",     "a/b.jpg/c",  "e;f.jpg"};

// Every pattern matches what it matches on a disk, in the same order.
TEST(FarGlob, MatchesAsOnADisk) {
  const TemporaryFolder folder;
  MemoryStore store;
  for (const std::string_view name : kTreeNames) {
    folder.Write(name);
    store.Put(Cat("mem://b/", name), "x");
  }
  const std::string_view patterns[] = {
      "*",          "*.jpg",       "**",         "**/*.jpg",  "a/**",      "a/**/*.jpg", "**/b/**",
      "*/*.jpg",    "?.jpg",       "[12].jpg",   "[!1].jpg",  "a/*/*",     "**/d/**/*",  "**/**/*.jpg",
      ".*",         "a/.*/*",      "x[[]1]/*",   "x[1]/*",    "a/b/c.jpg", "d/**/d/*",   "**/*.png",
      "q[?].jpg",   "star[*].jpg", "*;*",        "a*/*",      "a/**/c/*",  "**/.k/*",    "[.]hidden.jpg",
      "a/[.]git/*", "[a]/1.jpg",   "x[[]1[]]/*", "e[;]f.jpg", "a/b.jpg/*", "*/b/*.jpg",  "**/c"};
  int matched = 0;
  for (const std::string_view pattern : patterns) {
    const auto near = Glob(*LocalFileSystem(), {folder / pattern});
    const auto far = Glob(store, {Cat("mem://b/", pattern)});
    ASSERT_EQ(near.ok(), far.ok()) << pattern << near.status() << far.status();
    if (!near.ok()) continue;
    std::vector<std::string> wanted;
    for (const std::string& path : Texts(*near)) {
      wanted.push_back(Cat("mem://b", std::string_view(path).substr(folder.path().size())));
    }
    EXPECT_EQ(Texts(*far), wanted) << pattern;
    ++matched;
  }
  EXPECT_GT(matched, 24);
}

TEST(FarGlob, ListsAsLittleAsThePatternNeeds) {
  MemoryStore store;
  store.Put("mem://b/a/1.jpg", "x");
  store.Put("mem://b/a/c/2.jpg", "x");
  ASSERT_TRUE(Glob(store, {"mem://b/a/*.jpg"}).ok());
  EXPECT_EQ(store.count(Kind::kListPage, "mem://b/a"), 1);
  EXPECT_EQ(store.count(), 1);
  store.ForgetRequests();
  ASSERT_TRUE(Glob(store, {"mem://b/a/**"}).ok());
  EXPECT_EQ(store.count(Kind::kTreePage, "mem://b/a"), 1);
  EXPECT_EQ(store.count(), 1);
}

TEST(FarGlob, TakesAFileOfThatVeryName) {
  MemoryStore store;
  store.Put("mem://b/a1.jpg", "x");
  EXPECT_THAT(Texts(*Glob(store, {"mem://b/a[1].jpg"})), ElementsAre("mem://b/a1.jpg"));
  store.Put("mem://b/a[1].jpg", "x");
  EXPECT_THAT(Texts(*Glob(store, {"mem://b/a[1].jpg"})), ElementsAre("mem://b/a[1].jpg"));
  store.Put("mem://b/star*.jpg", "x");
  store.Put("mem://b/starry.jpg", "x");
  EXPECT_THAT(Texts(*Glob(store, {"mem://b/star*.jpg"})), ElementsAre("mem://b/star*.jpg"));
}

TEST(FarGlob, SaysWhatIsMissing) {
  MemoryStore store;
  store.Put("mem://b/train/1.jpg", "x");
  const auto message = [&](const std::string& pattern) {
    return std::string(Glob(store, {pattern}).status().message());
  };
  EXPECT_THAT(message("mem://b/train/*.png"), HasSubstr("the folder mem://b/train is there"));
  EXPECT_THAT(message("mem://b/trian/*.jpg"), HasSubstr("did you mean mem://b/train?"));
  EXPECT_THAT(message("mem://b/train"), AllOf(HasSubstr("is a folder"), HasSubstr("mem://b/train/*")));
  EXPECT_THAT(message("mem://b/train/1.jpg/*"), HasSubstr("mem://b/train/1.jpg is a file, not a folder"));
  EXPECT_THAT(message("mem://c/x/y"), HasSubstr("nothing is below mem://c/x"));
  EXPECT_THAT(message("mem://c"), HasSubstr("the name of the bucket"));
  EXPECT_THAT(message("mem://*/x"), HasSubstr("a pattern cannot match hosts and buckets"));
  EXPECT_THAT(message("mem://b*"), HasSubstr("a pattern cannot match hosts and buckets"));
}

TEST(FarGlob, LeavesOtherErrorsAsTheyAre) {
  MemoryStore store;
  store.set_before([](const MemoryStore::Request&) { return ResourceError("forbidden"); });
  for (const std::string pattern : {"mem://b/*", "mem://b/**", "mem://b/a"}) {
    EXPECT_EQ(KindOf(Glob(store, {pattern}).status()), ErrorKind::kResource) << pattern;
  }
  // Where only the file is looked for in vain.
  store.set_before([](const MemoryStore::Request& request) {
    return request.path == "mem://b/a/c" ? MissingError(request.path) : UnsupportedError("the key is refused");
  });
  EXPECT_THAT(std::string(Glob(store, {"mem://b/a/c"}).status().message()), HasSubstr("the key is refused"));
}

// Refused keys are of the same kind as missing files, and are to be mended elsewhere.
TEST(FarGlob, KeepsTheReasonWhyAStoreRefuses) {
  MemoryStore store;
  store.set_before([](const MemoryStore::Request& request) {
    return NotFoundError(request.path, ": the keys are of another store");
  });
  for (const std::string pattern : {"mem://b/c/*", "mem://b/c/**/*.jpg", "mem://b/c"}) {
    const absl::Status status = Glob(store, {pattern}).status();
    EXPECT_EQ(status.message(), "mem://b/c: the keys are of another store") << pattern;
  }
}

TEST(FarGlob, SaysWhyTheFolderOfAMissingFileCannotBeAskedFor) {
  MemoryStore store;
  store.set_before([](const MemoryStore::Request& request) {
    return request.path == "mem://b/c" ? NotFoundError("mem://b/c: may not be listed") : absl::OkStatus();
  });
  EXPECT_EQ(Glob(store, {"mem://b/c/1"}).status().message(),
            "mem://b/c/1: not found; of its folder the store says: mem://b/c: may not be listed");
}

TEST(FarGlob, TakesNoPartOfAListingThatFailed) {
  MemoryStore store({.page = 2});
  for (const std::string name : {"1", "2", "3"}) store.Put(Cat("mem://b/a/", name), "x");
  store.set_before([&](const MemoryStore::Request& request) {
    const bool second = request.kind == Kind::kTreePage && store.count(Kind::kTreePage) % 2 == 0;
    return second ? NotFoundError("the folder went away") : absl::OkStatus();
  });
  EXPECT_THAT(std::string(Glob(store, {"mem://b/a/**"}).status().message()), HasSubstr("the folder went away"));
  store.set_before([](const MemoryStore::Request& request) {
    const bool lists = request.kind == Kind::kTreePage && request.path == "mem://b/c";
    return lists ? MissingError("mem://b/c") : absl::OkStatus();
  });
  EXPECT_THAT(std::string(Glob(store, {"mem://b/c/**"}).status().message()), HasSubstr("did you mean mem://b/a?"));
}

TEST(FarGlob, TakesAddressesOfHttpAsTheyAre) {
  for (const std::string url : {"http://h/a?b=[c];d*", "https://h/**"}) {
    EXPECT_FALSE(TakesPatterns(url));
    EXPECT_EQ(EscapePattern(url), url);
  }
  EXPECT_TRUE(TakesPatterns("s3://b/*"));
  EXPECT_TRUE(TakesPatterns("http:/x"));
  MemoryStore store;
  EXPECT_THAT(Texts(*Glob(store, {"http://h/a?b=[c];d*"})), ElementsAre("http://h/a?b=[c];d*"));
  EXPECT_EQ(store.count(), 0);
}

}  // namespace
}  // namespace headrace
