#include "ops/source/unfinished_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/files/glob.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

absl::Status CheckMatches(const std::string& pattern) {
  const absl::StatusOr<PathArena> paths = Glob(*LocalFileSystem(), {pattern});
  EXPECT_TRUE(paths.ok()) << paths.status();
  return paths.ok() ? CheckSetsFinished(*LocalFileSystem(), *paths) : paths.status();
}

TEST(CheckSetsFinished, RefusesASetThatWasCutOff) {
  const TemporaryFolder folder;
  folder.Write("train-00000-of-00003.rec");
  folder.Write("train-00002-of-00003.rec");
  EXPECT_TRUE(CheckMatches(folder / "*.rec").ok()) << "somebody chose these files";
  folder.Write("train.rec.journal");
  for (const char* pattern : {"*.rec", "train-00002*"}) {
    const absl::Status status = CheckMatches(folder / pattern);
    EXPECT_EQ(KindOf(status), ErrorKind::kData) << status;
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("train-00001-of-00003.rec is missing"),
                                                     HasSubstr("train.rec.journal"), HasSubstr("resume=True")));
  }
  folder.Write("train-00001-of-00003.rec");
  for (const char* pattern : {"*.rec", "train-00002*"}) EXPECT_TRUE(CheckMatches(folder / pattern).ok()) << pattern;
}

TEST(CheckSetsFinished, TellsSetsApart) {
  const TemporaryFolder folder;
  folder.Write("a-00000-of-00002");
  folder.Write("a-00001-of-00002");
  folder.Write("a.journal");
  folder.Write("b-00000-of-00001");
  EXPECT_TRUE(CheckMatches(folder / "*-of-*").ok());
  folder.Write("b-00001-of-00002");
  EXPECT_TRUE(CheckMatches(folder / "*-of-*").ok()) << "it has no journal";
  folder.Write("a-00002-of-00004");
  EXPECT_THAT(std::string(CheckMatches(folder / "*-of-*").message()), HasSubstr("a-00000-of-00004 is missing"));
}

TEST(CheckSetsFinished, TakesNoOtherNameForASet) {
  const TemporaryFolder folder;
  for (const char* name : {"a-0000-of-00002", "a-00000-of-0002", "a00000-of-00002", "-of-00002", "a-00002-of-00002",
                           "a-+0000-of-00002", "a-0000x-of-00002", "a-00000-of-00000", "-of-", "00000-of-00002"}) {
    folder.Write(name);
  }
  for (const char* name : {"a.journal", ".journal", "a0.journal"}) folder.Write(name);
  EXPECT_TRUE(CheckMatches(folder / "*").ok());
}

}  // namespace
}  // namespace headrace
