#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/testing/chi_square.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/value.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/row_axes.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Floats;
using fixture::Golden;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

TEST(RandomErasing, EqualsItsDefinition) {
  const Tensor image = *Golden("source").Slice(0, 0, 24).Slice(1, 0, 32).Contiguous();
  int erased = 0;
  for (const auto& [name, scale] : {std::pair{"usual", Floats({0.02, 0.33})}, {"large", Floats({0.6, 1})}}) {
    const Tensor golden = Golden(Cat("random_erasing.", name));
    for (int64_t row = 0; row < golden.dim(0); ++row) {
      const fixture::Given given = {{"value", ir::IntsValue({124, 116, 104})}, {"scale", scale}};
      const RowRandom random(7, 3, {.epoch = 1, .key = static_cast<uint64_t>(row)});
      for (const Tensor& input : {image, fixture::WithGaps(image)}) {
        const Tensor output = *RunKernel("RandomErasing", given, {input}, random);
        EXPECT_TRUE(TensorsEqual(output, golden.Index(row))) << name << ", row " << row;
        // An image that stays as it is is not copied.
        const bool same = TensorsEqual(output, input);
        EXPECT_EQ(output.raw() == input.raw(), same);
        erased += same ? 0 : 1;
      }
    }
  }
  EXPECT_GT(erased, 12);
}

TEST(RandomErasingBox, IsWhatIsErased) {
  Tensor image = *Tensor::Allocate(DType::kUInt8, {9, 14, 2});
  std::fill_n(image.mutable_raw(), image.bytes(), uint8_t{0});
  for (uint64_t row = 0; row < 50; ++row) {
    const RowRandom random(7, 3, {.key = row});
    const Tensor erased = *RunKernel("RandomErasing", {{"value", ir::IntValue(1)}}, {image}, random);
    const Tensor box = *RunKernel("RandomErasingBox", {{"value", ir::IntValue(1)}}, {image}, random);
    ASSERT_EQ(box.TypeName(), "int32 (4,)");
    const int32_t* const at = box.data<int32_t>();  // left, top, width, height
    for (int64_t i = 0; i < image.elements(); ++i) {
      const int64_t y = i / 28;
      const int64_t x = i / 2 % 14;
      const bool inside = x >= at[0] && x < at[0] + at[2] && y >= at[1] && y < at[1] + at[3];
      ASSERT_EQ(erased.raw()[i] == 1, inside) << row;
    }
  }
}

// Where the only rectangle of 3 × 3 pixels lies in an image of 8 × 8 zeros; nullopt: nowhere.
std::optional<int64_t> ErasedCorner(double p, const RowRandom& random) {
  static const Tensor image = [] {
    Tensor zeros = *Tensor::Allocate(DType::kInt16, {8, 8});
    std::fill_n(zeros.mutable_raw(), zeros.bytes(), 0);
    return zeros;
  }();
  const fixture::Given given = {{"p", ir::FloatValue(p)},
                                {"scale", Floats({9.0 / 64, 9.0 / 64})},
                                {"ratio", Floats({1, 1})},
                                {"value", ir::IntValue(-7)}};
  const Tensor output = *RunKernel("RandomErasing", given, {image}, random);
  std::vector<int64_t> erased;
  for (int64_t i = 0; i < 64; ++i) {
    if (output.data<int16_t>()[i] == -7) erased.push_back(i);
  }
  if (erased.empty()) return std::nullopt;
  EXPECT_EQ(erased.size(), 9u);
  EXPECT_EQ(erased.back() - erased.front(), 2 * 8 + 2);
  return erased.front();
}

TEST(RandomErasing, TakesEveryPlaceAlikeAndAsOftenAsAsked) {
  if (!kCountsChances) GTEST_SKIP();
  for (const fixture::RowAxis& axis : fixture::kRowAxes) {
    constexpr int64_t kDraws = 12000;
    std::vector<int64_t> places(36);
    int64_t erased = 0;
    for (uint64_t number = 0; number < kDraws; ++number) {
      const std::optional<int64_t> corner = ErasedCorner(0.3, axis.stream(number));
      if (!corner) continue;
      ++erased;
      ++places[static_cast<size_t>(*corner / 8 * 6 + *corner % 8)];
    }
    EXPECT_LT(std::abs(ChiSquareDeviation(places)), kMostDeviation) << axis.name;
    const std::vector<int64_t> counts = {erased, kDraws - erased};
    EXPECT_LT(std::abs(ChiSquareDeviation(counts, {0.3 * kDraws, 0.7 * kDraws})), kMostDeviation) << axis.name;
  }
}

TEST(RandomErasing, HappensAlwaysOrNeverWhereAsked) {
  for (uint64_t row = 0; row < 500; ++row) {
    EXPECT_FALSE(ErasedCorner(0, RowRandom(1, 0, {.key = row})));
    EXPECT_TRUE(ErasedCorner(1, RowRandom(1, 0, {.key = row})));
  }
}

// An image and its mask, two columns of one row, lose the same rectangle.
TEST(RandomErasing, ErasesColumnsOfOneRowAlike) {
  Tensor image = *Tensor::Allocate(DType::kFloat32, {20, 30, 2});
  std::fill_n(image.mutable_data<float>(), image.elements(), 1.0f);
  Tensor mask = *Tensor::Allocate(DType::kUInt8, {20, 30});
  std::fill_n(mask.mutable_raw(), mask.elements(), uint8_t{1});
  for (uint64_t row = 0; row < 20; ++row) {
    const RowRandom random(7, 3, {.key = row});
    const Tensor erased_image = *RunKernel("RandomErasing", {{"p", ir::FloatValue(1)}}, {image}, random);
    const Tensor erased_mask = *RunKernel("RandomErasing", {{"p", ir::FloatValue(1)}}, {mask}, random);
    for (int64_t i = 0; i < mask.elements(); ++i) {
      ASSERT_EQ(erased_image.data<float>()[2 * i + 1], static_cast<float>(erased_mask.raw()[i]));
    }
  }
}

// (H, W, C) as (C, H, W).
Tensor Planes(const Tensor& image) { return *RunKernel("HWC2CHW", {}, image)->Contiguous(); }

TEST(RandomErasing, ErasesPlanesAsPixels) {
  const Tensor image = *Golden("source").Slice(0, 0, 24).Slice(1, 0, 32).Contiguous();
  const Tensor floats = *RunKernel("TypeCast", {{"dtype", ir::StringValue("float32")}}, image);
  const fixture::Given value = {{"value", ir::IntsValue({124, 116, 104})}};
  const fixture::Given noise = {{"noise", ir::BoolValue(true)}};
  int erased = 0;
  for (uint64_t row = 0; row < 40; ++row) {
    const RowRandom random(7, 3, {.key = row});
    for (const auto& [input, given] : {std::pair{image, value}, {floats, value}, {floats, noise}}) {
      fixture::Given planes = given;
      planes.emplace_back("layout", ir::StringValue("CHW"));
      const Tensor output = *RunKernel("RandomErasing", given, {input}, random);
      const Tensor of_planes = *RunKernel("RandomErasing", planes, {Planes(input)}, random);
      EXPECT_TRUE(TensorsEqual(Planes(output), of_planes)) << "row " << row;
      erased += TensorsEqual(output, input) ? 0 : 1;
    }
  }
  EXPECT_GT(erased, 30);
}

TEST(RandomErasing, FillsWithNormalNumbers) {
  const fixture::Given given = {{"p", ir::FloatValue(1)},
                                {"noise", ir::BoolValue(true)},
                                {"scale", Floats({0.5, 0.5})},
                                {"ratio", Floats({1, 1})}};
  Tensor image = *Tensor::Allocate(DType::kFloat32, {200, 200, 3});
  std::fill_n(image.mutable_data<float>(), image.elements(), 100.0f);
  const Tensor output = *RunKernel("RandomErasing", given, {image}, RowRandom(7, 3, {.key = 1}));
  // Each of ten equally likely intervals of the normal distribution.
  const std::vector<float> bounds = {-1.28155f, -0.84162f, -0.52440f, -0.25335f, 0,
                                     0.25335f,  0.52440f,  0.84162f,  1.28155f};
  std::vector<int64_t> counts(bounds.size() + 1);
  for (int64_t i = 0; i < output.elements(); ++i) {
    const float number = output.data<float>()[i];
    if (number == 100) continue;
    ++counts[static_cast<size_t>(std::lower_bound(bounds.begin(), bounds.end(), number) - bounds.begin())];
  }
  const int64_t erased = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  EXPECT_EQ(erased, 141 * 141 * 3);
  EXPECT_LT(std::abs(ChiSquareDeviation(counts)), kMostDeviation);
}

TEST(RandomErasing, RefusesLayoutsAndNoiseThatCannotBe) {
  const Tensor source = Golden("source");
  const fixture::Given noise = {{"noise", ir::BoolValue(true)}};
  EXPECT_THAT(MessageOf(RunKernel("RandomErasing", noise, source)), HasSubstr("noise=True needs float32"));
  const Tensor gray = *Tensor::Allocate(DType::kUInt8, {8, 8});
  EXPECT_THAT(MessageOf(RunKernel("RandomErasing", {{"layout", ir::StringValue("CHW")}}, gray)),
              HasSubstr("layout='CHW' needs shape (C, H, W)"));
  const fixture::Given both = {{"noise", ir::BoolValue(true)}, {"value", ir::IntValue(3)}};
  EXPECT_THAT(MessageOf(RunKernel("RandomErasing", both, *RunKernel("ToFloat", {}, source))),
              HasSubstr("takes either value or noise=True"));
}

TEST(RandomErasing, RefusesWhatCannotBe) {
  const Tensor source = Golden("source");
  EXPECT_THAT(MessageOf(RunKernel("RandomErasing", {{"scale", Floats({0.5, 0.2})}}, source)),
              HasSubstr("scale = (0.5, 0.2) ends before it begins"));
  EXPECT_FALSE(RunKernel("RandomErasing", {{"ratio", Floats({0, 1})}}, source).ok());
  // Also in rows of which nothing is erased.
  const fixture::Given two = {{"p", ir::FloatValue(0)}, {"value", ir::IntsValue({1, 2})}};
  EXPECT_THAT(MessageOf(RunKernel("RandomErasing", two, source)), HasSubstr("value has 2 values"));
  const fixture::Given high = {{"p", ir::FloatValue(0)}, {"value", ir::IntValue(256)}};
  EXPECT_THAT(MessageOf(RunKernel("RandomErasing", high, source)), HasSubstr("value = 256 does not fit dtype uint8"));
}

}  // namespace
}  // namespace headrace
