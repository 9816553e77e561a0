// Tests Mosaic: its pixels and boxes, what it draws, and what it refuses.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/testing/chi_square.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/run_kernel.h"
#include "kernels/vision/mixing/mosaic_boxes.h"
#include "kernels/vision/mixing/mosaic_draws.h"

namespace headrace {
namespace {

using fixture::Given;
using fixture::InferTypes;
using fixture::MessageOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename T>
Tensor MosaicTensor(DType dtype, const Shape& shape, const std::vector<T>& values) {
  Tensor tensor = *Tensor::Allocate(dtype, shape);
  std::copy(values.begin(), values.end(), tensor.mutable_data<T>());
  return tensor;
}

Tensor MosaicNumbers(const std::vector<int64_t>& values) {
  return MosaicTensor<int64_t>(DType::kInt64, {static_cast<int64_t>(values.size())}, values);
}

Tensor MosaicBoxesOf(const std::vector<float>& values) {
  return MosaicTensor<float>(DType::kFloat32, {static_cast<int64_t>(values.size() / 4), 4}, values);
}

// Pixel (y, x) of image i is 1000 i + 10 y + x.
Tensor NumberedImages(int64_t count, int64_t height, int64_t width) {
  Tensor images = *Tensor::Allocate(DType::kInt32, {count, height, width});
  for (int64_t i = 0; i < images.elements(); ++i) {
    const int64_t of_image = i % (height * width);
    images.mutable_data<int32_t>()[i] =
        static_cast<int32_t>(1000 * (i / (height * width)) + 10 * (of_image / width) + of_image % width);
  }
  return images;
}

absl::StatusOr<Tensors> MosaicOf(Given given, const std::vector<Tensor>& inputs, uint64_t row = 0,
                                 absl::Span<const bool> fillers = {}) {
  given.emplace_back("layout", ir::StringValue("HWC"));
  const auto kernel = fixture::MakeKernel("Mosaic", given);
  if (!kernel.ok()) return kernel.status();
  OutputAllocator output;
  KernelContext context(RowRandom(3, 4, {.key = row}), output, fillers);
  return (*kernel)->Apply(inputs, context);
}

std::vector<RowMosaic> Drawn(int64_t rows, int64_t height, int64_t width, uint64_t key,
                             const MosaicOptions& options = {}, absl::Span<const bool> fillers = {}) {
  RowRandom random(3, 4, {.key = key});
  return DrawMosaics(rows, height, width, options, fillers, random);
}

std::vector<float> FloatsOf(const Tensor& tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.elements()};
}

std::vector<int64_t> WholesOf(const Tensor& tensor) {
  return {tensor.data<int64_t>(), tensor.data<int64_t>() + tensor.elements()};
}

// Four rows, of which the first has the mosaic of all, about (3, 1) in images 4 wide and 3 high.
TEST(MosaicBoxes, MovesAndCutsBoxes) {
  RowMosaic mosaic = {.joined = true, .rows = {0, 1, 2, 3}, .x = 3, .y = 1};
  const std::vector<RowMosaic> mosaics = {mosaic, {}, {}, {}};
  const std::vector<Box> whole(4, Box{0, 0, 4, 3});
  const std::vector<int64_t> splits = {0, 1, 2, 3, 4};
  const MosaicBoxes found = MosaicBoxes::Of(mosaics, 3, 4, whole, splits, {});
  std::vector<std::vector<double>> boxes;
  for (const Box& box : found.boxes) boxes.push_back({box.left, box.top, box.right, box.bottom});
  const std::vector<double> same = {0, 0, 4, 3};
  EXPECT_THAT(boxes, ElementsAre(ElementsAre(0, 0, 3, 1), ElementsAre(3, 0, 4, 1), ElementsAre(0, 1, 3, 3),
                                 ElementsAre(3, 1, 4, 3), same, same, same));
  EXPECT_THAT(found.sources, ElementsAre(0, 1, 2, 3, 1, 2, 3));
  EXPECT_THAT(found.splits, ElementsAre(0, 4, 5, 6, 7));
}

TEST(MosaicBoxes, LeavesOutBoxesOfWhichLittleIsLeft) {
  const std::vector<RowMosaic> mosaics = {{.joined = true, .rows = {0, 0, 0, 0}, .x = 3, .y = 3}};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  // At the left top, the right top, the right bottom, far outside, without area, and without numbers.
  const std::vector<Box> boxes = {{0, 0, 2, 2},   {2, 0, 4, 2}, {3, 3, 9, 4},
                                  {9, 9, 12, 12}, {3, 3, 3, 4}, {nan, 1, 4, 4}};
  const std::vector<int64_t> splits = {0, 6};
  const auto kept = [&](const LeastBox& least) { return MosaicBoxes::Of(mosaics, 4, 4, boxes, splits, least).sources; };
  // Tiles show 3 × 3, 1 × 3, 3 × 1 and 1 × 1 pixels: the parts at the right bottom, left bottom, right top, left top.
  EXPECT_THAT(kept({}), ElementsAre(0, 1, 2, 0, 0, 1, 0));
  EXPECT_THAT(kept({.size = 2}), ElementsAre());
  EXPECT_THAT(kept({.size = 0, .visibility = 0.5}), ElementsAre(1, 1));
}

TEST(Mosaic, JoinsFourImagesAtTheirCorners) {
  for (uint64_t key = 0; key < 50; ++key) {
    const Tensor images = NumberedImages(5, 7, 9);
    const Tensor boxes = MosaicBoxesOf({});
    const Tensor splits = MosaicNumbers({0, 0, 0, 0, 0, 0});
    const Tensors joined = *MosaicOf({}, {images, boxes, splits}, key);
    EXPECT_TRUE(TensorsEqual(joined[1], boxes));
    EXPECT_TRUE(TensorsEqual(joined[2], splits));
    const std::vector<RowMosaic> drawn = Drawn(5, 7, 9, key);
    for (int64_t i = 0; i < images.elements(); ++i) {
      const RowMosaic& row = drawn[static_cast<size_t>(i / 63)];
      const int64_t x = i % 9, y = i % 63 / 9;
      const int tile = (y >= row.y ? 2 : 0) + (x >= row.x ? 1 : 0);
      const int64_t from_x = x < row.x ? x - row.x + 9 : x - row.x;
      const int64_t from_y = y < row.y ? y - row.y + 7 : y - row.y;
      ASSERT_EQ(joined[0].data<int32_t>()[i], 1000 * row.rows[static_cast<size_t>(tile)] + 10 * from_y + from_x);
    }
  }
}

// A box of one pixel shows the pixel that it showed before.
TEST(Mosaic, BoxesAndLabelsStayAtTheirPixels) {
  const Tensor images = NumberedImages(4, 6, 8);
  std::vector<float> corners;
  std::vector<int64_t> pixels;
  for (int64_t i = 0; i < images.elements(); ++i) {
    const auto x = static_cast<float>(i % 8), y = static_cast<float>(i % 48 / 8);
    corners.insert(corners.end(), {x, y, x + 1, y + 1});
    pixels.push_back(images.data<int32_t>()[i]);
  }
  const Tensor splits = MosaicNumbers({0, 48, 96, 144, 192});
  const Tensors joined = *MosaicOf({}, {images, MosaicBoxesOf(corners), splits, MosaicNumbers(pixels), splits}, 5);
  ASSERT_EQ(joined[1].TypeName(), "float32 (192, 4)") << "each pixel is in one image";
  EXPECT_TRUE(TensorsEqual(joined[2], splits));
  EXPECT_TRUE(TensorsEqual(joined[4], splits));
  EXPECT_NE(joined[2].raw(), joined[4].raw()) << "users may write to one of them";
  for (int64_t i = 0; i < 192; ++i) {
    const float* const box = joined[1].data<float>() + 4 * i;
    EXPECT_EQ(box[2] - box[0], 1);
    EXPECT_EQ(box[3] - box[1], 1);
    const auto at = static_cast<int64_t>(box[1]) * 8 + static_cast<int64_t>(box[0]);
    EXPECT_EQ(joined[0].data<int32_t>()[i / 48 * 48 + at], joined[3].data<int64_t>()[i]);
  }
}

// (B, C, H, W) gives what (B, H, W, C) does; boxes of whole numbers stay whole.
TEST(Mosaic, JoinsInEitherLayout) {
  Tensor pixels = *Tensor::Allocate(DType::kUInt8, {4, 5, 6, 3});
  Tensor planes = *Tensor::Allocate(DType::kUInt8, {4, 3, 5, 6});
  const auto planes_of = [](const Tensor& from, Tensor& to) {
    for (int64_t i = 0; i < to.elements(); ++i) {
      const int64_t x = i % 6, y = i / 6 % 5, c = i / 30 % 3, b = i / 90;
      to.mutable_data<uint8_t>()[i] = from.data<uint8_t>()[((b * 5 + y) * 6 + x) * 3 + c];
    }
  };
  for (int64_t i = 0; i < pixels.elements(); ++i) pixels.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i * 7);
  planes_of(pixels, planes);
  const Tensor boxes = MosaicTensor<int64_t>(DType::kInt64, {4, 4}, {0, 0, 6, 5, 1, 1, 5, 4, 0, 0, 2, 2, 3, 3, 6, 5});
  const Tensor splits = MosaicNumbers({0, 1, 2, 3, 4});
  const Tensors last = *MosaicOf({}, {pixels, boxes, splits}, 2);
  const Tensors first = *fixture::RunKernelOutputs("Mosaic", {}, {planes, boxes, splits}, RowRandom(3, 4, {.key = 2}));
  Tensor expected = *Tensor::Allocate(DType::kUInt8, {4, 3, 5, 6});
  planes_of(last[0], expected);
  EXPECT_TRUE(TensorsEqual(first[0], expected));
  EXPECT_TRUE(TensorsEqual(first[1], last[1]));
  EXPECT_EQ(first[1].dtype(), DType::kInt64);
}

TEST(Mosaic, TakesTextsForLabels) {
  const Tensor images = NumberedImages(2, 4, 4);
  const std::vector<std::string_view> names = {"cat", "dog", "tree"};
  const Tensor labels = *Tensor::CopyBytesArray(DType::kString, Shape{3}, names);
  const Tensor splits = MosaicNumbers({0, 1, 3});
  const Tensor boxes = MosaicBoxesOf({0, 0, 4, 4, 0, 0, 4, 4, 0, 0, 4, 4});
  const Tensors joined = *MosaicOf({}, {images, boxes, splits, labels, splits});
  ASSERT_EQ(joined[3].dim(0), joined[1].dim(0));
  EXPECT_TRUE(TensorsEqual(joined[4], joined[2]));
  std::set<std::string> found;
  for (int64_t i = 0; i < joined[3].dim(0); ++i) found.insert(std::string(joined[3].bytes_at(i)));
  EXPECT_THAT(found, ::testing::IsSubsetOf({"cat", "dog", "tree"}));
  const Tensors none = *MosaicOf({{"min_size", ir::FloatValue(5)}}, {images, boxes, splits, labels, splits});
  EXPECT_EQ(none[3].TypeName(), "string (0,)");
}

TEST(Mosaic, LeavesRowsAsTheyAre) {
  const Tensor images = NumberedImages(4, 4, 4);
  const Tensor boxes = MosaicBoxesOf({0, 0, 0.5, 0.5, 9, 9, 12, 12});
  const Tensor splits = MosaicNumbers({0, 1, 1, 1, 2});
  const Tensors unjoined = *MosaicOf({{"p", ir::FloatValue(0)}}, {images, boxes, splits});
  EXPECT_TRUE(TensorsEqual(unjoined[0], images));
  EXPECT_TRUE(TensorsEqual(unjoined[1], boxes));
  EXPECT_TRUE(TensorsEqual(unjoined[2], splits));
  constexpr std::array<bool, 4> kMarks = {false, false, false, true};
  const Tensors marked = *MosaicOf({}, {images, boxes, splits}, 0, kMarks);
  EXPECT_TRUE(TensorsEqual(marked[0].Index(3), images.Index(3)));
  EXPECT_THAT(FloatsOf(marked[1]), ElementsAre(9, 9, 12, 12));
  EXPECT_THAT(WholesOf(marked[2]), ElementsAre(0, 0, 0, 0, 1));
  EXPECT_LT(*std::max_element(marked[0].data<int32_t>(), marked[0].data<int32_t>() + 48), 3000);
}

// Wherever they are, the others draw as if they were not there.
TEST(MosaicDraws, MarkedRowsDrawNothing) {
  constexpr std::array<bool, 6> kMarks = {true, false, true, false, false, false};
  const std::vector<RowMosaic> marked = Drawn(6, 40, 50, 1, {}, kMarks);
  const std::vector<RowMosaic> without = Drawn(4, 40, 50, 1);
  constexpr std::array<size_t, 4> kRows = {1, 3, 4, 5};
  EXPECT_FALSE(marked[0].joined || marked[2].joined);
  for (size_t i = 0; i < 4; ++i) {
    const RowMosaic& row = marked[kRows[i]];
    EXPECT_EQ(row.x, without[i].x);
    EXPECT_EQ(row.y, without[i].y);
    for (size_t tile = 0; tile < 4; ++tile) {
      EXPECT_EQ(row.rows[tile], static_cast<int64_t>(kRows[static_cast<size_t>(without[i].rows[tile])]));
    }
  }
}

TEST(MosaicDraws, EachRowIsInItsOwnMosaicBesideThreeOthers) {
  for (const int64_t rows : {4, 5, 16}) {
    for (uint64_t key = 0; key < 100; ++key) {
      const std::vector<RowMosaic> drawn = Drawn(rows, 10, 10, key);
      for (int64_t i = 0; i < rows; ++i) {
        const auto& tiles = drawn[static_cast<size_t>(i)].rows;
        const std::set<int64_t> different(tiles.begin(), tiles.end());
        ASSERT_EQ(different.size(), 4U);
        ASSERT_TRUE(different.contains(i) && *different.begin() >= 0 && *different.rbegin() < rows);
      }
    }
  }
  for (const int64_t rows : {1, 2, 3}) {
    const std::vector<RowMosaic> drawn = Drawn(rows, 10, 10, 1);
    for (size_t i = 0; i < drawn.size(); ++i) {
      EXPECT_THAT(drawn[i].rows, ::testing::Contains(static_cast<int64_t>(i)));
      EXPECT_THAT(drawn[i].rows, ::testing::Each(::testing::Lt(rows)));
    }
  }
  EXPECT_TRUE(Drawn(0, 10, 10, 1).empty());
}

TEST(MosaicDraws, CentersAreOfTheirRange) {
  for (uint64_t key = 0; key < 200; ++key) {
    const RowMosaic row = Drawn(1, 5, 10, key, {.centers = {0.3, 0.5}})[0];
    EXPECT_TRUE(row.x >= 3 && row.x <= 5 && row.y >= 2 && row.y <= 3);
    const RowMosaic point = Drawn(1, 1, 1, key, {.centers = {0.4, 0.4}})[0];
    EXPECT_EQ(point.x, 0);
  }
}

TEST(MosaicDraws, EachCenterIsAsLikely) {
  if (!kCountsChances) GTEST_SKIP();
  // Five wide, three high, for two rows: independent of each other.
  std::array<int64_t, 225> counts = {};
  for (uint64_t key = 0; key < 22500; ++key) {
    const std::vector<RowMosaic> drawn = Drawn(2, 2, 4, key, {.centers = {0, 1}});
    int64_t cell = 0;
    for (const RowMosaic& row : drawn) cell = cell * 15 + row.y * 5 + row.x;
    ++counts[static_cast<size_t>(cell)];
  }
  EXPECT_LT(std::abs(ChiSquareDeviation(counts)), kMostDeviation);
}

// Of row 2 of six: ten sets of three others, in 24 orders with the own row.
TEST(MosaicDraws, EachOrderOfPartnersIsAsLikely) {
  if (!kCountsChances) GTEST_SKIP();
  std::map<std::array<int64_t, 4>, int64_t> found;
  for (uint64_t key = 0; key < 24000; ++key) ++found[Drawn(6, 10, 10, key)[2].rows];
  ASSERT_EQ(found.size(), 240U);
  std::array<int64_t, 240> counts = {};
  std::transform(found.begin(), found.end(), counts.begin(), [](const auto& each) { return each.second; });
  EXPECT_LT(std::abs(ChiSquareDeviation(counts)), kMostDeviation);
}

// Each row for itself.
TEST(MosaicDraws, JoinsItsShareOfRows) {
  if (!kCountsChances) GTEST_SKIP();
  std::array<int64_t, 4> counts = {};
  for (uint64_t key = 0; key < 8000; ++key) {
    const std::vector<RowMosaic> drawn = Drawn(2, 10, 10, key, {.p = 0.25});
    ++counts[(drawn[0].joined ? 2 : 0) + (drawn[1].joined ? 1 : 0)];
  }
  const std::array<double, 4> expected = {8000 * 0.5625, 8000 * 0.1875, 8000 * 0.1875, 8000 * 0.0625};
  EXPECT_LT(std::abs(ChiSquareDeviation(counts, expected)), kMostDeviation);
}

TEST(Mosaic, RefusesWhatItCannotJoin) {
  const Tensor images = NumberedImages(2, 4, 4);
  const Tensor boxes = MosaicBoxesOf({0, 0, 2, 2});
  const Tensor splits = MosaicNumbers({0, 1, 1});
  const auto refused = [](const std::vector<Tensor>& inputs) { return MessageOf(MosaicOf({}, inputs)); };
  EXPECT_THAT(refused({images, boxes}), HasSubstr("boxes and their splits"));
  EXPECT_THAT(refused({images, boxes, splits, boxes}), HasSubstr("got columns: 4"));
  EXPECT_THAT(refused({images.Index(0).Index(0), boxes, splits}), HasSubstr("(B, H, W, C) or (B, H, W)"));
  EXPECT_THAT(refused({images, splits, splits}), HasSubstr("of shape (n, 4)"));
  EXPECT_THAT(refused({images, boxes, boxes}), HasSubstr("needs after each column its splits"));
  EXPECT_THAT(refused({images, boxes, MosaicNumbers({0, 2, 1})}), HasSubstr("are not those of values"));
  EXPECT_THAT(refused({images, boxes, MosaicNumbers({})}), HasSubstr("are not those of values"));
  EXPECT_THAT(refused({images, boxes, MosaicNumbers({0, 1})}), HasSubstr("as many rows as there are images, 2"));
  EXPECT_THAT(refused({images, boxes, splits, MosaicNumbers({7}), MosaicNumbers({0, 0, 1})}),
              HasSubstr("input 3 has 0 in row 0 of the batch, which has so many boxes: 1"));
  EXPECT_THAT(refused({images, boxes, splits, NumberedImages(1, 4, 4), splits}), HasSubstr("masks of single boxes"));
  EXPECT_THAT(MessageOf(MosaicOf({{"center_range", fixture::Floats({0.8, 0.2})}}, {images, boxes, splits})),
              HasSubstr("center_range"));
}

TEST(Mosaic, InfersOrRefusesTypes) {
  const auto of = [](DType dtype, const Shape& shape) { return ir::ColumnType::Of(dtype, shape); };
  ir::ColumnType splits = of(DType::kInt64, {9});
  splits.ragged = true;
  const ir::ColumnType images = of(DType::kUInt8, {8, 3, 32, 32});
  const ir::ColumnType boxes = of(DType::kFloat32, {-1, 4});
  const auto types = *InferTypes("Mosaic", {}, {images, boxes, splits, of(DType::kString, {-1}), splits});
  EXPECT_THAT(types, ElementsAre(images, boxes, splits, of(DType::kString, {-1}), splits));
  const auto refused = [](const std::vector<ir::ColumnType>& inputs) {
    return MessageOf(InferTypes("Mosaic", {}, inputs));
  };
  EXPECT_THAT(refused({images, boxes, boxes}), HasSubstr("needs after each column its splits"));
  EXPECT_THAT(refused({images, splits, splits}), HasSubstr("of shape (n, 4)"));
  EXPECT_THAT(refused({of(DType::kUInt8, {8, 32, 32, 3}), boxes, splits}), HasSubstr("write layout='HWC'"));
  EXPECT_THAT(refused({images, boxes, splits, of(DType::kInt64, {})}), HasSubstr("got columns: 4"));
}

}  // namespace
}  // namespace headrace
