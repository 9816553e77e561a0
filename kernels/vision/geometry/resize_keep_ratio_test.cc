// ResizeKeepRatio: the sizes that timm 1.0.31 gives, and the pixels of Resize.
#include <algorithm>
#include <vector>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Given;
using fixture::Golden;
using fixture::InferType;
using fixture::Ints;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

Given RatioAttributes(int64_t height, int64_t width, const char* rule) {
  return {{"size", Ints({height, width})}, {"rule", ir::StringValue(rule)}};
}

// Seen by running ResizeKeepRatio.get_params(image, (24, 30), longest), with longest 1 to fit and 0 to cover.
struct RatioCase {
  Shape image;
  Shape fitted;
  Shape covering;
};
const std::vector<RatioCase> kRatioCases = {
    {{48, 60}, {24, 30}, {24, 30}}, {{60, 80}, {22, 30}, {24, 32}},  {{80, 60}, {24, 18}, {40, 30}},
    {{100, 37}, {24, 9}, {81, 30}}, {{37, 100}, {11, 30}, {24, 65}}, {{24, 30}, {24, 30}, {24, 30}},
    {{25, 30}, {24, 29}, {25, 30}}, {{24, 31}, {23, 30}, {24, 31}},  {{17, 40}, {13, 30}, {24, 56}},
    {{40, 50}, {24, 30}, {24, 30}}, {{53, 67}, {24, 30}, {24, 30}},  {{9, 200}, {1, 30}, {24, 533}},
    {{200, 9}, {24, 1}, {667, 30}}, {{48, 75}, {19, 30}, {24, 38}},  {{36, 75}, {14, 30}, {24, 50}},
    {{64, 5}, {24, 2}, {384, 30}},
};

TEST(ResizeKeepRatio, GivesTheSizesOfTimm) {
  for (const RatioCase& each : kRatioCases) {
    Tensor image = *Tensor::Allocate(DType::kUInt8, each.image);
    std::fill_n(image.mutable_data<uint8_t>(), image.elements(), uint8_t{9});
    for (const bool covers : {false, true}) {
      const Given given = RatioAttributes(24, 30, covers ? "cover" : "fit");
      const Shape& expected = covers ? each.covering : each.fitted;
      EXPECT_EQ(RunKernel("ResizeKeepRatio", given, image)->shape(), expected);
      // What is inferred is what comes.
      EXPECT_EQ(*InferType("ResizeKeepRatio", given, {ir::ColumnType::Of(DType::kUInt8, each.image)})->shape, expected);
    }
  }
}

TEST(ResizeKeepRatio, GivesThePixelsOfResize) {
  const Tensor source = Golden("source");  // 60 x 80
  const Tensor fitted = *RunKernel("ResizeKeepRatio", RatioAttributes(30, 50, "fit"), source)->Contiguous();
  EXPECT_TRUE(TensorsEqual(fitted, *RunKernel("Resize", {{"size", Ints({30, 40})}}, source)->Contiguous()));
  const Tensor covering = *RunKernel("ResizeKeepRatio", RatioAttributes(30, 44, "cover"), source)->Contiguous();
  EXPECT_TRUE(TensorsEqual(covering, *RunKernel("Resize", {{"size", Ints({33, 44})}}, source)->Contiguous()));
}

TEST(ResizeKeepRatio, RefusesAnImageThatIsTooNarrow) {
  const Tensor narrow = *Tensor::Allocate(DType::kUInt8, {1, 400, 3});
  const auto failed = RunKernel("ResizeKeepRatio", RatioAttributes(224, 224, "cover"), narrow);
  EXPECT_EQ(KindOf(failed.status()), ErrorKind::kData);
  EXPECT_THAT(MessageOf(failed), HasSubstr("height 1 and width 400 is too narrow"));
  EXPECT_THAT(MessageOf(failed), HasSubstr("89600 pixels"));
}

}  // namespace
}  // namespace headrace
