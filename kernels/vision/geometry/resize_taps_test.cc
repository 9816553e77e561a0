// That the weights which ResizeTaps and RandomResizedCropTaps give make the pixels which the kernels beside them give.
#include "kernels/vision/geometry/resize_taps.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/value.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Given;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

constexpr int kBits = 22;

Tensor PixelsOfSize(int64_t height, int64_t width) {
  Tensor image = *Tensor::Allocate(DType::kUInt8, {height, width, 3});
  for (int64_t i = 0; i < image.elements(); ++i) image.mutable_raw()[i] = static_cast<uint8_t>(i * i * 31 + i / 7);
  return image;
}

uint8_t Rounded(int64_t sum) { return static_cast<uint8_t>(std::clamp<int64_t>(sum >> kBits, 0, 255)); }

// One position of a row or column.
struct Sum {
  int64_t first;
  int64_t count;
  const int32_t* weights;

  template <typename Value>
  uint8_t Of(Value value) const {
    int64_t sum = int64_t{1} << (kBits - 1);
    for (int64_t i = 0; i < count; ++i) sum += value(first + i) * weights[i];
    return Rounded(sum);
  }
};

Tensor Made(const Tensor& image, const Tensor& taps, int64_t height, int64_t width) {
  const int32_t* const numbers = taps.data<int32_t>();
  const int64_t of_position = (taps.elements() - 1) / (height + width);
  const auto sum_of = [&](int64_t position) {
    const int32_t* const at = numbers + 1 + position * of_position;
    return Sum{at[0], at[1], at + 2};
  };
  Tensor made = *Tensor::Allocate(DType::kUInt8, {height, width, 3});
  for (int64_t i = 0; i < made.elements(); ++i) {
    const Sum rows = sum_of(i / 3 / width);
    const Sum columns = sum_of(height + i / 3 % width);
    const auto at = [&](int64_t y, int64_t x) -> int64_t { return image.raw()[(y * image.dim(1) + x) * 3 + i % 3]; };
    const auto of_row = [&](int64_t y) -> int64_t { return columns.Of([&](int64_t x) { return at(y, x); }); };
    const auto of_column = [&](int64_t x) -> int64_t { return rows.Of([&](int64_t y) { return at(y, x); }); };
    made.mutable_raw()[i] = numbers[0] == 0 ? rows.Of(of_row) : columns.Of(of_column);
  }
  return made;
}

void ExpectSame(const std::string& kernel, const Given& given, const Tensor& image, uint64_t row = 0) {
  const RowRandom random(3, 5, {.key = row});
  const Tensor expected = *RunKernel(kernel, given, {image}, random);
  const Tensor taps = *RunKernel(kernel + "Taps", given, {image}, random);
  EXPECT_TRUE(TensorsEqual(Made(image, taps, expected.dim(0), expected.dim(1)), expected))
      << kernel << " of " << image.TypeName() << " to " << expected.TypeName() << ", row " << row;
}

TEST(ResizeTaps, MakeThePixelsOfResize) {
  for (const char* const filter : {"bilinear", "bicubic", "area", "lanczos"}) {
    for (const auto& [height, width] : {std::pair{40, 31}, {9, 50}, {90, 20}, {24, 31}, {40, 16}}) {
      ExpectSame("Resize", {{"size", ir::IntsValue({24, 16})}, {"interpolation", ir::StringValue(filter)}},
                 PixelsOfSize(height, width));
    }
  }
  ExpectSame("Resize", {{"size", ir::IntsValue({20})}}, PixelsOfSize(31, 47));
}

TEST(ResizeTaps, MakeThePixelsOfRandomCrops) {
  for (uint64_t row = 0; row < 40; ++row) {
    ExpectSame("RandomResizedCrop", {{"size", ir::IntsValue({12, 17})}}, PixelsOfSize(33, 28), row);
  }
}

TEST(ResizeTaps, AreOneTypeForOneSize) {
  const ir::ColumnType image = ir::ColumnType::Of(DType::kUInt8, {33, 28, 3});
  const Given given = {{"size", ir::IntsValue({12, 17})}};
  const ir::ColumnType type = *fixture::InferType("RandomResizedCropTaps", given, {image});
  for (uint64_t row = 0; row < 10; ++row) {
    const Tensor taps =
        *RunKernel("RandomResizedCropTaps", given, {PixelsOfSize(33, 28)}, RowRandom(0, 0, {.key = row}));
    EXPECT_EQ(ir::ColumnType::Of(taps.dtype(), taps.shape()), type);
  }
}

TEST(ResizeTaps, RefuseWhatHasNoWeights) {
  const auto refusal = [](const Given& given) {
    Given all = given;
    all.emplace_back("size", ir::IntsValue({8, 8}));
    return MessageOf(RunKernel("ResizeTaps", all, PixelsOfSize(9, 9)));
  };
  EXPECT_THAT(refusal({{"antialias", ir::BoolValue(false)}}), HasSubstr("has weights with antialias=True"));
  EXPECT_THAT(refusal({{"interpolation", ir::StringValue("nearest")}}), HasSubstr("other than nearest"));
  EXPECT_THAT(refusal({{"interpolation", ir::StringValue("auto")}}), HasSubstr("and auto"));
}

}  // namespace
}  // namespace headrace
