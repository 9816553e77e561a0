#include "ops/mix/mixture_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

struct MixtureRowsDrawn {
  std::vector<size_t> inputs;
  std::vector<std::pair<size_t, uint64_t>> passes;  // begun again, and of which input
  bool all = false;
};

// Lets no input begin the pass `refused`.
MixtureRowsDrawn Draw(MixtureStop stop, const std::vector<uint64_t>& sizes, uint64_t refused = 1000) {
  MixtureDraws draws(std::vector<double>(sizes.size(), 1));
  draws.Begin(3);
  MixtureRowsDrawn drawn;
  const auto give = [&](size_t input) {
    drawn.inputs.push_back(input);
    return true;
  };
  const auto begin_pass = [&](size_t input, uint64_t pass) {
    drawn.passes.emplace_back(input, pass);
    return pass < refused;
  };
  drawn.all = DrawMixture(stop, sizes, draws, give, begin_pass);
  return drawn;
}

TEST(MixtureRows, BeginPassesOneAfterTheOther) {
  const MixtureRowsDrawn drawn = Draw(MixtureStop::kRepeat, {1, 20});
  EXPECT_TRUE(drawn.all);
  ASSERT_GT(drawn.passes.size(), 3u);
  for (size_t i = 0; i < drawn.passes.size(); ++i) EXPECT_THAT(drawn.passes[i], Pair(0, i + 1));
}

TEST(MixtureRows, StopBeforeAPassThatIsRefused) {
  const MixtureRowsDrawn drawn = Draw(MixtureStop::kRepeat, {1, 20}, 2);
  EXPECT_FALSE(drawn.all);
  EXPECT_THAT(drawn.passes, ElementsAre(Pair(0, 1), Pair(0, 2)));
  const auto of_first = std::count(drawn.inputs.begin(), drawn.inputs.end(), size_t{0});
  EXPECT_EQ(of_first, 2);
}

TEST(MixtureRows, BeginNoPassWithoutRepeat) {
  for (const MixtureStop stop : {MixtureStop::kFirst, MixtureStop::kAll}) {
    EXPECT_THAT(Draw(stop, {1, 20}, 0).passes, IsEmpty());
    EXPECT_TRUE(Draw(stop, {1, 20}, 0).all);
  }
}

}  // namespace
}  // namespace headrace
