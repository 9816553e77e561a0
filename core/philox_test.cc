#include "core/philox.h"

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>

#include "core/testing/dispatched_target.h"

namespace headrace {
namespace {

// The published vectors of Random123 (kat_vectors, "philox4x32 10").
TEST(Philox, GivesTheKnownAnswers) {
  EXPECT_EQ(Philox4x32({0, 0, 0, 0}, {0, 0}), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// Random streams of saved graphs hang on these bits: computed apart, by the definitions.
TEST(RowRandom, KeepsItsBits) {
  RowRandom random(7, 11, {3, 5, false});
  EXPECT_EQ(random.key(), 0x177c3dd00f26bc9du);
  EXPECT_EQ(random.row(), 5u);
  for (const uint32_t word : {0xb5a50a70u, 0x07bcc17fu, 0x33be18a7u, 0x110628c1u, 0x50ece537u, 0x2c9ae8dfu})
    EXPECT_EQ(random.Next32(), word);
  RowRandom wide(7, 11, {3, 5, true});
  EXPECT_EQ(wide.Next64(), 0x07bcc17fb5a50a70u) << "padding is told apart by the key, not by the flag";
  RowRandom unit(7, 11, {3, 5, false});
  EXPECT_EQ(unit.Uniform(), static_cast<double>(0x07bcc17fb5a50a70u >> 11) / 9007199254740992.0);
}

TEST(RowRandom, IsNamedByAllItsNumbers) {
  const auto first = [](uint64_t seed, uint64_t salt, uint64_t epoch, uint64_t key) {
    return RowRandom(seed, salt, {epoch, key, false}).Next64();
  };
  std::vector<uint64_t> draws;
  for (uint64_t a = 0; a < 4; ++a) {
    for (uint64_t b = 0; b < 4; ++b) {
      for (uint64_t c = 0; c < 4; ++c) {
        for (uint64_t d = 0; d < 4; ++d) draws.push_back(first(a, b, c, d));
      }
    }
  }
  std::sort(draws.begin(), draws.end());
  EXPECT_EQ(std::unique(draws.begin(), draws.end()), draws.end());
}

TEST(RowRandom, BelowIsUnbiased) {
  for (const uint64_t bound : {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{7}, uint64_t{10}}) {
    std::vector<int> counts(bound, 0);
    constexpr int kDraws = 40000;
    RowRandom random(1, bound, {0, 0, false});
    for (int i = 0; i < kDraws; ++i) {
      const uint64_t value = random.Below(bound);
      ASSERT_LT(value, bound);
      ++counts[value];
    }
    const double expected = static_cast<double>(kDraws) / static_cast<double>(bound);
    double chi_square = 0;
    for (const int count : counts) chi_square += (count - expected) * (count - expected) / expected;
    EXPECT_LT(chi_square, 35) << bound;
  }
}

// A bound so large that taking a remainder would make the lower half twice as likely.
TEST(RowRandom, BelowRejectsWhatWouldBeLikelier) {
  const uint64_t bound = uint64_t{3} << 62;
  RowRandom random(1, 2, {0, 0, false});
  int low = 0;
  constexpr int kDraws = 30000;
  for (int i = 0; i < kDraws; ++i) {
    const uint64_t value = random.Below(bound);
    ASSERT_LT(value, bound);
    if (value < bound / 3) ++low;
  }
  EXPECT_NEAR(static_cast<double>(low) / kDraws, 1.0 / 3, 0.015);
  EXPECT_LT(random.Below(~uint64_t{0}), ~uint64_t{0});
}

TEST(RowRandom, UniformAndNormalHaveTheirMoments) {
  constexpr int kDraws = 40000;
  double sum = 0, squares = 0, normal_sum = 0, normal_squares = 0;
  double least = 1, most = 0;
  for (int i = 0; i < kDraws; ++i) {
    // One draw for each row: rows are independent as well.
    RowRandom random(3, 4, {0, static_cast<uint64_t>(i), false});
    const double value = random.Uniform();
    least = std::min(least, value);
    most = std::max(most, value);
    sum += value;
    squares += value * value;
    const double normal = random.Normal();
    ASSERT_TRUE(std::isfinite(normal));
    normal_sum += normal;
    normal_squares += normal * normal;
    const double ranged = random.Uniform(-2, 5);
    ASSERT_TRUE(ranged >= -2 && ranged < 5);
  }
  EXPECT_GE(least, 0.0);
  EXPECT_LT(most, 1.0);
  EXPECT_NEAR(sum / kDraws, 0.5, 0.01);
  EXPECT_NEAR(squares / kDraws, 1.0 / 3, 0.01);
  EXPECT_NEAR(normal_sum / kDraws, 0, 0.03);
  EXPECT_NEAR(normal_squares / kDraws, 1, 0.04);
}

TEST(RowRandom, IsTheSameOnEveryThread) {
  std::vector<std::vector<uint64_t>> drawn(4, std::vector<uint64_t>(200));
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < drawn.size(); ++thread) {
    threads.emplace_back([&drawn, thread] {
      for (size_t i = 0; i < 200; ++i) {
        const size_t row = (i * 37 + thread * 11) % 200;
        RowRandom random(5, 6, {1, row, false});
        drawn[thread][row] = random.Next64() ^ random.Below(100);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& other : drawn) EXPECT_EQ(other, drawn[0]);
}

// On each target that this CPU has.
TEST(RowRandom, FillsAsItDrawsOneByOne) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    ASSERT_EQ(DispatchedTarget(), target);
    for (uint64_t number = 0; number < 200; ++number) {
      // Rows and seeds of all sizes.
      RowRandom one_by_one(MixKey(number, 1), number % 3 == 0 ? number : MixKey(number, 2));
      RowRandom at_once = one_by_one;
      for (size_t step = 0; step < 6; ++step) {
        std::vector<uint32_t> filled(MixKey(number, 3 + step) % 70);
        at_once.Fill(absl::MakeSpan(filled));
        for (size_t i = 0; i < filled.size(); ++i) {
          ASSERT_EQ(filled[i], one_by_one.Next32()) << hwy::TargetName(target) << ", word " << i << " of step " << step;
        }
        ASSERT_EQ(at_once.Next32(), one_by_one.Next32());
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace
}  // namespace headrace
