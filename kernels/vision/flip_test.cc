#include "kernels/vision/flip.h"

#include <vector>

#include "core/error.h"
#include "gtest/gtest.h"
#include "kernels/fixture/golden.h"
#include "kernels/fixture/run_kernel.h"

namespace headrace {
namespace {

using fixture::Golden;
using fixture::RunKernel;

fixture::Given Probability(double p) { return {{"p", ir::FloatValue(p)}}; }

// Every element holds its own number, so that any misplaced one shows.
template <typename T>
Tensor Numbered(Shape shape) {
  Tensor tensor = *Tensor::Allocate(DTypeOf<T>::value, shape);
  for (int64_t i = 0; i < tensor.elements(); ++i) tensor.mutable_data<T>()[i] = static_cast<T>(i * 7 + 1);
  return tensor;
}

template <typename T>
void ExpectFlips(const Shape& shape) {
  const Tensor source = Numbered<T>(shape);
  const int64_t height = shape[0], width = shape[1], channels = shape.size() == 3 ? shape[2] : 1;
  const Tensor across = *RunKernel("RandomHorizontalFlip", Probability(1), fixture::WithGaps(source));
  const Tensor down = *RunKernel("RandomVerticalFlip", Probability(1), fixture::WithGaps(source));
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

TEST(Flip, HappensAsOftenAsAsked) {
  const Tensor source = Golden("pad.source");
  for (const char* kernel : {"RandomHorizontalFlip", "RandomVerticalFlip"}) {
    for (const double p : {0.0, 0.3, 1.0}) {
      int flips = 0;
      for (uint64_t row = 0; row < 4000; ++row) {
        const Tensor result = *RunKernel(kernel, Probability(p), {source}, RowRandom(1, 0, {.key = row}));
        flips += !TensorsEqual(result, source);
      }
      EXPECT_NEAR(flips, 4000 * p, p == 0.3 ? 120 : 0) << kernel;
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
  EXPECT_FALSE(RunKernel("RandomVerticalFlip", {}, *Tensor::CopyBytes(DType::kBytes, "x")).ok());
  EXPECT_FALSE(RunKernel("RandomVerticalFlip", Probability(1.5), source).ok());
}

}  // namespace
}  // namespace headrace
