// PadToMultiple: sizes that a number divides, with the pixels of Pad.
#include <vector>

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
using fixture::RunKernel;

Given MultipleAttributes(int64_t divisor, bool beyond, const char* mode = "constant") {
  return {{"divisor", ir::IntValue(divisor)}, {"beyond", ir::BoolValue(beyond)}, {"mode", ir::StringValue(mode)}};
}

TEST(PadToMultiple, AddsWhatPadAdds) {
  const Tensor source = Golden("source");  // 60 x 80
  for (const char* mode : {"constant", "edge", "reflect", "symmetric"}) {
    const auto padded = [&](int64_t bottom, int64_t right) {
      const Given given = {{"padding", Ints({0, 0, right, bottom})}, {"mode", ir::StringValue(mode)}};
      return *RunKernel("Pad", given, source)->Contiguous();
    };
    const auto multiple = [&](int64_t divisor, bool beyond) {
      return *RunKernel("PadToMultiple", MultipleAttributes(divisor, beyond, mode), source)->Contiguous();
    };
    EXPECT_TRUE(TensorsEqual(multiple(32, false), padded(4, 16))) << mode;
    EXPECT_TRUE(TensorsEqual(multiple(32, true), padded(4, 16))) << mode;
    EXPECT_TRUE(TensorsEqual(multiple(16, false), padded(4, 0))) << mode;
    EXPECT_TRUE(TensorsEqual(multiple(16, true), padded(4, 16))) << mode;
    EXPECT_TRUE(TensorsEqual(multiple(20, false), source)) << mode;
    EXPECT_TRUE(TensorsEqual(multiple(20, true), padded(20, 20))) << mode;
    EXPECT_TRUE(TensorsEqual(multiple(400, false), padded(340, 320))) << mode;
  }
}

TEST(PadToMultiple, InfersWhatIsKnown) {
  const auto type_of = [](bool beyond, std::initializer_list<int64_t> shape) {
    return ir::TypeName(
        *InferType("PadToMultiple", MultipleAttributes(8, beyond), {ir::ColumnType::Of(DType::kUInt8, Shape(shape))}));
  };
  EXPECT_EQ(type_of(false, {16, 17, 3}), "uint8 (16, 24, 3)");
  EXPECT_EQ(type_of(true, {16, 17, 3}), "uint8 (24, 24, 3)");
  EXPECT_EQ(type_of(false, {-1, 17, 3}), "uint8 (None, 24, 3)");
  EXPECT_EQ(type_of(false, {-1, -1}), "uint8 (None, None)");
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const bool beyond : {false, true})
    EXPECT_EQ(type_of(beyond, {kMost, 8, 3}).substr(0, 27), "uint8 (9223372036854775807,");
}

}  // namespace
}  // namespace headrace
