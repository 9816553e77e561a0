// Masks of single boxes: each plane moves as a mask of its own, with the draws of all others.
#include "kernels/vision/geometry/object_masks.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/moves.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Given;
using fixture::Ints;
using fixture::kMovedHeight;
using fixture::kMovedWidth;
using fixture::MessageOf;
using fixture::Move;
using ::testing::HasSubstr;

// No two bytes beside each other are equal.
Tensor Masks(DType dtype, const Shape& shape) {
  Tensor masks = *Tensor::Allocate(dtype, shape);
  for (size_t i = 0; i < masks.bytes(); ++i) masks.mutable_raw()[i] = static_cast<uint8_t>((i * 2654435761u) >> 7);
  return masks;
}

std::string TypeName(const absl::StatusOr<ir::ColumnType>& type) {
  return type.ok() ? ir::TypeName(*type) : std::string(type.status().message());
}

TEST(ObjectMasks, EachPlaneMovesAsAMask) {
  for (const Move& move : fixture::Moves()) {
    const std::string kernel = Cat(move.kernel, "OfMasks");
    for (const DType dtype : {DType::kUInt8, DType::kUInt16, DType::kFloat32, DType::kInt64}) {
      const Tensor masks = Masks(dtype, {3, kMovedHeight, kMovedWidth});
      for (uint64_t key = 0; key < 20; ++key) {
        SCOPED_TRACE(Cat(kernel, " of row ", key));
        const RowRandom random(3, 4, {.epoch = 0, .key = key});
        const auto moved = fixture::RunKernel(kernel, move.given, {masks}, random);
        ASSERT_TRUE(moved.ok()) << moved.status();
        ASSERT_EQ(moved->dim(0), 3);
        for (int64_t i = 0; i < 3; ++i) {
          EXPECT_TRUE(
              TensorsEqual(moved->Index(i), *fixture::RunKernel(move.kernel, move.given, {masks.Index(i)}, random)));
        }
        const Tensor none =
            *fixture::RunKernel(kernel, move.given, {Masks(dtype, {0, kMovedHeight, kMovedWidth})}, random);
        EXPECT_EQ(none.shape(), (Shape{0, moved->dim(1), moved->dim(2)}));
        EXPECT_EQ(none.dtype(), dtype);
      }
    }
  }
}

TEST(ObjectMasks, AreNotCopiedWhereTheyStay) {
  const Tensor masks = Masks(DType::kUInt8, {3, kMovedHeight, kMovedWidth});
  const Tensor kept = *fixture::RunKernel("RandomHorizontalFlipOfMasks", {{"p", ir::FloatValue(0)}}, masks);
  EXPECT_EQ(kept.raw(), masks.raw());
}

TEST(ObjectMasks, TypesFollowTheirPlanes) {
  const Given size = {{"size", Ints({5, 6})}};
  const auto inferred = [&](const ir::ColumnType& type) {
    return TypeName(fixture::InferType("CenterCropOfMasks", size, {type}));
  };
  const int64_t any = ir::kUnknownDim;
  EXPECT_EQ(inferred(ir::ColumnType::Of(DType::kInt32, {any, any, any})), "int32 (None, 5, 6)");
  EXPECT_EQ(inferred(ir::ColumnType::Of(DType::kBool, {4, 9, 9})), "bool (4, 5, 6)");
  EXPECT_EQ(inferred(ir::ColumnType::AnyShape(DType::kInt32)), "int32 of any shape");
  constexpr char kNeeds[] = "needs masks of single boxes in column \"masks\", numbers of shape (n, H, W); got ";
  EXPECT_THAT(inferred(ir::ColumnType::Of(DType::kUInt8, {9, 9})), HasSubstr(Cat(kNeeds, "uint8 (9, 9)")));
  EXPECT_THAT(inferred(ir::ColumnType::Of(DType::kBytes, {any})),
              HasSubstr(Cat(kNeeds, "bytes (None,); decode them in a function")));
  EXPECT_THAT(MessageOf(fixture::RunKernel("CenterCropOfMasks", size, Masks(DType::kUInt8, {9, 9}))),
              HasSubstr(Cat(kNeeds, "uint8 (9, 9)")));
  EXPECT_THAT(MessageOf(fixture::RunKernel("CenterCropOfMasks", size, Masks(DType::kUInt8, {0, 0, 9}))),
              HasSubstr("column \"masks\" holds masks without pixels: uint8 (0, 0, 9)"));
}

TEST(MatchMasks, HaveTheSizeOfTheirImage) {
  const Tensor image = Masks(DType::kUInt8, {kMovedHeight, kMovedWidth, 3});
  const Given given = {{"column", ir::StringValue("people")}};
  const auto matched = [&](const Tensor& masks) { return fixture::RunKernel("MatchMasks", given, {image, masks}); };
  for (const int64_t count : {0, 1, 5}) {
    const Tensor masks = Masks(DType::kInt16, {count, kMovedHeight, kMovedWidth});
    EXPECT_TRUE(TensorsEqual(*matched(masks), masks));
  }
  for (const int64_t count : {0, 2}) {
    const auto wrong = matched(Masks(DType::kUInt8, {count, kMovedHeight, 9}));
    EXPECT_EQ(KindOf(wrong.status()), ErrorKind::kData);
    EXPECT_THAT(MessageOf(wrong), HasSubstr("each mask of column \"people\" has height 24 and width 9, but its image "
                                            "has height 24 and width 32; resize one of them"));
  }
  EXPECT_THAT(MessageOf(matched(Masks(DType::kUInt8, {kMovedHeight, kMovedWidth}))),
              HasSubstr("in column \"people\", numbers"));
  const auto encoded = fixture::InferType("MatchMasks", given,
                                          {ir::ColumnType::Of(DType::kUInt8, {ir::kUnknownDim, ir::kUnknownDim, 3}),
                                           ir::ColumnType::Of(DType::kBytes, {})});
  EXPECT_THAT(MessageOf(encoded), HasSubstr("in column \"people\", numbers of shape (n, H, W); got bytes"));
}

}  // namespace
}  // namespace headrace
