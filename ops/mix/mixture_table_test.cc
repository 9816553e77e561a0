#include "ops/mix/mixture_table.h"

#include <gtest/gtest.h>

#include <random>

namespace headrace {
namespace {

TEST(MixtureTable, CountsTheDrawsOfAnInputBeforeEach) {
  std::mt19937_64 random(3);
  for (const size_t inputs : {size_t{1}, size_t{2}, size_t{17}, size_t{256}, size_t{257}, size_t{1000}}) {
    MixtureTable table(inputs);
    std::vector<MixtureTable::DrawnInput> expected;
    std::vector<uint64_t> counts(inputs);
    for (int draw = 0; draw < 20000; ++draw) {
      const size_t input = random() % inputs;
      table.Add(input);
      expected.push_back({input, counts[input]++});
    }
    table.ShrinkToFit();
    ASSERT_EQ(table.size(), expected.size());
    for (size_t draw = 0; draw < expected.size(); ++draw) {
      const auto [input, earlier] = table.At(draw);
      ASSERT_EQ(input, expected[draw].input) << draw;
      ASSERT_EQ(earlier, expected[draw].earlier) << draw;
    }
  }
}

TEST(MixtureTable, TakesLittleMoreThanAByteADraw) {
  for (const auto& [inputs, most] :
       {std::pair<size_t, double>{2, 1.3}, {8, 2.1}, {200, 2.1}, {300, 3.1}, {5000, 3.1}}) {
    constexpr uint64_t kDraws = 1 << 18;
    MixtureTable table(inputs);
    for (uint64_t draw = 0; draw < kDraws; ++draw) table.Add(draw % inputs);
    table.ShrinkToFit();
    EXPECT_LT(static_cast<double>(table.bytes()), most * kDraws) << inputs;
    EXPECT_NEAR(static_cast<double>(table.bytes()), static_cast<double>(MixtureTable::BytesOf(inputs, kDraws)), 100000);
  }
}

}  // namespace
}  // namespace headrace
