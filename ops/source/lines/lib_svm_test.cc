#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "io/files/testing/temporary_folder.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LibSvm : public ::testing::Test {
 protected:
  GraphBuilder Source(GraphBuilder::Given more = {}) const {
    GraphBuilder builder;
    more.emplace_back("patterns", ir::StringsValue({folder_ / "*.libsvm"}));
    builder.Add("LibSvm", {}, more);
    return builder;
  }
  TemporaryFolder folder_;
};

TEST_F(LibSvm, GivesTheLinesOfAllFiles) {
  folder_.Write("a.libsvm", "1 0:2\r\n\n# none\n2\n");
  folder_.Write("b.libsvm", "# none");
  folder_.Write("c.libsvm", "\xEF\xBB\xBF-3 1:1 5:0.5");
  const Ran ran = RunEveryWay(Source());
  for (const uint64_t epoch : {0, 1}) {
    EXPECT_THAT(ran.Texts(epoch), ElementsAre("label=1, index=int64 (1,) [0], value=float32 (1,) [2]",
                                              "label=2, index=int64 (0,) [], value=float32 (0,) []",
                                              "label=-3, index=int64 (2,) [1 5], value=float32 (2,) [1 0.5]"));
  }
}

TEST_F(LibSvm, CountsFromOneIfAsked) {
  folder_.Write("a.libsvm", "1 1:2 4:3\n");
  EXPECT_THAT(RunEveryWay(Source({{"zero_based", ir::BoolValue(false)}, {"features", ir::IntValue(4)}})).Texts(),
              ElementsAre("label=1, index=int64 (2,) [0 3], value=float32 (2,) [2 3]"));
}

TEST_F(LibSvm, NamesTheLineThatIsWrong) {
  folder_.Write("a.libsvm", "1 0:2\n\n1 3:1\n2\n");
  const Ran ran = RunEveryWay(Source({{"features", ir::IntValue(3)}}));
  EXPECT_THAT(ran.Texts(), ElementsAre("label=1, index=int64 (1,) [0], value=float32 (1,) [2]"));
  EXPECT_THAT(DescribeError(ran.error), HasSubstr("field 2 has the index 3; indices are 0 to 2: 1 3:1"));
  EXPECT_THAT(DescribeError(ran.error), HasSubstr("a.libsvm, byte 7"));
}

TEST_F(LibSvm, RefusesNoFeatures) {
  folder_.Write("a.libsvm", "1\n");
  EXPECT_THAT(Refusal(Source({{"features", ir::IntValue(0)}})), HasSubstr("features"));
}

}  // namespace
}  // namespace headrace
