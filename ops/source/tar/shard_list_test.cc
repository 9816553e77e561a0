#include "ops/source/tar/shard_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ShardList : public ::testing::Test {
 protected:
  // Without the folder.
  std::vector<std::string> Names(const std::vector<std::string>& texts) const {
    std::vector<std::string> given;
    for (const std::string& text : texts) given.push_back(folder_ / text);
    return NamesOf(given);
  }
  std::vector<std::string> NamesOf(const std::vector<std::string>& texts) const {
    const auto found = MatchShards(*LocalFileSystem(), texts);
    EXPECT_TRUE(found.ok()) << found.status();
    std::vector<std::string> names;
    for (int64_t i = 0; found.ok() && i < found->size(); ++i) {
      names.emplace_back((*found)[i].substr(folder_.path().size() + 1));
    }
    return names;
  }
  std::string Error(const std::string& text) const {
    return DescribeError(MatchShards(*LocalFileSystem(), {text}).status());
  }

  TemporaryFolder folder_;
};

TEST_F(ShardList, ExpandsBracesAndPatterns) {
  for (const char* name : {"s-000.tar", "s-001.tar", "s-002.tar", "val.tar"}) folder_.Write(name);
  EXPECT_THAT(Names({"s-{000..002}.tar"}), ElementsAre("s-000.tar", "s-001.tar", "s-002.tar"));
  EXPECT_THAT(Names({"s-{002..000}.tar"}), ElementsAre("s-002.tar", "s-001.tar", "s-000.tar"));
  EXPECT_THAT(Names({"{val,s-*}.tar"}), ElementsAre("val.tar", "s-000.tar", "s-001.tar", "s-002.tar"));
  EXPECT_THAT(Names({"s-{000..001}.tar", "s-001.tar", "val.tar"}), ElementsAre("s-000.tar", "s-001.tar", "val.tar"));
  EXPECT_THAT(Error(folder_ / "s-{000..003}.tar"), HasSubstr("s-003.tar"));
}

TEST_F(ShardList, TakesSeveralInOneText) {
  folder_.Write("a.tar");
  folder_.Write("b-1.tar");
  folder_.Write("b-2.tar");
  const std::string a = folder_ / "a.tar", b = folder_ / "b-{1..2}.tar";
  EXPECT_THAT(NamesOf({Cat(b, "::", a)}), ElementsAre("b-1.tar", "b-2.tar", "a.tar"));
  EXPECT_THAT(NamesOf({Cat(a, ";", folder_ / "b-2.tar")}), ElementsAre("a.tar", "b-2.tar"));
  EXPECT_THAT(NamesOf({Cat(b, ";", a, "::")}), ElementsAre("b-1.tar", "b-2.tar", "a.tar"));
}

TEST_F(ShardList, TakesAFolder) {
  for (const char* name : {"d/b.tar.gz", "d/a.tar", "d/a.tar.hridx", "d/a.idx", "d/notes.txt", "d/c.tzst", "d/.tar"}) {
    folder_.Write(name);
  }
  EXPECT_THAT(Names({"d"}), ElementsAre("d/a.tar", "d/b.tar.gz", "d/c.tzst"));
  folder_.Write("e/notes.txt");
  EXPECT_THAT(Error(folder_ / "e"), HasSubstr("no name in the folder"));
}

TEST_F(ShardList, LeavesOutIndicesBesideArchives) {
  for (const char* name : {"a.tar", "a.tar.hridx", "a.idx", "b.tar", "b.idx"}) folder_.Write(name);
  EXPECT_THAT(Names({"*"}), ElementsAre("a.tar", "b.tar"));
  EXPECT_THAT(Error(folder_ / "a.idx"), HasSubstr("names indices alone"));
  const auto indices = MatchShardIndices(*LocalFileSystem(), {folder_.path()});
  ASSERT_TRUE(indices.ok()) << indices.status();
  EXPECT_EQ(indices->size(), 2);
  EXPECT_EQ((*indices)[1], folder_ / "b.idx");
  EXPECT_EQ(MatchShardIndices(*LocalFileSystem(), {folder_ / "{b,a}.idx"})->size(), 2);
}

TEST_F(ShardList, MeansAFileOfThatVeryName) {
  for (const char* name : {"{a,b}.tar", "a.tar", "b.tar", "x::y.tar", "[1].tar", "p\\q.tar"}) folder_.Write(name);
  EXPECT_THAT(Names({"{a,b}.tar"}), ElementsAre("{a,b}.tar"));
  EXPECT_THAT(Names({"x::y.tar"}), ElementsAre("x::y.tar"));
  EXPECT_THAT(Names({"[1].tar"}), ElementsAre("[1].tar"));
  EXPECT_THAT(Names({"p\\q.tar"}), ElementsAre("p\\q.tar"));
}

TEST_F(ShardList, RunsNoCommand) {
  EXPECT_THAT(Error("pipe:touch x"), AllOf(HasSubstr("commands are never run"), HasSubstr("pipe:touch x")));
  EXPECT_THAT(Error("a.tar::pipe:touch x"), HasSubstr("commands are never run"));
}

TEST_F(ShardList, RefusesNothing) {
  EXPECT_EQ(KindOf(MatchShards(*LocalFileSystem(), {""}).status()), ErrorKind::kGraph);
  EXPECT_EQ(KindOf(MatchShards(*LocalFileSystem(), {"::"}).status()), ErrorKind::kGraph);
  EXPECT_THAT(Error(folder_ / "{1..99999999}.tar"), HasSubstr("more than 1048576 names"));
}

}  // namespace
}  // namespace headrace
