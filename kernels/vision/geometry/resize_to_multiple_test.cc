// ResizeToMultiple: the sizes that transformers 5.24 gives DPT and GLPN, and the pixels of Resize.
#include <algorithm>
#include <limits>
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

Given DivisorAttributes(int64_t divisor) { return {{"divisor", ir::IntValue(divisor)}}; }
Given DivisorAttributes(int64_t divisor, int64_t height, int64_t width) {
  return {{"divisor", ir::IntValue(divisor)}, {"size", Ints({height, width})}};
}

// Seen by running get_resize_output_image_size(image, (70, 84), True, 14).
struct MultipleCase {
  Shape image;
  Shape resized;
};
const std::vector<MultipleCase> kMultipleCases = {
    {{60, 80}, {56, 84}},  {{80, 60}, {70, 56}},   {{70, 84}, {70, 84}},   {{35, 42}, {70, 84}}, {{63, 100}, {70, 112}},
    {{100, 63}, {70, 42}}, {{480, 640}, {70, 98}}, {{427, 640}, {70, 98}}, {{49, 77}, {56, 84}}, {{140, 168}, {70, 84}},
    {{98, 98}, {84, 84}},  {{7, 7}, {70, 70}},     {{77, 49}, {70, 42}},
};

TEST(ResizeToMultiple, GivesTheSizesOfDpt) {
  for (const MultipleCase& each : kMultipleCases) {
    Tensor image = *Tensor::Allocate(DType::kUInt8, each.image);
    std::fill_n(image.mutable_data<uint8_t>(), image.elements(), uint8_t{9});
    const Given given = DivisorAttributes(14, 70, 84);
    EXPECT_EQ(RunKernel("ResizeToMultiple", given, image)->shape(), each.resized);
    // What is inferred is what comes.
    EXPECT_EQ(*InferType("ResizeToMultiple", given, {ir::ColumnType::Of(DType::kUInt8, each.image)})->shape,
              each.resized);
  }
}

TEST(ResizeToMultiple, CutsTheSidesOfTheImage) {
  const Tensor source = Golden("source");  // 60 x 80
  const auto multiple = [&](int64_t divisor) {
    return *RunKernel("ResizeToMultiple", DivisorAttributes(divisor), source)->Contiguous();
  };
  const auto resized = [&](int64_t height, int64_t width) {
    return *RunKernel("Resize", {{"size", Ints({height, width})}}, source)->Contiguous();
  };
  EXPECT_TRUE(TensorsEqual(multiple(32), resized(32, 64)));
  EXPECT_TRUE(TensorsEqual(multiple(16), resized(48, 80)));
  EXPECT_TRUE(TensorsEqual(multiple(20), source));
  EXPECT_TRUE(TensorsEqual(multiple(70), resized(70, 70)));
}

TEST(ResizeToMultiple, InfersWhatIsKnown) {
  const ir::ColumnType decoded = ir::ColumnType::Of(DType::kUInt8, {-1, -1, 3});
  EXPECT_EQ(ir::TypeName(*InferType("ResizeToMultiple", DivisorAttributes(16), {decoded})), "uint8 (None, None, 3)");
}

TEST(ResizeToMultiple, DeclaredSizesMayBeAbsurd) {
  const ir::ColumnType declared = ir::ColumnType::Of(DType::kUInt8, {std::numeric_limits<int64_t>::max(), 1, 3});
  EXPECT_TRUE(InferType("ResizeToMultiple", DivisorAttributes(14, 65535, 65535), {declared}).ok());
}

TEST(ResizeToMultiple, RefusesAnImageThatIsTooNarrow) {
  const Tensor narrow = *Tensor::Allocate(DType::kUInt8, {1, 400, 3});
  const auto failed = RunKernel("ResizeToMultiple", DivisorAttributes(2, 224, 65'535), narrow);
  EXPECT_EQ(KindOf(failed.status()), ErrorKind::kData);
  EXPECT_THAT(MessageOf(failed), HasSubstr("height 1 and width 400 would be resized to a side of 65536"));
}

}  // namespace
}  // namespace headrace
