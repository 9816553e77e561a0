// Tests SlicePatches against slices of NumPy's kind, written out pixel by pixel.
#include <string>
#include <vector>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Floats;
using fixture::Given;
using fixture::InferTypes;
using fixture::MessageOf;
using fixture::RunKernelOutputs;
using ::testing::HasSubstr;

Given Grid(int64_t down, int64_t across, const char* mode = "pad") {
  return {{"num_height", ir::IntValue(down)},
          {"num_width", ir::IntValue(across)},
          {"slice_mode", ir::StringValue(mode)},
          {"fill", Floats({-7})}};
}

// The pixel of row y and column x is 100 · y + x, or that and 1000 times the channel.
Tensor NumberedSlicePatches(const Shape& shape) {
  Tensor image = *Tensor::Allocate(DType::kInt32, shape);
  const int64_t channels = shape.size() == 3 ? shape[2] : 1;
  for (int64_t i = 0; i < image.elements(); ++i) {
    const int64_t pixel = i / channels;
    const int64_t number = 100 * (pixel / shape[1]) + pixel % shape[1] + 1000 * (i % channels);
    image.mutable_data<int32_t>()[i] = static_cast<int32_t>(number);
  }
  return image;
}

void ExpectPatches(const Shape& shape, const Given& given, int64_t down, int64_t across, int64_t height,
                   int64_t width) {
  const Tensor image = NumberedSlicePatches(shape);
  for (const Tensor& input : {image, fixture::WithGaps(image)}) {
    const absl::StatusOr<Tensors> patches = RunKernelOutputs("SlicePatches", given, {input});
    ASSERT_TRUE(patches.ok()) << patches.status();
    ASSERT_EQ(patches->size(), static_cast<size_t>(down * across));
    for (int64_t p = 0; p < down * across; ++p) {
      const Tensor patch = *(*patches)[static_cast<size_t>(p)].Contiguous();
      ASSERT_EQ(patch.rank(), static_cast<int>(shape.size()));
      ASSERT_EQ(patch.dim(0), height);
      ASSERT_EQ(patch.dim(1), width);
      const int64_t channels = patch.elements() / (height * width);
      for (int64_t i = 0; i < patch.elements(); ++i) {
        const int64_t y = p / across * height + i / channels / width;
        const int64_t x = p % across * width + i / channels % width;
        const bool inside = y < shape[0] && x < shape[1];
        const int64_t expected = inside ? 100 * y + x + 1000 * (i % channels) : -7;
        ASSERT_EQ(patch.data<int32_t>()[i], expected) << p << ": " << y << ", " << x;
      }
    }
  }
}

TEST(SlicePatches, CutsAGrid) {
  ExpectPatches({12, 20, 3}, Grid(3, 4), 3, 4, 4, 5);
  ExpectPatches({12, 20}, Grid(1, 2), 1, 2, 12, 10);
  ExpectPatches({12, 20, 1}, Grid(1, 1), 1, 1, 12, 20);
  ExpectPatches({3, 2, 2}, Grid(3, 2), 3, 2, 1, 1);
}

TEST(SlicePatches, PadsOrDropsWhereASideCannotBeDivided) {
  ExpectPatches({13, 21, 3}, Grid(3, 4), 3, 4, 5, 6);
  ExpectPatches({13, 21, 3}, Grid(3, 4, "drop"), 3, 4, 4, 5);
  // The last patches lie wholly beyond the image.
  ExpectPatches({5, 9}, Grid(4, 7), 4, 7, 2, 2);
  ExpectPatches({5, 9}, Grid(4, 7, "drop"), 4, 7, 1, 1);
}

TEST(SlicePatches, GivesAllPatchesOfTheFirstColumnFirst) {
  const Tensor image = NumberedSlicePatches({6, 8, 3});
  const Tensor mask = NumberedSlicePatches({6, 8});
  const Tensors both = *RunKernelOutputs("SlicePatches", Grid(1, 2), {image, mask});
  ASSERT_EQ(both.size(), 4u);
  EXPECT_TRUE(TensorsEqual(both[1], image.Slice(1, 4, 4)));
  EXPECT_TRUE(TensorsEqual(both[2], mask.Slice(1, 0, 4)));
  const auto types =
      *InferTypes("SlicePatches", Grid(2, 3),
                  {ir::ColumnType::Of(DType::kUInt8, {7, 9, 3}), ir::ColumnType::Of(DType::kInt32, {-1, 9})});
  ASSERT_EQ(types.size(), 12u);
  EXPECT_EQ(ir::TypeName(types[5]), "uint8 (4, 3, 3)");
  EXPECT_EQ(ir::TypeName(types[6]), "int32 (None, 3)");
}

TEST(SlicePatches, NamesWhatItCannotTake) {
  const Tensor image = NumberedSlicePatches({6, 8, 3});
  EXPECT_EQ(MessageOf(RunKernelOutputs("SlicePatches", Grid(7, 1), {image})),
            "num_height is 7, but the image's height is 6; there can be no more patches than pixels");
  EXPECT_THAT(MessageOf(InferTypes("SlicePatches", Grid(1, 9), {ir::ColumnType::Of(DType::kUInt8, {-1, 8, 3})})),
              HasSubstr("num_width is 9, but the image's width is 8"));
  EXPECT_TRUE(InferTypes("SlicePatches", Grid(1, 9), {ir::ColumnType::Of(DType::kUInt8, {-1, -1, 3})}).ok());
  EXPECT_FALSE(RunKernelOutputs("SlicePatches", Grid(0, 1), {image}).ok());
  EXPECT_FALSE(RunKernelOutputs("SlicePatches", Grid(101, 1), {image}).ok());
  Given fill = {{"num_width", ir::IntValue(2)}, {"fill", Floats({1, 2})}};
  EXPECT_THAT(MessageOf(RunKernelOutputs("SlicePatches", fill, {image})), HasSubstr("fill has 2 values"));
}

}  // namespace
}  // namespace headrace
