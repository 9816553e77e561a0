// EnlargeToSize: the sizes that MXNet computes, and the pixels of Resize.
#include <string>
#include <vector>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Golden;
using fixture::InferType;
using fixture::Ints;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

Tensor Enlarged(const Tensor& image, int64_t height, int64_t width, const char* interpolation, bool antialias) {
  return *RunKernel("EnlargeToSize",
                    {{"size", Ints({height, width})},
                     {"interpolation", ir::StringValue(interpolation)},
                     {"antialias", ir::BoolValue(antialias)}},
                    image)
              ->Contiguous();
}

Tensor ResizedEnlargeToSize(const Tensor& image, int64_t height, int64_t width, const char* interpolation,
                            bool antialias) {
  return *RunKernel("Resize",
                    {{"size", Ints({height, width})},
                     {"interpolation", ir::StringValue(interpolation)},
                     {"antialias", ir::BoolValue(antialias)}},
                    image)
              ->Contiguous();
}

TEST(EnlargeToSize, TakesSixteenBitsWhereResizeDoes) {
  Tensor source = *Tensor::Allocate(DType::kUInt16, {2, 2, 1});
  for (int i = 0; i < 4; ++i) source.mutable_data<uint16_t>()[i] = static_cast<uint16_t>(20'000 * i);
  const Tensor enlarged = Enlarged(source, 4, 4, "nearest", false);
  EXPECT_EQ(enlarged.dtype(), DType::kUInt16);
  EXPECT_TRUE(TensorsEqual(enlarged, ResizedEnlargeToSize(source, 4, 4, "nearest", false)));
}

TEST(EnlargeToSize, GivesThePixelsOfResize) {
  const Tensor source = Golden("source");  // 60 x 80
  for (const bool antialias : {false, true}) {
    for (const char* how : {"nearest", "bilinear", "bicubic", "area"}) {
      const auto enlarged = [&](int64_t height, int64_t width) {
        return Enlarged(source, height, width, how, antialias);
      };
      EXPECT_TRUE(TensorsEqual(enlarged(90, 100), ResizedEnlargeToSize(source, 90, 120, how, antialias))) << how;
      EXPECT_TRUE(TensorsEqual(enlarged(50, 100), ResizedEnlargeToSize(source, 75, 100, how, antialias))) << how;
      // The height first, then the width.
      const Tensor high = ResizedEnlargeToSize(source, 61, 81, how, antialias);
      EXPECT_TRUE(TensorsEqual(enlarged(61, 200), ResizedEnlargeToSize(high, 150, 200, how, antialias))) << how;
    }
  }
}

TEST(EnlargeToSize, LeavesImagesThatAreLargeEnough) {
  const Tensor source = Golden("source");
  for (const auto& [height, width] : {std::pair{60, 80}, {1, 80}, {60, 1}, {20, 30}}) {
    EXPECT_TRUE(TensorsEqual(Enlarged(source, height, width, "bilinear", true), source)) << height << " x " << width;
  }
}

TEST(EnlargeToSize, ChoosesTheInterpolation) {
  const Tensor source = Golden("source");
  EXPECT_TRUE(
      TensorsEqual(Enlarged(source, 90, 100, "auto", false), ResizedEnlargeToSize(source, 90, 120, "bicubic", false)));
  EXPECT_TRUE(
      TensorsEqual(Enlarged(source, 90, 40, "auto", false), ResizedEnlargeToSize(source, 90, 120, "bilinear", false)));
}

TEST(EnlargeToSize, InfersWhatIsKnown) {
  const auto type_of = [](std::initializer_list<int64_t> shape) {
    return ir::TypeName(
        *InferType("EnlargeToSize", {{"size", Ints({20, 30})}}, {ir::ColumnType::Of(DType::kUInt8, Shape(shape))}));
  };
  EXPECT_EQ(type_of({20, 31, 3}), "uint8 (20, 31, 3)");
  EXPECT_EQ(type_of({20, 29, 3}), "uint8 (20, 30, 3)");
  EXPECT_EQ(type_of({10, 20, 3}), "uint8 (20, 40, 3)");
  EXPECT_EQ(type_of({-1, -1, 3}), "uint8 (None, None, 3)");
}

TEST(EnlargeToSize, RefusesAnImageThatIsTooNarrow) {
  const Tensor narrow = *Tensor::Allocate(DType::kUInt8, {1, 400, 3});
  const auto failed = RunKernel("EnlargeToSize", {{"size", Ints({224, 224})}}, narrow);
  EXPECT_EQ(KindOf(failed.status()), ErrorKind::kData);
  EXPECT_THAT(MessageOf(failed), HasSubstr("height 1 and width 400 is too narrow"));
  EXPECT_THAT(MessageOf(failed), HasSubstr("89600 pixels"));
}

}  // namespace
}  // namespace headrace
