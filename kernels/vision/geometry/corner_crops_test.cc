// Tests FiveCrop and TenCrop against slices of the image.
#include <utility>
#include <vector>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Given;
using fixture::InferTypes;
using fixture::MessageOf;
using fixture::RunKernelOutputs;
using ::testing::HasSubstr;

constexpr int64_t kCornerCropsHeight = 7;
constexpr int64_t kCornerCropsWidth = 10;

Given SizeCornerCrops(int64_t height, int64_t width) { return {{"size", ir::IntsValue({height, width})}}; }

Given WithFlip(Given given, bool vertical) {
  given.emplace_back("vertical_flip", ir::BoolValue(vertical));
  return given;
}

// Each value differs.
Tensor NumberedCornerCrops(const Shape& shape) {
  Tensor image = *Tensor::Allocate(DType::kInt32, shape);
  for (int64_t i = 0; i < image.elements(); ++i) image.mutable_data<int32_t>()[i] = static_cast<int32_t>(i);
  return image;
}

Tensor Flipped(const Tensor& image, int axis) {
  Tensor flipped = *Tensor::Allocate(DType::kInt32, image.shape());
  const int64_t height = image.dim(0), width = image.dim(1), channels = image.rank() == 3 ? image.dim(2) : 1;
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      const int64_t from = axis == 0 ? (height - 1 - y) * width + x : y * width + width - 1 - x;
      for (int64_t c = 0; c < channels; ++c) {
        flipped.mutable_data<int32_t>()[(y * width + x) * channels + c] = image.data<int32_t>()[from * channels + c];
      }
    }
  }
  return flipped;
}

void ExpectCorners(const Tensor& image, const Tensors& crops, size_t first) {
  // torchvision begins the middle at round((7 - 4) / 2) and round((10 - 5) / 2), to even.
  const std::vector<std::pair<int64_t, int64_t>> begins = {{0, 0}, {0, 5}, {3, 0}, {3, 5}, {2, 2}};
  for (size_t i = 0; i < begins.size(); ++i) {
    const auto [top, left] = begins[i];
    const Tensor expected = *image.Slice(0, top, 4).Slice(1, left, 5).Contiguous();
    EXPECT_TRUE(TensorsEqual(*crops[first + i].Contiguous(), expected)) << "crop " << first + i;
  }
}

TEST(FiveCrop, CutsCornersAndTheMiddle) {
  for (const Shape& shape :
       {Shape{kCornerCropsHeight, kCornerCropsWidth, 3}, Shape{kCornerCropsHeight, kCornerCropsWidth}}) {
    const Tensor image = NumberedCornerCrops(shape);
    for (const Tensor& input : {image, fixture::WithGaps(image)}) {
      const absl::StatusOr<Tensors> crops = RunKernelOutputs("FiveCrop", SizeCornerCrops(4, 5), {input});
      ASSERT_TRUE(crops.ok()) << crops.status();
      ASSERT_EQ(crops->size(), 5u);
      ExpectCorners(image, *crops, 0);
    }
  }
}

TEST(FiveCrop, GivesAllCropsOfTheFirstColumnFirst) {
  const Tensor image = NumberedCornerCrops({kCornerCropsHeight, kCornerCropsWidth, 3});
  const Tensor mask = NumberedCornerCrops({kCornerCropsHeight, kCornerCropsWidth});
  const absl::StatusOr<Tensors> crops = RunKernelOutputs("FiveCrop", SizeCornerCrops(4, 5), {image, mask});
  ASSERT_TRUE(crops.ok()) << crops.status();
  ASSERT_EQ(crops->size(), 10u);
  ExpectCorners(image, *crops, 0);
  ExpectCorners(mask, *crops, 5);
}

TEST(FiveCrop, KnowsShapesAndNamesWhatIsTooSmall) {
  const auto types = InferTypes("FiveCrop", SizeCornerCrops(4, 5), {ir::ColumnType::Of(DType::kUInt8, {-1, -1, 3})});
  ASSERT_TRUE(types.ok()) << types.status();
  ASSERT_EQ(types->size(), 5u);
  EXPECT_EQ(ir::TypeName((*types)[4]), "uint8 (4, 5, 3)");
  constexpr char kTooSmall[] = "the crop's width is 11, but the image's is 10; resize the image";
  EXPECT_THAT(MessageOf(InferTypes("FiveCrop", SizeCornerCrops(4, 11),
                                   {ir::ColumnType::Of(DType::kUInt8, {-1, kCornerCropsWidth, 3})})),
              HasSubstr(kTooSmall));
  EXPECT_THAT(MessageOf(RunKernelOutputs("FiveCrop", SizeCornerCrops(4, 11),
                                         {NumberedCornerCrops({kCornerCropsHeight, kCornerCropsWidth, 3})})),
              HasSubstr(kTooSmall));
  EXPECT_THAT(MessageOf(RunKernelOutputs("FiveCrop", SizeCornerCrops(8, 5),
                                         {NumberedCornerCrops({kCornerCropsHeight, kCornerCropsWidth})})),
              HasSubstr("the crop's height is 8"));
}

TEST(TenCrop, AddsThoseOfTheMirrorImage) {
  const Tensor image = NumberedCornerCrops({kCornerCropsHeight, kCornerCropsWidth, 3});
  for (const bool vertical : {false, true}) {
    const absl::StatusOr<Tensors> crops =
        RunKernelOutputs("TenCrop", WithFlip(SizeCornerCrops(4, 5), vertical), {image});
    ASSERT_TRUE(crops.ok()) << crops.status();
    ASSERT_EQ(crops->size(), 10u);
    ExpectCorners(image, *crops, 0);
    ExpectCorners(Flipped(image, vertical ? 0 : 1), *crops, 5);
  }
  EXPECT_EQ(InferTypes("TenCrop", SizeCornerCrops(4, 5), {ir::ColumnType::Of(DType::kUInt8, {-1, -1, 3})})->size(),
            10u);
}

}  // namespace
}  // namespace headrace
