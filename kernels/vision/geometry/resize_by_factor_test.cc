// ResizeByFactor: the sizes of Python's int(factor * side), and the pixels of Resize.
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

using fixture::Floats;
using fixture::Given;
using fixture::Golden;
using fixture::InferType;
using fixture::Ints;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

Tensor NinesToScale(const Shape& shape) {
  Tensor image = *Tensor::Allocate(DType::kUInt8, shape);
  std::fill_n(image.mutable_data<uint8_t>(), image.elements(), uint8_t{9});
  return image;
}

Given FactorAttributes(double factor) { return {{"factor", Floats({factor, factor})}}; }

TEST(ResizeByFactor, HasThePixelsOfResize) {
  const Tensor source = Golden("source");  // 60 x 80
  const auto resized = [&](int64_t height, int64_t width) {
    return *RunKernel("Resize", {{"size", Ints({height, width})}}, source)->Contiguous();
  };
  const auto times = [&](const Given& given) { return *RunKernel("ResizeByFactor", given, source)->Contiguous(); };
  EXPECT_TRUE(TensorsEqual(times(FactorAttributes(0.5)), resized(30, 40)));
  EXPECT_TRUE(TensorsEqual(times(FactorAttributes(1.5)), resized(90, 120)));
  EXPECT_TRUE(TensorsEqual(times({{"factor", Floats({0.25, 2})}}), resized(15, 160)));
  EXPECT_TRUE(TensorsEqual(times(FactorAttributes(1)), source));
}

// [(int(f * h), int(f * w)) for …] in Python: 0.29 * 100 is a little less than 29.
TEST(ResizeByFactor, CutsFractionsOff) {
  struct Case {
    double factor;
    Shape image;
    Shape resized;
  };
  const std::vector<Case> cases = {
      {0.29, {100, 50}, {28, 14}}, {0.5, {33, 35}, {16, 17}}, {0.1, {30, 70}, {3, 7}}, {0.001, {40, 60}, {1, 1}}};
  for (const Case& each : cases) {
    const Tensor image = NinesToScale(each.image);
    EXPECT_EQ(RunKernel("ResizeByFactor", FactorAttributes(each.factor), image)->shape(), each.resized);
    // What is inferred is what comes.
    EXPECT_EQ(
        *InferType("ResizeByFactor", FactorAttributes(each.factor), {ir::ColumnType::Of(DType::kUInt8, each.image)})
             ->shape,
        each.resized);
  }
}

TEST(ResizeByFactor, InfersWhatIsKnown) {
  const ir::ColumnType decoded = ir::ColumnType::Of(DType::kUInt8, {-1, -1, 3});
  EXPECT_EQ(ir::TypeName(*InferType("ResizeByFactor", FactorAttributes(0.5), {decoded})), "uint8 (None, None, 3)");
  const ir::ColumnType absurd = ir::ColumnType::Of(DType::kUInt8, {std::numeric_limits<int64_t>::max(), 1, 3});
  EXPECT_TRUE(InferType("ResizeByFactor", FactorAttributes(65535), {absurd}).ok());
}

TEST(ResizeByFactor, RefusesSidesThatAreTooLong) {
  const Tensor image = NinesToScale({1, 400, 3});
  const auto failed = RunKernel("ResizeByFactor", FactorAttributes(200), image);
  EXPECT_EQ(KindOf(failed.status()), ErrorKind::kData);
  EXPECT_THAT(MessageOf(failed), HasSubstr("height 1 and width 400 would be resized to a side of 80000"));
  EXPECT_THAT(MessageOf(RunKernel("ResizeByFactor", FactorAttributes(0), image)), HasSubstr("factor"));
}

}  // namespace
}  // namespace headrace
