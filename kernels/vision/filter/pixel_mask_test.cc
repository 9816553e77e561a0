#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/value.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

TEST(PixelMask, MarksEveryPixel) {
  const Tensor image = fixture::Golden("source");
  const Tensor mask = *fixture::RunKernel("PixelMask", {}, image);
  EXPECT_EQ(mask.TypeName(), "bool (60, 80)");
  for (int64_t i = 0; i < mask.elements(); ++i) ASSERT_TRUE(mask.data<bool>()[i]);
  EXPECT_EQ(ir::TypeName(*fixture::InferType("PixelMask", {}, {ir::ColumnType::Of(DType::kUInt8, {5, -1, 3})})),
            "bool (5, None)");
  EXPECT_EQ(ir::TypeName(*fixture::InferType("PixelMask", {}, {ir::ColumnType::AnyShape(DType::kUInt8)})),
            "bool (None, None)");
  EXPECT_FALSE(fixture::RunKernel("PixelMask", {}, *Tensor::Scalar(1)).ok());
}

TEST(GaussianBlur, HasADeviationOfItsOwnForEachAxis) {
  const Tensor image = fixture::Golden("source");
  const auto blurred = [&](std::vector<double> axes) {
    return *fixture::RunKernel("GaussianBlur",
                               {{"kernel_size", fixture::Ints({5, 7})}, {"axis_sigma", ir::FloatsValue(axes)}}, image);
  };
  const Tensor equal = *fixture::RunKernel(
      "GaussianBlur", {{"kernel_size", fixture::Ints({5, 7})}, {"sigma", ir::FloatsValue({1.5})}}, image);
  EXPECT_TRUE(TensorsEqual(blurred({1.5, 1.5}), equal));
  EXPECT_FALSE(TensorsEqual(blurred({1.5, 0.5}), equal));
  // One that is hardly wider than a pixel leaves its axis as it is.
  const Tensor down = *fixture::RunKernel(
      "GaussianBlur", {{"kernel_size", fixture::Ints({5, 1})}, {"sigma", ir::FloatsValue({1.5})}}, image);
  EXPECT_TRUE(TensorsEqual(blurred({1.5, 1e-3}), down));
}

}  // namespace
}  // namespace headrace
