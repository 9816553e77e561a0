// ResizeToEdges: the sizes that transformers 5.24 gives DETR, and the pixels of Resize.
#include <algorithm>
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

Given EdgeAttributes(int64_t shortest, int64_t longest) {
  return {{"shortest", ir::IntValue(shortest)}, {"longest", ir::IntValue(longest)}};
}

// Seen by running get_size_with_aspect_ratio(image, 80, 133).
struct EdgeCase {
  Shape image;
  Shape resized;
};
const std::vector<EdgeCase> kEdgeCases = {
    {{60, 80}, {80, 106}},   {{80, 60}, {106, 80}},  {{100, 400}, {33, 133}}, {{400, 100}, {133, 33}},
    {{80, 90}, {80, 90}},    {{97, 133}, {80, 109}}, {{133, 97}, {109, 80}},  {{200, 201}, {80, 80}},
    {{3, 500}, {1, 133}},    {{37, 61}, {80, 131}},  {{1, 90}, {1, 90}},      {{480, 640}, {80, 106}},
    {{427, 640}, {80, 119}}, {{53, 89}, {79, 133}},  {{7, 7}, {80, 80}},      {{300, 500}, {80, 133}},
    {{499, 300}, {133, 80}}, {{61, 102}, {80, 133}}, {{12, 20}, {80, 133}},   {{1201, 2003}, {80, 133}},
};

TEST(ResizeToEdges, GivesTheSizesOfDetr) {
  for (const EdgeCase& each : kEdgeCases) {
    Tensor image = *Tensor::Allocate(DType::kUInt8, each.image);
    std::fill_n(image.mutable_data<uint8_t>(), image.elements(), uint8_t{9});
    EXPECT_EQ(RunKernel("ResizeToEdges", EdgeAttributes(80, 133), image)->shape(), each.resized);
    // What is inferred is what comes.
    EXPECT_EQ(
        *InferType("ResizeToEdges", EdgeAttributes(80, 133), {ir::ColumnType::Of(DType::kUInt8, each.image)})->shape,
        each.resized);
  }
}

TEST(ResizeToEdges, GivesThePixelsOfResize) {
  const Tensor source = Golden("source");  // 60 x 80
  const Tensor limited = *RunKernel("ResizeToEdges", EdgeAttributes(50, 60), source)->Contiguous();
  EXPECT_TRUE(TensorsEqual(limited, *RunKernel("Resize", {{"size", Ints({45, 60})}}, source)->Contiguous()));
  const Tensor shorter = *RunKernel("ResizeToEdges", EdgeAttributes(30, 60), source)->Contiguous();
  EXPECT_TRUE(TensorsEqual(shorter, *RunKernel("Resize", {{"size", Ints({30, 40})}}, source)->Contiguous()));
}

TEST(ResizeToEdges, InfersWhatIsKnown) {
  const ir::ColumnType decoded = ir::ColumnType::Of(DType::kUInt8, {-1, -1, 3});
  EXPECT_EQ(ir::TypeName(*InferType("ResizeToEdges", EdgeAttributes(80, 133), {decoded})), "uint8 (None, None, 3)");
}

}  // namespace
}  // namespace headrace
