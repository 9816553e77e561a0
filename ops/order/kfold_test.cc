#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ::testing::HasSubstr;

GraphBuilder Fold(int64_t k, int64_t fold, bool held_out, int64_t rows) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(rows)}});
  builder.Add("kfold", {0}, {{"k", IntValue(k)}, {"fold", IntValue(fold)}, {"held_out", BoolValue(held_out)}});
  return builder;
}

TEST(KFold, HoldsOutEveryRowOnce) {
  for (const int64_t rows : {7, 12, 13}) {
    std::multiset<int64_t> held_out;
    for (int64_t fold = 0; fold < 4; ++fold) {
      const std::vector<int64_t> out = RunEveryWay(Fold(4, fold, true, rows)).Ints();
      EXPECT_EQ(static_cast<int64_t>(out.size()), (fold + 1) * rows / 4 - fold * rows / 4);
      held_out.insert(out.begin(), out.end());
      std::vector<int64_t> both = RunEveryWay(Fold(4, fold, false, rows)).Ints();
      EXPECT_TRUE(std::is_sorted(both.begin(), both.end()));
      both.insert(both.end(), out.begin(), out.end());
      EXPECT_EQ(std::set<int64_t>(both.begin(), both.end()).size(), static_cast<size_t>(rows));
      EXPECT_EQ(both.size(), static_cast<size_t>(rows));
    }
    EXPECT_EQ(held_out.size(), static_cast<size_t>(rows));
    EXPECT_EQ(std::set<int64_t>(held_out.begin(), held_out.end()).size(), static_cast<size_t>(rows));
  }
}

TEST(KFold, RefusesFoldsWithoutRows) {
  EXPECT_THAT(Refusal(Fold(5, 0, true, 4)), HasSubstr("k is 5, but there are 4 rows"));
  EXPECT_THAT(Refusal(Fold(1, 0, true, 4)), HasSubstr("k is 1; it must be at least 2"));
  EXPECT_THAT(Refusal(Fold(3, 3, true, 4)), HasSubstr("fold is 3 of 3"));
}

}  // namespace
}  // namespace headrace
