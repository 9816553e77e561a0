#include "io/formats/tar/tar_name.h"

#include <gtest/gtest.h>

#include <string>

#include "core/text.h"

namespace headrace {
namespace {

std::string NameParts(std::string_view path) {
  const auto name = TarNameOf(path);
  return name.has_value() ? Cat(name->key, "|", name->field) : "none";
}

// As webdataset 1.0.2 takes them.
TEST(TarName, IsCutAtTheFirstDotOfItsLastPart) {
  EXPECT_EQ(NameParts("000.jpg"), "000|jpg");
  EXPECT_EQ(NameParts("000.seg.PNG"), "000|seg.PNG");
  EXPECT_EQ(NameParts("dir/sub.d/x.y.png"), "dir/sub.d/x|y.png");
  EXPECT_EQ(NameParts("./000.jpg"), "./000|jpg");
  EXPECT_EQ(NameParts("/a/b.c"), "/a/b|c");
  EXPECT_EQ(NameParts("000."), "000|");
  EXPECT_EQ(NameParts("000..jpg"), "000|.jpg");
  EXPECT_EQ(NameParts("a b.j p"), "a b|j p");
}

TEST(TarName, BelongsToNoSampleWithoutSuchADot) {
  for (const char* none :
       {"", "noext", "dir.d/noext", ".hidden", "dir/.hidden", ".hidden.jpg", "dir/", "dir.d/", "."}) {
    EXPECT_EQ(NameParts(none), "none") << none;
  }
}

TEST(TarName, BelongsToNoSampleInAFolderOfMeta) {
  for (const char* none : {"__meta__", "__meta__/a.txt", "__private__/b/a.txt", "____/a.txt", "__a.b__/a.txt"}) {
    EXPECT_EQ(NameParts(none), "none") << none;
  }
  EXPECT_EQ(NameParts("__meta__.txt"), "__meta__|txt");
  EXPECT_EQ(NameParts("a/__meta__/a.txt"), "a/__meta__/a|txt");
  EXPECT_EQ(NameParts("___/a.txt"), "___/a|txt");
  EXPECT_EQ(NameParts("__meta/a.txt"), "__meta/a|txt");
}

TEST(TarName, HasFieldsOfAnyCase) {
  EXPECT_EQ(LowerField("Seg.PNG"), "seg.png");
  EXPECT_EQ(LowerField("AZaz@[`{09"), "azaz@[`{09");
  EXPECT_EQ(LowerField("\xC3\x89.JPG"), "\xC3\x89.jpg") << "other letters stay";
}

}  // namespace
}  // namespace headrace
