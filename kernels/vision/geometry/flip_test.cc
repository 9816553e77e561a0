#include "kernels/vision/geometry/flip.h"

#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/testing/chi_square.h"
#include "gtest/gtest.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/row_axes.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Golden;
using fixture::RunKernel;

fixture::Given Probability(double p) { return {{"p", ir::FloatValue(p)}}; }

// Every element holds its own number, so that any misplaced one shows.
template <typename T>
Tensor NumberedFlip(Shape shape) {
  Tensor tensor = *Tensor::Allocate(DTypeOf<T>::value, shape);
  for (int64_t i = 0; i < tensor.elements(); ++i) tensor.mutable_data<T>()[i] = static_cast<T>(i * 7 + 1);
  return tensor;
}

template <typename T>
void ExpectFlips(const Shape& shape) {
  const Tensor source = NumberedFlip<T>(shape);
  const int64_t height = shape[0], width = shape[1], channels = shape.size() == 3 ? shape[2] : 1;
  const Tensor across = *RunKernel("HorizontalFlip", {}, fixture::WithGaps(source));
  const Tensor down = *RunKernel("VerticalFlip", {}, fixture::WithGaps(source));
  EXPECT_TRUE(TensorsEqual(*RunKernel("RandomHorizontalFlip", Probability(1), fixture::WithGaps(source)), across));
  EXPECT_TRUE(TensorsEqual(*RunKernel("RandomVerticalFlip", Probability(1), fixture::WithGaps(source)), down));
  ASSERT_EQ(across.shape(), shape);
  ASSERT_EQ(down.shape(), shape);
  const auto at = [&](int64_t y, int64_t x, int64_t c) { return (y * width + x) * channels + c; };
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t c = 0; c < channels; ++c) {
        ASSERT_EQ(across.data<T>()[at(y, x, c)], source.data<T>()[at(y, width - 1 - x, c)]);
        ASSERT_EQ(down.data<T>()[at(y, x, c)], source.data<T>()[at(height - 1 - y, x, c)]);
      }
    }
  }
}

TEST(Flip, MirrorsEveryWidthOfBytes) {
  for (int64_t width = 1; width <= 40; ++width) ExpectFlips<uint8_t>({3, width, 3});
}

TEST(Flip, MirrorsOtherPixels) {
  ExpectFlips<uint8_t>({4, 9});
  ExpectFlips<uint8_t>({4, 9, 1});
  ExpectFlips<uint8_t>({4, 9, 4});
  ExpectFlips<uint8_t>({4, 9, 2});
  ExpectFlips<float>({4, 9, 3});
  ExpectFlips<float>({4, 9});
  ExpectFlips<int64_t>({4, 9, 2});
}

TEST(Flip, MirrorsPhotographs) {
  const Tensor source = Golden("source");
  const Tensor flipped = *RunKernel("RandomHorizontalFlip", Probability(1), source);
  EXPECT_GT(fixture::MeanDifference(flipped, source), 5);
  EXPECT_TRUE(TensorsEqual(*RunKernel("RandomHorizontalFlip", Probability(1), flipped), source));
}

bool Flips(const char* kernel, double p, const RowRandom& random) {
  static const Tensor source = NumberedFlip<uint8_t>({2, 2});
  return !TensorsEqual(*RunKernel(kernel, Probability(p), {source}, random), source);
}

TEST(Flip, HappensAlwaysOrNeverWhereAsked) {
  for (const char* kernel : {"RandomHorizontalFlip", "RandomVerticalFlip"}) {
    for (uint64_t row = 0; row < 1000; ++row) {
      EXPECT_FALSE(Flips(kernel, 0, RowRandom(1, 0, {.key = row})));
      EXPECT_TRUE(Flips(kernel, 1, RowRandom(1, 0, {.key = row})));
    }
  }
}

// Whatever the next row does.
TEST(Flip, HappensAsOftenAsAsked) {
  for (const char* kernel : {"RandomHorizontalFlip", "RandomVerticalFlip"}) {
    for (const fixture::RowAxis& axis : fixture::kRowAxes) {
      for (const double p : {0.3, 0.5}) {
        constexpr uint64_t kDraws = 8000;
        std::vector<int64_t> counts(4);
        bool before = Flips(kernel, p, axis.stream(0));
        for (uint64_t number = 1; number <= kDraws; ++number) {
          const bool now = Flips(kernel, p, axis.stream(number));
          ++counts[(before ? 2 : 0) + (now ? 1 : 0)];
          before = now;
        }
        std::vector<double> expected = {(1 - p) * (1 - p), (1 - p) * p, p * (1 - p), p * p};
        for (double& part : expected) part *= kDraws;
        EXPECT_LT(std::abs(ChiSquareDeviation(counts, expected)), kMostDeviation) << kernel << ", next " << axis.name;
      }
    }
  }
}

TEST(Flip, DependsOnTheRowAlone) {
  const Tensor source = Golden("pad.source");
  for (uint64_t row = 0; row < 50; ++row) {
    const RowRandom random(1, 0, {.key = row});
    const Tensor once = *RunKernel("RandomHorizontalFlip", {}, {source}, random);
    EXPECT_TRUE(TensorsEqual(once, *RunKernel("RandomHorizontalFlip", {}, {source}, random)));
  }
}

TEST(Flip, LeavesOtherRowsAloneWithoutACopy) {
  const Tensor source = Golden("source");
  EXPECT_EQ(RunKernel("RandomHorizontalFlip", Probability(0), source)->raw(), source.raw());
  const Tensor two_channels = source.Slice(2, 1, 2);
  EXPECT_EQ(RunKernel("RandomHorizontalFlip", Probability(0), two_channels)->raw(), two_channels.raw());
  EXPECT_FALSE(RunKernel("RandomVerticalFlip", {}, *Tensor::CopyBytes(DType::kBytes, "x")).ok());
  EXPECT_FALSE(RunKernel("RandomVerticalFlip", Probability(1.5), source).ok());
}

}  // namespace
}  // namespace headrace
