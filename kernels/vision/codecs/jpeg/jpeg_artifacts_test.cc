// JPEG: the pixels of encoding and decoding, and how often each quality is drawn.
#include <cmath>
#include <vector>

#include "core/testing/chi_square.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Given;
using fixture::Golden;
using fixture::InferType;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

Given Between(const std::vector<int64_t>& qualities) { return {{"quality", ir::IntsValue(qualities)}}; }

Tensor Again(const Tensor& image, int64_t quality, const char* mode) {
  const Tensor encoded = *RunKernel("EncodeJpeg", {{"quality", ir::IntValue(quality)}}, image);
  return *RunKernel("Decode", {{"mode", ir::StringValue(mode)}}, encoded);
}

TEST(Jpeg, GivesTheImageThatIsEncodedAndDecoded) {
  const Tensor color = Golden("source");
  const Tensor grey = *color.Slice(2, 1, 1).Contiguous();
  for (const int64_t quality : {1, 30, 100}) {
    EXPECT_TRUE(TensorsEqual(*RunKernel("JPEG", Between({quality}), color), Again(color, quality, "RGB")));
    EXPECT_TRUE(TensorsEqual(*RunKernel("JPEG", Between({quality}), grey), Again(grey, quality, "L")));
  }
  const Tensor plane = grey.Reshape({grey.dim(0), grey.dim(1)});
  const Tensor flat = *RunKernel("JPEG", Between({30}), plane);
  EXPECT_TRUE(TensorsEqual(flat, Again(grey, 30, "L").Reshape(plane.shape())));
  const Tensor view = color.Slice(0, 3, 21).Slice(1, 2, 17);
  EXPECT_TRUE(TensorsEqual(*RunKernel("JPEG", Between({60}), view), Again(view, 60, "RGB")));
}

TEST(Jpeg, DrawsEachQualityAlikeOften) {
  if (!kCountsChances) GTEST_SKIP();
  Tensor image = *Tensor::Allocate(DType::kUInt8, {8, 8, 1});
  for (int i = 0; i < 64; ++i) image.mutable_raw()[i] = static_cast<uint8_t>(i * 37);
  std::vector<Tensor> of_quality;
  for (int64_t quality = 41; quality <= 45; ++quality) of_quality.push_back(Again(image, quality, "L"));
  std::vector<int64_t> counts(of_quality.size());
  for (uint64_t row = 0; row < 5000; ++row) {
    const Tensor found = *RunKernel("JPEG", Between({41, 45}), {image}, RowRandom(1, 2, {.key = row}));
    size_t quality = 0;
    while (quality < counts.size() && !TensorsEqual(found, of_quality[quality])) ++quality;
    ASSERT_LT(quality, counts.size());
    ++counts[quality];
  }
  EXPECT_LT(std::abs(ChiSquareDeviation(counts)), kMostDeviation);
}

TEST(Jpeg, NamesWhatDoesNotFit) {
  EXPECT_THAT(MessageOf(RunKernel("JPEG", Between({80, 20}), Golden("source"))),
              HasSubstr("quality begins at 80 and ends at 20; write the least one first"));
  EXPECT_FALSE(RunKernel("JPEG", Between({0}), Golden("source")).ok());
  EXPECT_THAT(MessageOf(RunKernel("JPEG", Between({50}), *Tensor::Allocate(DType::kFloat32, {4, 4, 3}))),
              HasSubstr("needs an image of uint8 with 1 or 3 channels; got float32"));
  const ir::ColumnType four = ir::ColumnType::Of(DType::kUInt8, {4, 4, 4});
  EXPECT_THAT(MessageOf(InferType("JPEG", Between({50}), {four})), HasSubstr("with 1 or 3 channels; got uint8"));
  const ir::ColumnType image = ir::ColumnType::Of(DType::kUInt8, {ir::kUnknownDim, 9, 3});
  EXPECT_EQ(*InferType("JPEG", Between({50}), {image}), image);
}

}  // namespace
}  // namespace headrace
