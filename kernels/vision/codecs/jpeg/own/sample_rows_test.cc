// Upsampling and colours, on every CPU target, against their definitions.
#include "kernels/vision/codecs/jpeg/own/sample_rows.h"

#include <algorithm>
#include <vector>

#include "core/philox.h"
#include "core/testing/dispatched_target.h"
#include "core/testing/rounds.h"
#include "gtest/gtest.h"
#include "hwy/highway.h"

namespace headrace::jpeg {
namespace {

const uint64_t kRowRounds = Rounds(200, {.quick = 40, .sanitized = 40});

template <typename Check>
void OnEachTarget(const Check& check) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    ASSERT_EQ(DispatchedTarget(), target);
    SCOPED_TRACE(hwy::TargetName(target));
    check();
    if (testing::Test::HasFailure()) break;
  }
  hwy::SetSupportedTargetsForTest(0);
}

std::vector<uint8_t> AnyRow(RowRandom& random, int64_t count) {
  std::vector<uint8_t> row(static_cast<size_t>(count + kRowSlack));
  for (uint8_t& value : row) value = static_cast<uint8_t>(random.Below(256));
  return row;
}

TEST(SampleRows, WidenByTriangles) {
  OnEachTarget([] {
    for (uint64_t round = 0; round < kRowRounds; ++round) {
      RowRandom random(47, 0, {.key = round});
      const int64_t count = 1 + static_cast<int64_t>(random.Below(100));
      const std::vector<uint8_t> near = AnyRow(random, count + 2);
      const std::vector<uint8_t> far = AnyRow(random, count + 2);
      std::vector<int16_t> sums(static_cast<size_t>(count + 2 + kRowSlack));
      std::vector<uint8_t> wide(static_cast<size_t>(2 * count + kRowSlack));
      std::vector<uint8_t> both(wide.size());
      WidenRow(near.data() + 1, nullptr, count, sums.data(), wide.data());
      WidenRow(near.data() + 1, far.data() + 1, count, sums.data(), both.data());
      for (size_t i = 1; i <= static_cast<size_t>(count); ++i) {
        ASSERT_EQ(wide[2 * i - 2], (3 * near[i] + near[i - 1] + 1) / 4);
        ASSERT_EQ(wide[2 * i - 1], (3 * near[i] + near[i + 1] + 2) / 4);
        const auto sum = [&](size_t at) { return 3 * near[at] + far[at]; };
        ASSERT_EQ(both[2 * i - 2], (3 * sum(i) + sum(i - 1) + 8) / 16);
        ASSERT_EQ(both[2 * i - 1], (3 * sum(i) + sum(i + 1) + 7) / 16);
      }
    }
  });
}

TEST(SampleRows, BlendRowsByTriangles) {
  OnEachTarget([] {
    for (uint64_t round = 0; round < kRowRounds; ++round) {
      RowRandom random(53, 0, {.key = round});
      const int64_t count = 1 + static_cast<int64_t>(random.Below(100));
      const std::vector<uint8_t> near = AnyRow(random, count);
      const std::vector<uint8_t> far = AnyRow(random, count);
      std::vector<uint8_t> blended(near.size());
      for (const bool above : {false, true}) {
        BlendRows(near.data(), far.data(), above, count, blended.data());
        for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
          ASSERT_EQ(blended[i], (3 * near[i] + far[i] + (above ? 1 : 2)) / 4);
        }
      }
    }
  });
}

// JFIF's formulas with 16 bits after the point, as libjpeg's tables have them.
TEST(SampleRows, ColorsAreThoseOfJfif) {
  const auto clamped = [](int value) { return std::clamp(value, 0, 255); };
  OnEachTarget([&] {
    const int step = Rounds(1, {.quick = 5, .sanitized = 5}) == 1 ? 1 : 5;
    for (int y = 0; y < 256; y += 51) {
      for (int cb = 0; cb < 256; cb += step) {
        constexpr int64_t kCount = 256;
        std::vector<uint8_t> ys(kCount + kRowSlack, static_cast<uint8_t>(y));
        std::vector<uint8_t> cbs(ys.size(), static_cast<uint8_t>(cb));
        std::vector<uint8_t> crs(ys.size());
        for (size_t i = 0; i < kCount; ++i) crs[i] = static_cast<uint8_t>(i);
        std::vector<uint8_t> rgb(3 * kCount + 1, 99);
        YccToRgb(ys.data(), cbs.data(), crs.data(), kCount, rgb.data());
        ASSERT_EQ(rgb.back(), 99);
        for (int cr = 0; cr < kCount; ++cr) {
          const int half = 1 << 15;
          const size_t at = 3 * static_cast<size_t>(cr);
          ASSERT_EQ(rgb[at], clamped(y + ((91881 * (cr - 128) + half) >> 16)));
          ASSERT_EQ(rgb[at + 1], clamped(y + ((-22554 * (cb - 128) - 46802 * (cr - 128) + half) >> 16)));
          ASSERT_EQ(rgb[at + 2], clamped(y + ((116130 * (cb - 128) + half) >> 16)));
        }
      }
    }
  });
}

// Nothing is written after the last pixel.
TEST(SampleRows, ColorsEndWhereTheyShould) {
  OnEachTarget([] {
    for (int64_t count = 1; count < 80; ++count) {
      RowRandom random(59, 0, {.key = static_cast<uint64_t>(count)});
      const std::vector<uint8_t> row = AnyRow(random, count);
      std::vector<uint8_t> rgb(static_cast<size_t>(3 * count), 0);
      YccToRgb(row.data(), row.data(), row.data(), count, rgb.data());
    }
  });
}

}  // namespace
}  // namespace headrace::jpeg
