#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/outline_bytes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/value.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor BytesTensor(const std::string& bytes) {
  Tensor tensor = *Tensor::Allocate(DType::kUInt8, {static_cast<int64_t>(bytes.size())});
  std::copy(bytes.begin(), bytes.end(), tensor.mutable_data<uint8_t>());
  return tensor;
}

Outline Rectangle(int32_t left, int32_t top, int32_t right, int32_t bottom) {
  Outline outline;
  for (const auto& [x, y] : {std::pair(left, top), {right, top}, {right, bottom}, {left, bottom}}) {
    outline.points.push_back({x * kOutlineGrid, y * kOutlineGrid});
  }
  outline.part_ends = {4};
  return outline;
}

Outline LastColumn(int64_t height, int64_t width) {
  Outline outline;
  outline.by_runs = true;
  outline.runs = {static_cast<uint64_t>(height * (width - 1)), static_cast<uint64_t>(height)};
  outline.runs_height = height;
  outline.runs_width = width;
  return outline;
}

Tensor OutlinesTensor(int64_t height, int64_t width, const std::vector<Outline>& outlines) {
  std::string bytes;
  AppendOutlinesHead(height, width, outlines.size(), bytes);
  for (const Outline& outline : outlines) AppendOutline(outline, bytes);
  return BytesTensor(bytes);
}

Tensor CategoriesTensor(const std::vector<int64_t>& values) {
  Tensor tensor = *Tensor::Allocate(DType::kInt64, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.mutable_data<int64_t>());
  return tensor;
}

template <typename T>
std::vector<T> ValuesIn(const Tensor& tensor) {
  return {tensor.data<T>(), tensor.data<T>() + tensor.elements()};
}

TEST(DrawMasks, GivesOneMaskForEachObject) {
  const Tensor outlines = OutlinesTensor(2, 3, {Rectangle(0, 0, 2, 1), LastColumn(2, 3), {}});
  const Tensor masks = *fixture::RunKernel("DrawMasks", {}, outlines);
  EXPECT_EQ(masks.TypeName(), "uint8 (3, 2, 3)");
  EXPECT_THAT(ValuesIn<uint8_t>(masks.Index(0)), ElementsAre(1, 1, 0, 0, 0, 0));
  EXPECT_THAT(ValuesIn<uint8_t>(masks.Index(1)), ElementsAre(0, 0, 1, 0, 0, 1));
  EXPECT_THAT(ValuesIn<uint8_t>(masks.Index(2)), ElementsAre(0, 0, 0, 0, 0, 0));
}

TEST(DrawMasks, GivesTheImagesSizeAlsoWithoutObjects) {
  EXPECT_EQ(fixture::RunKernel("DrawMasks", {}, OutlinesTensor(480, 640, {}))->TypeName(), "uint8 (0, 480, 640)");
}

TEST(DrawMasks, RefusesWhatIsNoOutlinesOrTooLarge) {
  EXPECT_THAT(fixture::MessageOf(fixture::RunKernel("DrawMasks", {}, BytesTensor("PNG"))), HasSubstr("not outlines"));
  EXPECT_THAT(fixture::MessageOf(fixture::RunKernel("DrawMasks", {}, *Tensor::Scalar(1))), HasSubstr("one axis"));
  const Tensor large = OutlinesTensor(1'000'000, 1'000'000, {Rectangle(0, 0, 2, 1)});
  EXPECT_THAT(fixture::MessageOf(fixture::RunKernel("DrawMasks", {}, large)), HasSubstr("max_pixels"));
  std::string longer = "rest";
  const Tensor outlines = OutlinesTensor(2, 3, {});
  longer.insert(0, reinterpret_cast<const char*>(outlines.raw()), outlines.bytes());
  EXPECT_THAT(fixture::MessageOf(fixture::RunKernel("DrawMasks", {}, BytesTensor(longer))),
              HasSubstr("after the last outline"));
}

TEST(DrawLabelMap, GivesTheCategoryOfTheLastObjectOnAPixel) {
  const Tensor outlines = OutlinesTensor(2, 3, {Rectangle(0, 0, 3, 1), LastColumn(2, 3)});
  const Tensor map = *fixture::RunKernel("DrawLabelMap", {}, {outlines, CategoriesTensor({4, 200})});
  EXPECT_EQ(map.TypeName(), "uint8 (2, 3)");
  EXPECT_THAT(ValuesIn<uint8_t>(map), ElementsAre(4, 4, 200, 255, 255, 200));
  const Tensor wide =
      *fixture::RunKernel("DrawLabelMap", {{"dtype", ir::StringValue("int64")}, {"background", ir::IntValue(0)}},
                          {outlines, CategoriesTensor({4, 1000})});
  EXPECT_THAT(ValuesIn<int64_t>(wide), ElementsAre(4, 4, 1000, 0, 0, 1000));
}

TEST(DrawLabelMap, RefusesCategoriesThatDoNotFit) {
  const Tensor outlines = OutlinesTensor(2, 3, {Rectangle(0, 0, 3, 1)});
  const auto message = [&](const Tensor& categories) {
    return fixture::MessageOf(fixture::RunKernel("DrawLabelMap", {}, std::vector<Tensor>{outlines, categories}));
  };
  EXPECT_THAT(message(CategoriesTensor({256})), HasSubstr("dtype=\"int64\""));
  EXPECT_THAT(message(CategoriesTensor({-1})), HasSubstr("dtype=\"int64\""));
  EXPECT_THAT(message(CategoriesTensor({1, 2})), HasSubstr("1 outlines and 2 categories"));
  EXPECT_THAT(message(*Tensor::Scalar(1)), HasSubstr("needs the category"));
}

TEST(PanopticIds, AddsUpTheChannels) {
  Tensor image = *Tensor::Allocate(DType::kUInt8, {1, 3, 3});
  constexpr uint8_t kPixels[] = {0, 0, 0, 1, 2, 3, 255, 255, 255};
  std::copy(std::begin(kPixels), std::end(kPixels), image.mutable_data<uint8_t>());
  const Tensor ids = *fixture::RunKernel("PanopticIds", {}, image);
  EXPECT_EQ(ids.TypeName(), "int32 (1, 3)");
  EXPECT_THAT(ValuesIn<int32_t>(ids), ElementsAre(0, 1 + 512 + 196608, 16777215));
  EXPECT_FALSE(fixture::RunKernel("PanopticIds", {}, CategoriesTensor({1})).ok());
}

TEST(PanopticCategories, GivesTheCategoryOfEachPixel) {
  Tensor ids = *Tensor::Allocate(DType::kInt32, {2, 2});
  constexpr int32_t kIds[] = {0, 70000, 9, 9};
  std::copy(std::begin(kIds), std::end(kIds), ids.mutable_data<int32_t>());
  const auto run = [&](std::vector<int64_t> segments, std::vector<int64_t> categories) {
    return fixture::RunKernel("PanopticCategories", {},
                              {ids, CategoriesTensor(segments), CategoriesTensor(categories)});
  };
  EXPECT_THAT(ValuesIn<int32_t>(*run({9, 70000}, {132, 7})), ElementsAre(255, 7, 132, 132));
  EXPECT_THAT(fixture::MessageOf(run({9}, {1})), HasSubstr("pixels of segment 70000"));
  ids.mutable_data<int32_t>()[0] = -1;
  EXPECT_THAT(fixture::MessageOf(run({9, 70000}, {1, 2})), HasSubstr("pixels of segment -1"));
  ids.mutable_data<int32_t>()[0] = 0;
  EXPECT_THAT(fixture::MessageOf(run({9, 9}, {1, 2})), HasSubstr("two segments have the number 9"));
  EXPECT_THAT(fixture::MessageOf(run({9, 0}, {1, 2})), HasSubstr("the number 0"));
  EXPECT_THAT(fixture::MessageOf(run({9, 70000}, {1})), HasSubstr("2 numbers of segments and 1"));
}

}  // namespace
}  // namespace headrace
