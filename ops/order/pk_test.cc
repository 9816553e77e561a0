#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/testing/chi_square.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/row_values.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Rows of five classes: one of 1 row, one of 2, one of 3, two of 4.
const std::vector<int64_t> kLabels = {7, 5, 5, 9, 9, 9, 3, 3, 3, 3, 8, 8, 8, 8};

GraphBuilder OverPk(int64_t classes, int64_t samples, int64_t groups) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(static_cast<int64_t>(kLabels.size()))}});
  AddRowValues(builder);
  GraphBuilder::Given given{
      {"column", ir::StringValue("value")}, {"classes", IntValue(classes)}, {"samples", IntValue(samples)}};
  if (groups > 0) given.emplace_back("groups", IntValue(groups));
  builder.Add("PK", {0, 1}, given);
  return builder;
}

RunSpec LabelledPk(uint64_t epochs = 2) { return WithRowValues(Int64s(kLabels), epochs); }

int64_t LabelOf(int64_t row) { return kLabels[static_cast<size_t>(row)]; }

TEST(PK, GivesGroupsOfDifferentClasses) {
  const Ran ran = RunEveryWay(OverPk(3, 2, 20), LabelledPk());
  const std::vector<int64_t> rows = ran.Ints();
  ASSERT_THAT(rows, SizeIs(120));
  for (size_t group = 0; group < 20; ++group) {
    std::set<int64_t> classes;
    for (size_t i = group * 6; i < group * 6 + 6; i += 2) {
      classes.insert(LabelOf(rows[i]));
      EXPECT_EQ(LabelOf(rows[i]), LabelOf(rows[i + 1]));
      const bool of_one = LabelOf(rows[i]) == 7;
      EXPECT_EQ(rows[i] == rows[i + 1], of_one) << "replaces only where a class has fewer rows";
    }
    EXPECT_THAT(classes, SizeIs(3));
  }
  EXPECT_NE(ran.Ints(0, 0), ran.Ints(0, 1));
  std::vector<uint64_t> keys = ran.Keys();
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end()) << "a row that comes again has draws of its own";
  EXPECT_THAT(RunEveryWay(OverPk(2, 3, 0), LabelledPk()).Ints(), SizeIs(12)) << "two groups fit into 14 rows";
}

TEST(PK, DrawsEveryChoiceOfClassesAndRowsEquallyOften) {
  if (!kCountsChances) GTEST_SKIP();
  const Ran ran = *RunOnce(*OverPk(2, 2, 50).Build(), OptionsOf(LabelledPk(400)));
  std::map<std::set<int64_t>, int64_t> classes;
  std::map<std::set<int64_t>, int64_t> of_four;
  std::map<std::pair<int64_t, int64_t>, int64_t> of_two;
  for (uint64_t epoch = 0; epoch < 400; ++epoch) {
    const std::vector<int64_t> rows = ran.Ints(0, epoch);
    for (size_t i = 0; i < rows.size(); i += 4) {
      ++classes[{LabelOf(rows[i]), LabelOf(rows[i + 2])}];
      for (const size_t at : {i, i + 2}) {
        if (LabelOf(rows[at]) == 3) ++of_four[{rows[at], rows[at + 1]}];
        if (LabelOf(rows[at]) == 5) ++of_two[{rows[at], rows[at + 1]}];
      }
    }
  }
  const auto deviation = [](const auto& counted, size_t kinds) {
    std::vector<int64_t> counts;
    int64_t sum = 0;
    for (const auto& [kind, count] : counted) {
      counts.push_back(count);
      sum += count;
    }
    EXPECT_EQ(counts.size(), kinds);
    const std::vector<double> expected(kinds, static_cast<double>(sum) / static_cast<double>(kinds));
    return std::abs(ChiSquareDeviation(counts, expected));
  };
  EXPECT_LT(deviation(classes, 10), kMostDeviation) << "pairs of five classes";
  EXPECT_LT(deviation(of_four, 6), kMostDeviation) << "pairs of four rows";
  EXPECT_LT(deviation(of_two, 2), kMostDeviation) << "orders of two rows";
}

TEST(PK, ReplacesInAClassOfFewerRows) {
  if (!kCountsChances) GTEST_SKIP();
  const Ran ran = *RunOnce(*OverPk(5, 3, 20).Build(), OptionsOf(LabelledPk(400)));
  std::map<std::vector<int64_t>, int64_t> of_two;
  int64_t sum = 0;
  for (uint64_t epoch = 0; epoch < 400; ++epoch) {
    const std::vector<int64_t> rows = ran.Ints(0, epoch);
    for (size_t i = 0; i < rows.size(); i += 3) {
      if (LabelOf(rows[i]) != 5) continue;
      ++of_two[{rows[i], rows[i + 1], rows[i + 2]}];
      ++sum;
    }
  }
  std::vector<int64_t> counts;
  for (const auto& [rows, count] : of_two) counts.push_back(count);
  ASSERT_THAT(counts, SizeIs(8));
  EXPECT_LT(std::abs(ChiSquareDeviation(counts, std::vector<double>(8, static_cast<double>(sum) / 8))), kMostDeviation);
}

TEST(PK, IsShardedInWholeGroups) {
  const std::vector<int64_t> whole = RunEveryWay(OverPk(2, 2, 7), LabelledPk()).Ints();
  const std::vector<Ran> ranks = RunRanks(OverPk(2, 2, 7), 3, LabelledPk());
  for (size_t rank = 0; rank < 3; ++rank) {
    std::vector<int64_t> expected;
    for (size_t group = rank; group < 7; group += 3) {
      expected.insert(expected.end(), whole.begin() + static_cast<std::ptrdiff_t>(group * 4),
                      whole.begin() + static_cast<std::ptrdiff_t>(group * 4 + 4));
    }
    EXPECT_EQ(ranks[rank].Ints(), expected);
  }
}

// The groups of PK, with a map above it.
GraphBuilder Mapped() {
  GraphBuilder builder = OverPk(2, 2, 7);
  builder.Add("project", {2}, {{"columns", ir::StringsValue({"value"})}});
  return builder;
}

// What acts on whole groups acts before ranks get them, wherever maps stand.
TEST(PK, MapsMayStandBelowTakeAndSkip) {
  GraphBuilder next_to_it = OverPk(2, 2, 7);
  const uint32_t skipped = next_to_it.Add("skip", {2}, {{"count", IntValue(4)}});
  next_to_it.Add("take", {skipped}, {{"count", IntValue(20)}});
  GraphBuilder above = Mapped();
  const uint32_t skipped_above = above.Add("skip", {3}, {{"count", IntValue(4)}});
  const uint32_t again = above.Add("project", {skipped_above}, {{"columns", ir::StringsValue({"value"})}});
  above.Add("take", {again}, {{"count", IntValue(20)}});
  const std::vector<Ran> expected = RunRanks(next_to_it, 2, LabelledPk());
  const std::vector<Ran> found = RunRanks(above, 2, LabelledPk());
  for (size_t rank = 0; rank < 2; ++rank) {
    EXPECT_THAT(found[rank].Ints(), SizeIs(rank == 0 ? 12 : 8));
    EXPECT_EQ(found[rank].Ints(), expected[rank].Ints());
    EXPECT_EQ(found[rank].Keys(), expected[rank].Keys());
  }
}

std::vector<int64_t> GroupsOf(const std::vector<int64_t>& rows, size_t first, size_t step) {
  std::vector<int64_t> found;
  for (size_t row = first * 4; row < rows.size(); row += step * 4) {
    found.insert(found.end(), rows.begin() + static_cast<std::ptrdiff_t>(row),
                 rows.begin() + static_cast<std::ptrdiff_t>(row + 4));
  }
  return found;
}

// Rank r gets the groups r, r + world, … of each input, one input after the other.
TEST(PK, ConcatAboveMapsKeepsGroupsWhole) {
  const std::vector<int64_t> rows = RunEveryWay(OverPk(2, 2, 7), LabelledPk(1)).Ints();
  GraphBuilder joined = Mapped();
  joined.Add("concat", {3, 2});
  GraphBuilder taken = joined;
  const uint32_t skipped = taken.Add("skip", {4}, {{"count", IntValue(4)}});
  taken.Add("take", {skipped}, {{"count", IntValue(12)}});
  const std::vector<Ran> ranks = RunRanks(joined, 3, LabelledPk(1));
  const std::vector<Ran> taking = RunRanks(taken, 3, LabelledPk(1));
  for (size_t rank = 0; rank < 3; ++rank) {
    std::vector<int64_t> expected = GroupsOf(rows, rank, 3);
    const std::vector<int64_t> second = expected;
    expected.insert(expected.end(), second.begin(), second.end());
    EXPECT_EQ(ranks[rank].Ints(), expected);
    expected.erase(expected.begin(), expected.begin() + 4);
    expected.resize(std::min<size_t>(expected.size(), 12));
    EXPECT_EQ(taking[rank].Ints(), expected);
  }
}

TEST(PK, RefusesWhatCutsGroupsAboveMaps) {
  GraphBuilder cut = Mapped();
  cut.Add("take", {3}, {{"count", IntValue(6)}});
  EXPECT_THAT(Refusal(cut, LabelledPk()), HasSubstr("count of 6 rows, which would cut the groups of 4"));
  GraphBuilder joined = Mapped();
  joined.Add("concat", {3, 2});
  GraphBuilder cut_above = joined;
  cut_above.Add("skip", {4}, {{"count", IntValue(6)}});
  EXPECT_THAT(Refusal(cut_above, LabelledPk()), HasSubstr("count of 6 rows, which would cut the groups of 4"));
  GraphBuilder without = Mapped();
  without.Add("concat", {3, 0});
  EXPECT_THAT(Refusal(without, LabelledPk()),
              HasSubstr("rows stay together in groups of 4 with one that has no groups; concat after batch"));
}

TEST(PK, RefusesWhatItCannotDraw) {
  EXPECT_THAT(Refusal(OverPk(6, 2, 1), LabelledPk()), HasSubstr("groups of 6 different classes, but there are 5"));
  EXPECT_THAT(Refusal(OverPk(5, 3, 0), LabelledPk()), HasSubstr("has 14 rows, fewer than a group of 15"));
  EXPECT_THAT(Refusal(OverPk(5, 1 << 20, 1 << 20), LabelledPk()), HasSubstr("more than half of the budget"));
}

}  // namespace
}  // namespace headrace
