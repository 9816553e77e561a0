// Masks beside clips.
#include <string>
#include <utility>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::MessageOf;
using ::testing::HasSubstr;

Tensor OfSize(const Shape& shape) { return *Tensor::Allocate(DType::kUInt8, shape); }

ir::ColumnType TypeOfSize(Shape shape) { return ir::ColumnType::Of(DType::kUInt8, std::move(shape)); }

TEST(MatchMask, TakesOneMaskForAllFramesOrFourAxes) {
  const Tensor clip = OfSize({5, 8, 9, 3});
  const auto matched = [&](const Shape& mask) { return fixture::RunKernel("MatchMask", {}, {clip, OfSize(mask)}); };
  EXPECT_TRUE(matched({8, 9}).ok());
  EXPECT_TRUE(matched({5, 8, 9, 1}).ok());
  EXPECT_THAT(MessageOf(matched({9, 8})), HasSubstr("the mask has height 9 and width 8, but its image has height 8"));
  const auto other = matched({4, 8, 9, 1});
  EXPECT_EQ(KindOf(other.status()), ErrorKind::kData);
  EXPECT_THAT(MessageOf(other), HasSubstr("the mask has 4 planes, but its clip has 5 frames"));
  EXPECT_THAT(MessageOf(matched({5, 8, 9})),
              HasSubstr("got a mask, uint8 (5, 8, 9), beside a clip, uint8 (5, 8, 9, 3), and their shapes were not "
                        "known before the run; declare the shapes"));
  EXPECT_THAT(MessageOf(fixture::RunKernel("MatchMask", {}, {OfSize({8, 9, 3}), OfSize({5, 8, 9, 1})})),
              HasSubstr("got a mask of several frames, uint8 (5, 8, 9, 1), of one image: uint8 (8, 9, 3)"));
  EXPECT_TRUE(fixture::InferType("MatchMask", {}, {TypeOfSize({5, 8, 9, 3}), TypeOfSize({8, 9})}).ok());
  EXPECT_FALSE(fixture::InferType("MatchMask", {}, {TypeOfSize({8, 9, 3}), TypeOfSize({5, 8, 9, 1})}).ok());
}

TEST(MatchFrameMasks, WantsAPlaneForEachFrame) {
  const Tensor clip = OfSize({5, 8, 9, 3});
  const auto matched = [&](const Tensor& image, const Shape& mask) {
    return fixture::RunKernel("MatchFrameMasks", {}, {image, OfSize(mask)});
  };
  const Tensor mask = OfSize({5, 8, 9});
  EXPECT_EQ((*fixture::RunKernel("MatchFrameMasks", {}, {clip, mask})).raw(), mask.raw());
  EXPECT_THAT(MessageOf(matched(clip, {1, 8, 9})), HasSubstr("the mask has 1 plane, but its clip has 5 frames"));
  EXPECT_THAT(MessageOf(matched(clip, {5, 9, 8})), HasSubstr("each plane of the mask has height 9 and width 8"));
  EXPECT_THAT(MessageOf(matched(clip, {8, 9})),
              HasSubstr("needs a clip (T, H, W, C) and a mask of it, numbers of shape (T, H, W)"));
  EXPECT_FALSE(matched(OfSize({8, 9, 3}), {5, 8, 9}).ok());
  const auto inferred = [](const ir::ColumnType& image, const ir::ColumnType& planes) {
    return fixture::InferType("MatchFrameMasks", {}, {image, planes}).ok();
  };
  EXPECT_TRUE(inferred(TypeOfSize({5, 8, 9, 3}), TypeOfSize({5, 8, 9})));
  EXPECT_FALSE(inferred(TypeOfSize({8, 9, 3}), TypeOfSize({5, 8, 9})));
  EXPECT_FALSE(inferred(TypeOfSize({5, 8, 9, 3}), ir::ColumnType::Of(DType::kString, {5, 8, 9})));
  EXPECT_FALSE(inferred(TypeOfSize({0, 8, 9, 3}), TypeOfSize({0, 8, 9})));
}

TEST(PlaceBoxes, TakesTheSizeOfAClipsFrames) {
  Tensor boxes = *Tensor::Allocate(DType::kFloat32, {1, 4});
  for (int i = 0; i < 4; ++i) boxes.mutable_data<float>()[i] = static_cast<float>(i);
  const Tensor placed = *fixture::RunKernel("PlaceBoxes", {}, {OfSize({5, 8, 9, 3}), boxes});
  EXPECT_EQ(placed.TypeName(), "float32 (2, 4)");
  EXPECT_EQ(placed.data<float>()[6], 9) << "the width";
  EXPECT_EQ(placed.data<float>()[7], 8) << "the height";
  EXPECT_FALSE(fixture::RunKernel("PlaceBoxes", {}, {OfSize({5, 8, 9, 3, 1}), boxes}).ok());
}

}  // namespace
}  // namespace headrace
