// Tests MixUp and CutMix, and the distribution of their weights.
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/testing/chi_square.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/numbers/beta.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/row_axes.h"
#include "kernels/testing/run_kernel.h"
#include "kernels/vision/mixing/batch_mixing.h"

namespace headrace {
namespace {

using fixture::Given;
using fixture::Golden;
using fixture::InferTypes;
using fixture::MessageOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor Labels(const std::vector<int32_t>& classes) {
  Tensor labels = *Tensor::Allocate(DType::kInt32, {static_cast<int64_t>(classes.size())});
  std::copy(classes.begin(), classes.end(), labels.mutable_data<int32_t>());
  return labels;
}

Tensor SampleLabels() { return Labels({2, 0, 3, 3, 1}); }

Given Options(double alpha) { return {{"alpha", ir::FloatValue(alpha)}, {"num_classes", ir::IntValue(4)}}; }

absl::StatusOr<Tensors> Mix(const std::string& kernel, const Given& given, const std::vector<Tensor>& inputs,
                            uint64_t row = 0, absl::Span<const bool> fillers = {}) {
  const auto made = *fixture::MakeKernel(kernel, given);
  OutputAllocator output;
  KernelContext context(RowRandom(0, 0, {.key = row}), output, fillers);
  return made->Apply(inputs, context);
}

Given ByRow(double alpha) {
  Given given = Options(alpha);
  given.emplace_back("per", ir::StringValue("row"));
  return given;
}

void ExpectGolden(const std::string& kernel, const std::string& golden, const Given& given) {
  for (uint64_t row = 0; row < 4; ++row) {
    const Tensors mixed = *Mix(kernel, given, {Golden("mixing.images"), SampleLabels()}, row);
    const auto index = static_cast<int64_t>(row);
    EXPECT_TRUE(TensorsEqual(mixed[0], Golden(golden + ".images").Index(index))) << kernel << row;
    EXPECT_TRUE(TensorsEqual(mixed[1], Golden(golden + ".labels").Index(index))) << kernel << row;
    EXPECT_FALSE(TensorsEqual(mixed[0], Golden("mixing.images"))) << kernel << row;
  }
}

TEST(Mixing, EqualsTorchvisionsFormulas) {
  ExpectGolden("MixUp", "mixing.mix_up", Options(0.4));
  ExpectGolden("CutMix", "mixing.cut_mix", Options(1.0));
}

TEST(Mixing, DrawsForEachRow) {
  ExpectGolden("MixUp", "mixing.mix_up_by_row", ByRow(0.4));
  ExpectGolden("CutMix", "mixing.cut_mix_by_row", ByRow(1.0));
}

// The records and labels that MixUpPlan or CutMixPlan gives for the golden images, as channels last.
Tensors PlanOf(const std::string& kernel, const Given& given, uint64_t row, absl::Span<const bool> fillers = {}) {
  const Tensor images = *Tensor::Allocate(DType::kUInt8, {5, 12, 16, 3});
  return *Mix(kernel, given, {images, SampleLabels()}, row, fillers);
}

void ExpectPlanned(const std::string& kernel, const Given& given, uint64_t row) {
  const Tensor images = Golden("mixing.images");
  constexpr int64_t kPlane = 12 * 16;
  const Tensors mixed = *Mix(kernel, given, {images, SampleLabels()}, row);
  const Tensors plan = PlanOf(kernel + "Plan", given, row);
  EXPECT_TRUE(TensorsEqual(plan[1], mixed[1]));
  ASSERT_EQ(plan[0].TypeName(), "int32 (5, 8)");
  for (int64_t i = 0; i < images.elements(); ++i) {
    const int64_t of_image = i % (3 * kPlane);
    const int32_t* const record = plan[0].data<int32_t>() + i / (3 * kPlane) * 8;
    const float own = images.data<float>()[i];
    const float partner = images.data<float>()[record[0] * 3 * kPlane + of_image];
    const int64_t x = i % 16 - record[4];
    const int64_t y = of_image % kPlane / 16 - record[5];
    const bool pasted = x >= 0 && x < record[6] && y >= 0 && y < record[7];
    const float blended = partner * std::bit_cast<float>(record[2]) + own * std::bit_cast<float>(record[1]);
    ASSERT_EQ(mixed[0].data<float>()[i], kernel == "MixUp" ? blended : pasted ? partner : own) << kernel << row;
  }
}

TEST(MixingPlan, SaysHowImagesAreMixed) {
  for (uint64_t row = 0; row < 8; ++row) {
    for (const Given& given : {Options(1), ByRow(1)}) {
      ExpectPlanned("MixUp", given, row);
      ExpectPlanned("CutMix", given, row);
    }
  }
}

TEST(MixingPlan, LeavesFillersAlone) {
  for (const char* const kernel : {"MixUpPlan", "CutMixPlan"}) {
    const Tensors plan = PlanOf(kernel, Options(1), 0, {false, false, false, true, true});
    std::vector<int32_t> partners;
    for (int64_t i = 0; i < 5; ++i) partners.push_back(plan[0].data<int32_t>()[i * 8]);
    EXPECT_THAT(partners, ElementsAre(2, 0, 1, -1, -1));
  }
}

// (B, H, W, C) gives what (B, C, H, W) does.
TEST(Mixing, CutsInEitherLayout) {
  const Tensor planes = Golden("mixing.images");
  Tensor pixels = *Tensor::Allocate(DType::kFloat32, {5, 12, 16, 3});
  const auto move = [](const Tensor& from, Tensor& to) {
    for (int64_t i = 0; i < from.elements(); ++i) {
      const int64_t x = i % 16, y = i / 16 % 12, c = i / 192 % 3, b = i / 576;
      to.mutable_data<float>()[((b * 12 + y) * 16 + x) * 3 + c] = from.data<float>()[i];
    }
  };
  move(planes, pixels);
  Given last = Options(1);
  last.emplace_back("layout", ir::StringValue("HWC"));
  for (uint64_t row = 0; row < 8; ++row) {
    Tensor expected = *Tensor::Allocate(DType::kFloat32, {5, 12, 16, 3});
    move((*Mix("CutMix", Options(1), {planes, SampleLabels()}, row))[0], expected);
    EXPECT_TRUE(TensorsEqual((*Mix("CutMix", last, {pixels, SampleLabels()}, row))[0], expected)) << row;
  }
}

TEST(Mixing, PartnersAreTheRowsBeforeAmongThoseNotMarked) {
  EXPECT_THAT(MixingPartners(4, {}), ElementsAre(3, 0, 1, 2));
  EXPECT_THAT(MixingPartners(5, {false, true, false, false, true}), ElementsAre(3, kAlone, 0, 2, kAlone));
  EXPECT_THAT(MixingPartners(3, {true, true, false}), ElementsAre(kAlone, kAlone, 2));
  EXPECT_THAT(MixingPartners(2, {true, true}), ElementsAre(kAlone, kAlone));
  EXPECT_TRUE(MixingPartners(0, {}).empty());
}

void ExpectMarkedAlone(const std::string& kernel, const Given& given) {
  const Tensor images = Golden("mixing.images");
  constexpr std::array<bool, 5> kMarks = {false, false, false, true, true};
  const Tensors marked = *Mix(kernel, given, {images, SampleLabels()}, 1, kMarks);
  const Tensors without = *Mix(kernel, given, {images.Slice(0, 0, 3), Labels({2, 0, 3})}, 1);
  EXPECT_TRUE(TensorsEqual(marked[0].Slice(0, 0, 3), without[0])) << kernel;
  EXPECT_TRUE(TensorsEqual(marked[1].Slice(0, 0, 3), without[1])) << kernel;
  EXPECT_TRUE(TensorsEqual(marked[0].Slice(0, 3, 2), images.Slice(0, 3, 2))) << kernel;
  const float* const hot = marked[1].data<float>() + 3 * 4;
  EXPECT_THAT(std::vector<float>(hot, hot + 8), ElementsAre(0, 0, 0, 1, 0, 1, 0, 0)) << kernel;
}

// The other rows are those of a batch without the marked ones.
TEST(Mixing, LeavesMarkedRowsAlone) {
  for (const Given& given : {Options(0.7), ByRow(0.7)}) {
    ExpectMarkedAlone("MixUp", given);
    ExpectMarkedAlone("CutMix", given);
  }
}

// Wherever they are.
TEST(Mixing, DrawsNothingForMarkedRows) {
  const Tensor images = Golden("mixing.images");
  constexpr std::array<bool, 5> kMarks = {true, false, true, false, true};
  for (const char* kernel : {"MixUp", "CutMix"}) {
    const Tensors marked = *Mix(kernel, ByRow(0.7), {images, SampleLabels()}, 1, kMarks);
    Tensor two = *Tensor::Allocate(DType::kFloat32, {2, 3, 12, 16});
    for (int64_t i = 0; i < 2; ++i) {
      std::copy_n(images.Index(2 * i + 1).data<float>(), 576, two.mutable_data<float>() + 576 * i);
    }
    const Tensors without = *Mix(kernel, ByRow(0.7), {two, Labels({0, 3})}, 1);
    EXPECT_TRUE(TensorsEqual(marked[0].Index(1), without[0].Index(0))) << kernel;
    EXPECT_TRUE(TensorsEqual(marked[0].Index(3), without[0].Index(1))) << kernel;
    EXPECT_TRUE(TensorsEqual(marked[1].Index(3), without[1].Index(1))) << kernel;
  }
}

TEST(Mixing, TakesLabelsThatAreVectors) {
  const Tensor images = Golden("mixing.images");
  const Tensors numbers = *Mix("MixUp", Options(0.4), {images, SampleLabels()});
  const Tensor hot = *fixture::RunKernel(
      "OneHot", {{"num_classes", ir::IntValue(4)}, {"dtype", ir::StringValue("int64")}}, SampleLabels());
  const Given none = {{"alpha", ir::FloatValue(0.4)}};
  EXPECT_TRUE(TensorsEqual((*Mix("MixUp", none, {images, hot}))[1], numbers[1]));
  // After another mixture.
  EXPECT_TRUE(Mix("CutMix", none, {numbers[0], numbers[1]}).ok());
}

TEST(Mixing, RefusesWhatItCannotMix) {
  const Tensor images = Golden("mixing.images");
  EXPECT_THAT(MessageOf(Mix("MixUp", Options(1), {images, Labels({0, 1, 4, 0, 0})})),
              HasSubstr("the label of row 2 of the batch is not one of 0 … 3 (num_classes=4): 4"));
  EXPECT_THAT(MessageOf(Mix("CutMix", Options(1), {images, Labels({0, -1, 0, 0, 0})})), HasSubstr("row 1"));
  EXPECT_THAT(MessageOf(Mix("MixUp", Options(1), {images, Labels({0, 1})})), HasSubstr("as many labels as images"));
  const Given none = {{"alpha", ir::FloatValue(1)}};
  EXPECT_THAT(MessageOf(Mix("MixUp", none, {images, SampleLabels()})), HasSubstr("write how many classes there are"));
  const auto inferred = [&](const char* kernel, const Given& given, DType dtype, Shape shape) {
    return MessageOf(
        InferTypes(kernel, given, {ir::ColumnType::Of(dtype, shape), ir::ColumnType::Of(DType::kInt32, {-1})}));
  };
  EXPECT_THAT(inferred("MixUp", Options(1), DType::kUInt8, {-1, 3, 8, 8}),
              HasSubstr("put Normalize or Rescale before"));
  EXPECT_THAT(inferred("MixUp", none, DType::kFloat32, {-1, 3, 8, 8}), HasSubstr("classes is None"));
  EXPECT_THAT(inferred("CutMix", Options(1), DType::kUInt8, {-1, 8, 8}), HasSubstr("(B, C, H, W)"));
  EXPECT_THAT(inferred("CutMix", Options(1), DType::kUInt8, {-1, 8, 9, 3}), HasSubstr("write layout='HWC'"));
  const auto labels = ir::ColumnType::Of(DType::kInt32, {-1});
  EXPECT_TRUE(InferTypes("CutMix", Options(1), {ir::ColumnType::Of(DType::kUInt8, {-1, -1, 9, 3}), labels}).ok());
  EXPECT_FALSE(fixture::MakeKernel("MixUp", Options(0)).ok());
  EXPECT_THAT(MessageOf(fixture::MakeKernel("MixUp", {{"per", ir::StringValue("pixel")}})), HasSubstr("per"));
}

// Of Beta(alpha, alpha) below x ≤ 1/2, but for a factor: with t = s^alpha the integrand has no pole.
double PartBelow(double alpha, double x) {
  constexpr int kParts = 4000;
  const double end = std::pow(x, alpha);
  const auto at = [&](double t) { return std::pow(1 - std::pow(t, 1 / alpha), alpha - 1); };
  double sum = at(0) + at(end);
  for (int i = 1; i < kParts; ++i) sum += at(end * i / kParts) * (i % 2 == 1 ? 4 : 2);
  return sum * end / kParts / 3;
}

double ChanceBelow(double alpha, double x) {
  const double half = PartBelow(alpha, 0.5);
  return x <= 0.5 ? PartBelow(alpha, x) / (2 * half) : 1 - PartBelow(alpha, 1 - x) / (2 * half);
}

TEST(Mixing, DrawsTheBetaDistribution) {
  if (!kCountsChances) GTEST_SKIP();
  constexpr uint64_t kDraws = 20000;
  constexpr int kBins = 20;
  for (const double alpha : {0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 8.0}) {
    for (const fixture::RowAxis& axis : fixture::kRowAxes) {
      std::array<int64_t, kBins> counts = {};
      for (uint64_t i = 0; i < kDraws; ++i) {
        RowRandom random = axis.stream(i);
        const double drawn = DrawBeta(alpha, random);
        ASSERT_TRUE(drawn >= 0 && drawn <= 1) << drawn;
        ++counts[std::min(kBins - 1, static_cast<int>(drawn * kBins))];
      }
      std::array<double, kBins> expected;
      for (int bin = 0; bin < kBins; ++bin) {
        expected[bin] = kDraws * (ChanceBelow(alpha, (bin + 1.0) / kBins) - ChanceBelow(alpha, 1.0 * bin / kBins));
      }
      // Bins at the end of a narrow distribution hold too few for the test.
      std::vector<int64_t> found;
      std::vector<double> wanted;
      for (int bin = 0; bin < kBins; ++bin) {
        if (expected[bin] < 20 && !found.empty()) {
          found.back() += counts[bin];
          wanted.back() += expected[bin];
        } else {
          found.push_back(counts[bin]);
          wanted.push_back(expected[bin]);
        }
      }
      EXPECT_LT(std::abs(ChiSquareDeviation(found, wanted)), kMostDeviation) << alpha << " by " << axis.name;
    }
  }
}

// The records of two rows that mix, with the batch's key.
std::array<const int32_t*, 2> RecordsOfTwo(const Tensors& plan) {
  return {plan[0].data<int32_t>(), plan[0].data<int32_t>() + 8};
}

Tensors PlanOfTwo(const std::string& kernel, const Given& given, uint64_t key) {
  static const Tensor* const images = new Tensor(*Tensor::Allocate(DType::kUInt8, {2, 12, 16, 3}));
  return *Mix(kernel, given, {*images, Labels({0, 1})}, key);
}

// Each row's weight follows the distribution, whatever the other's is: counts of pairs.
TEST(Mixing, WeightsOfRowsAreIndependent) {
  if (!kCountsChances) GTEST_SKIP();
  constexpr uint64_t kBatches = 12000;
  constexpr int kBins = 4;
  for (const double alpha : {0.4, 1.0, 2.0}) {
    std::array<int64_t, kBins * kBins> counts = {};
    for (uint64_t key = 0; key < kBatches; ++key) {
      const Tensors plan = PlanOfTwo("MixUpPlan", ByRow(alpha), key);
      int cell = 0;
      for (const int32_t* const record : RecordsOfTwo(plan)) {
        cell = cell * kBins + std::min(kBins - 1, static_cast<int>(std::bit_cast<float>(record[1]) * kBins));
      }
      ++counts[static_cast<size_t>(cell)];
    }
    const auto chance = [alpha](int bin) {
      return ChanceBelow(alpha, (bin + 1.0) / kBins) - ChanceBelow(alpha, 1.0 * bin / kBins);
    };
    std::array<double, kBins * kBins> expected;
    for (int cell = 0; cell < kBins * kBins; ++cell) {
      expected[static_cast<size_t>(cell)] = kBatches * chance(cell / kBins) * chance(cell % kBins);
    }
    EXPECT_LT(std::abs(ChiSquareDeviation(counts, expected)), kMostDeviation) << alpha;
  }
}

// Where the centre of a rectangle is in an image 16 wide, in quarters: the weight is about 1/2, so that half the
// rectangle is 5 wide, and it is cut off on one side at most.
int QuarterOf(const int32_t* record) {
  const int32_t right = record[4] + record[6];
  return (right < 16 ? right - 5 : record[4] + 5) / 4;
}

TEST(Mixing, RectanglesOfRowsAreIndependent) {
  if (!kCountsChances) GTEST_SKIP();
  std::array<int64_t, 16> counts = {};
  for (uint64_t key = 0; key < 8000; ++key) {
    const Tensors plan = PlanOfTwo("CutMixPlan", ByRow(1e6), key);
    const auto [first, second] = RecordsOfTwo(plan);
    ++counts[static_cast<size_t>(QuarterOf(first) * 4 + QuarterOf(second))];
  }
  EXPECT_LT(std::abs(ChiSquareDeviation(counts)), kMostDeviation);
}

// Of Dirichlet(alpha, alpha) the first weight is of Beta(alpha, alpha); of three equal ones each is the largest as
// often.
TEST(Mixing, DrawsTheDirichletDistribution) {
  if (!kCountsChances) GTEST_SKIP();
  for (const double alpha : {1e-6, 0.1, 0.5, 1.0, 3.0}) {
    for (const fixture::RowAxis& axis : fixture::kRowAxes) {
      std::array<int64_t, 10> of_two = {};
      std::array<int64_t, 3> largest = {};
      for (uint64_t i = 0; i < 6000; ++i) {
        RowRandom random = axis.stream(i);
        std::array<double, 2> two;
        DrawDirichlet(alpha, absl::MakeSpan(two), random);
        ASSERT_NEAR(two[0] + two[1], 1, 1e-12);
        ++of_two[static_cast<size_t>(std::min(9, static_cast<int>(two[0] * 10)))];
        std::array<double, 3> three;
        DrawDirichlet(alpha, absl::MakeSpan(three), random);
        ASSERT_NEAR(three[0] + three[1] + three[2], 1, 1e-12);
        ++largest[static_cast<size_t>(std::max_element(three.begin(), three.end()) - three.begin())];
      }
      EXPECT_LT(std::abs(ChiSquareDeviation(largest)), kMostDeviation) << alpha << " by " << axis.name;
      if (alpha < 0.1) continue;  // all at the ends
      std::array<double, 10> expected;
      for (int bin = 0; bin < 10; ++bin) {
        expected[bin] = 6000 * (ChanceBelow(alpha, (bin + 1.0) / 10) - ChanceBelow(alpha, bin / 10.0));
      }
      EXPECT_LT(std::abs(ChiSquareDeviation(of_two, expected)), kMostDeviation) << alpha << " by " << axis.name;
    }
  }
}

// Powers of these underflow: the draws are at the ends, as often at either.
TEST(Mixing, DrawsTheBetaDistributionOfTinyParameters) {
  if (!kCountsChances) GTEST_SKIP();
  std::array<int64_t, 2> ends = {};
  for (uint64_t i = 0; i < 10000; ++i) {
    RowRandom random(1, 2, {.key = i});
    const double drawn = DrawBeta(1e-6, random);
    ASSERT_TRUE(drawn < 1e-3 || drawn > 1 - 1e-3) << drawn;
    ++ends[drawn > 0.5 ? 1 : 0];
  }
  EXPECT_LT(std::abs(ChiSquareDeviation(ends)), kMostDeviation);
}

}  // namespace
}  // namespace headrace
