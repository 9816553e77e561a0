#include "ir/clip_types.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace headrace::ir {
namespace {

// Gives the image with 4 rows, and a mask of it.
Declaration Cutting() {
  Declaration kernel;
  kernel.traits.geometric = true;
  kernel.python_module = "vision";
  kernel.infer_kernel = [](const Attributes&,
                           absl::Span<const ColumnType> inputs) -> absl::StatusOr<std::vector<ColumnType>> {
    ColumnType type = inputs[0];
    if (!type.shape) return std::vector{type, ColumnType::Of(DType::kBool, {4, kUnknownDim})};
    if (type.shape->size() != 3) return GraphError("needs an image; got ", TypeName(type));
    (*type.shape)[0] = 4;
    return std::vector{type, ColumnType::Of(DType::kBool, {4, (*type.shape)[1]})};
  };
  return kernel;
}

std::string Inferred(const Declaration& kernel, const std::vector<ColumnType>& inputs) {
  const auto types = InferKernelTypes(kernel, {}, inputs);
  if (!types.ok()) return std::string(types.status().message());
  return Cat(TypeName((*types)[0]), " ", TypeName((*types)[1]));
}

ColumnType Bytes(Shape shape) { return ColumnType::Of(DType::kUInt8, std::move(shape)); }

TEST(ClipTypes, AreThoseOfAFrameWithTheFramesInFront) {
  const Declaration kernel = Cutting();
  EXPECT_EQ(Inferred(kernel, {Bytes({8, 9, 3})}), "uint8 (4, 9, 3) bool (4, 9)");
  EXPECT_EQ(Inferred(kernel, {Bytes({5, 8, 9, 3})}), "uint8 (5, 4, 9, 3) bool (5, 4, 9)");
  EXPECT_EQ(Inferred(kernel, {Bytes({kUnknownDim, 8, kUnknownDim, 3})}),
            "uint8 (None, 4, None, 3) bool (None, 4, None)");
  EXPECT_EQ(Inferred(kernel, {Bytes({5, 8, 9, 3}), Bytes({2})}), "uint8 (5, 4, 9, 3) bool (5, 4, 9)");
  EXPECT_EQ(Inferred(kernel, {Bytes({kUnknownDim, 8, 9, 3}), Bytes({6, 8, 9, 1})}),
            "uint8 (6, 4, 9, 3) bool (6, 4, 9)");
}

TEST(ClipTypes, AreNotKnownWhereARowDecides) {
  EXPECT_EQ(Inferred(Cutting(), {ColumnType::AnyShape(DType::kUInt8)}), "uint8 of any shape bool of any shape");
}

TEST(ClipTypes, NameWhatDoesNotFit) {
  const Declaration kernel = Cutting();
  EXPECT_EQ(Inferred(kernel, {Bytes({8, 9})}), "needs an image; got uint8 (8, 9)");
  EXPECT_EQ(Inferred(kernel, {Bytes({0, 8, 9, 3})}), "got a clip without frames: uint8 (0, 8, 9, 3)");
  EXPECT_EQ(Inferred(kernel, {Bytes({5, 8, 9, 3}), Bytes({6, 8, 9, 3})}),
            "takes clips of equally many frames; got 5 and 6");
  Declaration picky = kernel;
  picky.infer_kernel = [](const Attributes&, absl::Span<const ColumnType>) -> absl::StatusOr<std::vector<ColumnType>> {
    return GraphError("no");
  };
  EXPECT_EQ(Inferred(picky, {Bytes({5, 8, 9, 3})}), "no (a frame of uint8 (5, 8, 9, 3))");
}

TEST(ClipTypes, AreOfKernelsThatTakeClipsAlone) {
  Declaration kernel = Cutting();
  EXPECT_EQ(kernel.OfClips(), Clips::kByFrame);
  kernel.clips = Clips::kNone;
  EXPECT_EQ(Inferred(kernel, {Bytes({5, 8, 9, 3})}), "needs an image; got uint8 (5, 8, 9, 3)");
  for (const auto& change : {+[](Declaration& other) { other.python_module = "myplugin"; },
                             +[](Declaration& other) { other.traits.by_batch = true; },
                             +[](Declaration& other) { other.traits.decodes = true; },
                             +[](Declaration& other) { other.traits.geometric = false; }}) {
    Declaration other = Cutting();
    change(other);
    EXPECT_EQ(other.OfClips(), Clips::kNone);
  }
}

}  // namespace
}  // namespace headrace::ir
