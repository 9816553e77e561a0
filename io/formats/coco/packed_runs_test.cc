#include "io/formats/coco/packed_runs.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;

std::vector<uint64_t> Unpacked(std::string_view text) {
  std::vector<uint64_t> runs;
  EXPECT_TRUE(UnpackRuns(text, runs)) << text;
  return runs;
}

TEST(PackedRuns, AreReadAsPycocotoolsWritesThem) {
  EXPECT_THAT(Unpacked("9"), ElementsAre(9));
  EXPECT_THAT(Unpacked("09"), ElementsAre(0, 9));
  EXPECT_THAT(Unpacked(""), ElementsAre());
  // 6 2 3 2 12: the fourth and fifth are differences to those two before.
  EXPECT_THAT(Unpacked("62309"), ElementsAre(6, 2, 3, 2, 12));
  // A difference below zero, and numbers of several characters.
  EXPECT_THAT(Unpacked("PP\\9`0=0Mi<"), ElementsAre(307200, 16, 13, 16, 10, 425));
}

TEST(PackedRuns, RefusesDamage) {
  std::vector<uint64_t> runs;
  EXPECT_FALSE(UnpackRuns("P", runs));  // more is said to follow
  EXPECT_FALSE(UnpackRuns("/", runs));  // below '0'
  EXPECT_FALSE(UnpackRuns("p", runs));  // beyond 'o'
  EXPECT_FALSE(UnpackRuns("O", runs));  // a run of length -1
  EXPECT_FALSE(UnpackRuns("oooooooooooooooooooo", runs));
}

}  // namespace
}  // namespace headrace
