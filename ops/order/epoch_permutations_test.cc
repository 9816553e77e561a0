#include "ops/order/epoch_permutations.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <thread>
#include <vector>

#include "core/testing/chi_square.h"
#include "core/testing/rounds.h"
#include "ops/testing/permutation_chance.h"

namespace headrace {
namespace {

constexpr int kDraws = 12'000;

// Those at the positions `first`, `first` + `step`, …
DrawnPermutation IndicesAt(const EpochPermutations& permutations, uint64_t epoch, uint64_t first, uint64_t step,
                           uint64_t count) {
  DrawnPermutation positions;
  for (uint64_t i = 0; i < count; ++i) positions.push_back(first + i * step);
  permutations.Find(epoch, absl::MakeSpan(positions));
  return positions;
}

uint64_t IndexAt(const EpochPermutations& permutations, uint64_t epoch, uint64_t position) {
  permutations.Find(epoch, absl::MakeSpan(&position, 1));
  return position;
}

DrawnPermutation OrderOf(uint64_t size, uint64_t seed, uint64_t salt, uint64_t epoch) {
  return IndicesAt(EpochPermutations(size, seed, salt), epoch, 0, 1, size);
}

// What may change from one permutation to the next, by one each time.
struct Axis {
  const char* name;
  DrawnPermutation (*order)(uint64_t size, uint64_t draw);
};
constexpr Axis kAxes[] = {
    {"epoch", [](uint64_t size, uint64_t draw) { return OrderOf(size, 5, 6, draw); }},
    {"seed", [](uint64_t size, uint64_t draw) { return OrderOf(size, draw, 6, 7); }},
    {"salt", [](uint64_t size, uint64_t draw) { return OrderOf(size, 5, draw, 7); }},
};

class EveryAxis : public ::testing::TestWithParam<Axis> {
 protected:
  DrawPermutation Drawn(uint64_t size) const {
    return [size, this](uint64_t draw) { return GetParam().order(size, draw); };
  }
  // From each to the next one.
  DrawPermutation Steps(uint64_t size) const {
    return [draw = Drawn(size)](uint64_t number) { return Between(draw(number), draw(number + 1)); };
  }
};

TEST_P(EveryAxis, GivesEveryOrderEquallyOften) {
  if (!kCountsChances) GTEST_SKIP();
  for (uint64_t size = 2; size <= 6; ++size) {
    EXPECT_LT(std::abs(AllPermutationsDeviation(size, kDraws, Drawn(size))), kMostDeviation) << size;
    EXPECT_LT(std::abs(AllPermutationsDeviation(size, kDraws, Steps(size))), kMostDeviation) << size;
  }
  EXPECT_LT(std::abs(AllPermutationsDeviation(7, 60'000, Drawn(7))), kMostDeviation);
}

TEST_P(EveryAxis, GivesOddAndEvenOrders) {
  if (!kCountsChances) GTEST_SKIP();
  for (const uint64_t size : {16, 64, 256, 1000}) {
    EXPECT_LT(std::abs(ParityDeviation(4000, Drawn(size))), kMostDeviation) << size;
    EXPECT_LT(std::abs(ParityDeviation(4000, Steps(size))), kMostDeviation) << size;
  }
}

TEST_P(EveryAxis, PutsEveryRowAnywhere) {
  if (!kCountsChances) GTEST_SKIP();
  for (const uint64_t size : {16, 31, 64}) {
    EXPECT_LT(std::abs(PositionsDeviation(size, kDraws, Drawn(size))), kMostDeviation) << size;
    EXPECT_LT(std::abs(PositionsDeviation(size, kDraws, Steps(size))), kMostDeviation) << size;
    EXPECT_LT(std::abs(FixedPointsDeviation(kDraws, Drawn(size))), kMostDeviation) << size;
    EXPECT_LT(std::abs(FixedPointsDeviation(kDraws, Steps(size))), kMostDeviation) << size;
  }
  for (const uint64_t second : {1, 8, 15}) {
    EXPECT_LT(std::abs(PairsDeviation(16, 0, second, kDraws, Drawn(16))), kMostDeviation) << second;
  }
}

INSTANTIATE_TEST_SUITE_P(EpochPermutations, EveryAxis, ::testing::ValuesIn(kAxes),
                         [](const auto& axis) { return std::string(axis.param.name); });

// Which three of six rows the first of two ranks gets: each of 20 sets.
TEST(EpochPermutations, AssignsAnyRowsToARank) {
  if (!kCountsChances) GTEST_SKIP();
  std::vector<int64_t> counts(20);
  std::vector<int> number(64, -1);
  int sets = 0;
  for (int epoch = 0; epoch < kDraws; ++epoch) {
    const EpochPermutations order(6, 1, 2);
    size_t set = 0;
    for (const uint64_t index : IndicesAt(order, static_cast<uint64_t>(epoch), 0, 2, 3)) set |= size_t{1} << index;
    if (number[set] < 0) number[set] = sets++;
    ++counts[static_cast<size_t>(number[set])];
  }
  EXPECT_EQ(sets, 20);
  EXPECT_LT(std::abs(ChiSquareDeviation(counts)), kMostDeviation);
}

TEST(EpochPermutations, GivesTheSameRowsOneByOneAndInRuns) {
  for (const uint64_t size : {uint64_t{100}, UniformPermutation::kMostRows, UniformPermutation::kMostRows + 1}) {
    const EpochPermutations order(size, 1, 2);
    for (uint64_t epoch = 0; epoch < 5; ++epoch) {
      const DrawnPermutation run = IndicesAt(order, epoch, 3, 7, 10);
      for (uint64_t i = 0; i < 10; ++i) EXPECT_EQ(run[i], IndexAt(order, epoch, 3 + 7 * i));
    }
  }
}

// Threads read epochs in any order, so that permutations are replaced while others are read.
TEST(EpochPermutations, IsTheSameForEveryThread) {
  constexpr uint64_t kEpochs = 6;
  const int64_t lookups = Rounds(20'000, {.sanitized = 2'000});
  for (const uint64_t size : {uint64_t{3}, uint64_t{500}}) {
    std::vector<DrawnPermutation> expected;
    for (uint64_t epoch = 0; epoch < kEpochs; ++epoch) expected.push_back(OrderOf(size, 1, 2, epoch));
    const EpochPermutations order(size, 1, 2);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (uint64_t thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        std::mt19937_64 random(thread);
        for (int64_t i = 0; i < lookups; ++i) {
          const uint64_t epoch = random() % kEpochs, position = random() % size;
          if (IndexAt(order, epoch, position) != expected[epoch][position]) wrong.fetch_add(1);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong.load(), 0) << size;
  }
}

// Two epochs are kept, charged to their first readers.
TEST(EpochPermutations, CountsItsMemory) {
  MemoryAccount* const account = MemoryAccount::Open();
  {
    const EpochPermutations order(1000, 1, 2);
    for (uint64_t epoch = 0; epoch < 7; ++epoch) {
      const TaskMemory task(&BufferPool::Global(), account, 0);
      IndexAt(order, epoch, 0);
      EXPECT_EQ(task.peak(), 0) << "not the task's own need";
      EXPECT_EQ(account->held(), epoch == 0 ? 2000 : 4000);
    }
    IndexAt(order, 8, 0);
    EXPECT_EQ(account->held(), 2000) << "read outside of any task";
  }
  EXPECT_EQ(account->held(), 0);
  account->Close();
}

TEST(EpochPermutations, TakesNoMemoryForManyRows) {
  MemoryAccount* const account = MemoryAccount::Open();
  {
    const EpochPermutations order(UniformPermutation::kMostRows + 1, 1, 2);
    const TaskMemory task(&BufferPool::Global(), account, 0);
    IndexAt(order, 0, 0);
    EXPECT_EQ(account->held(), 0);
  }
  account->Close();
}

}  // namespace
}  // namespace headrace
