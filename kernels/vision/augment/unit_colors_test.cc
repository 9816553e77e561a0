// Tests the kernels that change colours on floats of 0 … 1 against the definitions of torchvision's code for tensors,
// and that other floats are refused, whatever is drawn.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/graph.pb.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"
#include "kernels/vision/augment/augmentation.h"
#include "kernels/vision/pixels/unit_values.h"

namespace headrace {
namespace {

using fixture::Floats;
using fixture::Given;
using fixture::Golden;
using fixture::InferType;
using fixture::Ints;
using fixture::MessageOf;
using fixture::RunKernel;
using fixture::WithGaps;
using ::testing::HasSubstr;

constexpr double kMostDifference = 1e-5;

struct Change {
  std::string kernel;
  Given given;
};

ir::proto::Value Real(double value) { return ir::FloatValue(value); }

// In the order of the golden script's.
std::vector<Change> Changes() {
  std::vector<Change> changes;
  for (const char* kernel : {"AdjustBrightness", "AdjustContrast"}) {
    for (const double factor : {0.3, 1.7}) changes.push_back({kernel, {{"factor", Real(factor)}}});
  }
  for (const double factor : {0.0, 1.7}) changes.push_back({"AdjustSaturation", {{"factor", Real(factor)}}});
  for (const double turn : {-0.5, -0.13, 0.0, 0.25}) changes.push_back({"AdjustHue", {{"factor", Real(turn)}}});
  changes.push_back({"AdjustGamma", {{"gamma", Real(2.2)}}});
  changes.push_back({"AdjustGamma", {{"gamma", Real(0.4)}, {"gain", Real(1.5)}}});
  changes.push_back({"AdjustGamma", {{"gamma", Real(0)}, {"gain", Real(0.5)}}});
  for (const double factor : {0.0, 1.7}) changes.push_back({"AdjustSharpness", {{"factor", Real(factor)}}});
  changes.push_back({"Invert", {}});
  for (const int64_t bits : {1, 5}) changes.push_back({"Posterize", {{"bits", ir::IntValue(bits)}}});
  for (const double threshold : {0.4, 1.0}) changes.push_back({"Solarize", {{"threshold", Real(threshold)}}});
  changes.push_back({"AutoContrast", {}});
  changes.push_back({"Equalize", {}});
  return changes;
}

void ExpectGoldenUnitColors(const Tensor& image, const std::string& golden) {
  const Tensor expected = Golden(golden);
  const std::vector<Change> changes = Changes();
  ASSERT_EQ(expected.dim(0), static_cast<int64_t>(changes.size()));
  for (size_t i = 0; i < changes.size(); ++i) {
    const Tensor found = *RunKernel(changes[i].kernel, changes[i].given, image);
    EXPECT_LT(fixture::LargestDifference(found, expected.Index(static_cast<int64_t>(i))), kMostDifference)
        << golden << " " << i << " " << changes[i].kernel;
  }
}

TEST(UnitColors, AreTorchvisions) {
  ExpectGoldenUnitColors(Golden("unit"), "unit.changes");
  ExpectGoldenUnitColors(WithGaps(Golden("unit")), "unit.changes");
}

TEST(UnitColors, OfOneChannelAreTorchvisions) {
  ExpectGoldenUnitColors(Golden("unit").Slice(2, 1, 1).Contiguous()->Reshape({23, 29}), "unit.grey.changes");
}

TEST(UnitColors, HaveTheLumaOfTorchvision) {
  const Tensor gray = *RunKernel("Grayscale", {}, Golden("unit"));
  EXPECT_LT(fixture::LargestDifference(gray, Golden("unit.luma")), kMostDifference);
  const Tensor three = *RunKernel("Grayscale", {{"output_channels", ir::IntValue(3)}}, Golden("unit"));
  for (int64_t c = 0; c < 3; ++c) EXPECT_TRUE(TensorsEqual(three.Slice(2, c, 1), gray));
  EXPECT_TRUE(TensorsEqual(*RunKernel("RandomGrayscale", {{"p", Real(1)}}, Golden("unit")), three));
}

TEST(UnitColors, JitterAsTorchvision) {
  const Given given = {{"brightness", Floats({0.4})},
                       {"contrast", Floats({0.4})},
                       {"saturation", Floats({0.4})},
                       {"hue", Floats({0.1})}};
  const Tensor expected = Golden("unit.jitter");
  for (uint64_t row = 0; row < 6; ++row) {
    const Tensor found = *RunKernel("ColorJitter", given, {Golden("unit")}, RowRandom(0, 0, {.key = row}));
    EXPECT_LT(fixture::LargestDifference(found, expected.Index(static_cast<int64_t>(row))), kMostDifference) << row;
  }
}

// Of each width that leaves a part of a vector, the pixels are those of the whole image.
TEST(UnitColors, DoNotDependOnTheWidth) {
  const Tensor whole = Golden("unit");
  for (const Change& change : Changes()) {
    // Their pixels depend on others.
    if (change.kernel == "AdjustContrast" || change.kernel == "AdjustSharpness") continue;
    if (change.kernel == "AutoContrast" || change.kernel == "Equalize") continue;
    const Tensor expected = *RunKernel(change.kernel, change.given, whole);
    for (int64_t width = 1; width < 29; ++width) {
      const Tensor found = *RunKernel(change.kernel, change.given, whole.Slice(1, 0, width));
      ASSERT_TRUE(TensorsEqual(found, expected.Slice(1, 0, width))) << change.kernel << " " << width;
    }
  }
}

// 1 is brought to itself, and 0 has no power below.
TEST(UnitColors, RaiseToAnyPower) {
  Tensor values = *Tensor::Allocate(DType::kFloat32, {1, 4});
  float* const value = values.mutable_data<float>();
  value[0] = 0;
  value[1] = 1;
  value[2] = 0.5f;
  value[3] = std::numeric_limits<float>::denorm_min();
  for (const double gamma : {1e-6, 0.01, 0.45, 1.0, 3.0, 20.0, 1e9}) {
    const Tensor raised = *RunKernel("AdjustGamma", {{"gamma", Real(gamma)}}, values);
    for (int64_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(raised.data<float>()[i], std::pow(static_cast<double>(value[i]), gamma), 1e-7) << gamma << " " << i;
    }
  }
  EXPECT_EQ(RunKernel("AdjustGamma", {{"gamma", Real(0)}}, values)->data<float>()[0], 1);
}

// By as much as bytes are, but for their rounding.
TEST(UnitColors, AreShiftedByLighting) {
  Tensor bytes = *Tensor::Allocate(DType::kUInt8, {5, 7, 3});
  std::fill_n(bytes.mutable_raw(), bytes.bytes(), uint8_t{51});
  const Tensor floats = *RunKernel("ToFloat", {}, bytes);
  for (uint64_t row = 0; row < 50; ++row) {
    const RowRandom random(1, 2, {.key = row});
    const Tensor shifted = *RunKernel("RandomLighting", {{"alpha", Real(0.5)}}, {bytes}, random);
    const Tensor found = *RunKernel("RandomLighting", {{"alpha", Real(0.5)}}, {floats}, random);
    for (int64_t i = 0; i < found.elements(); ++i) {
      ASSERT_NEAR(found.data<float>()[i] * 255, shifted.raw()[i], 0.501) << row;
    }
  }
}

// Floats of any range, as nothing is computed.
TEST(UnitColors, ChannelsArePermutedAlike) {
  const Tensor image = Golden("source");
  const Tensor floats = *RunKernel("TypeCast", {{"dtype", ir::StringValue("float32")}}, image);
  for (uint64_t row = 0; row < 10; ++row) {
    const RowRandom random(1, 2, {.key = row});
    const Tensor permuted = *RunKernel("RandomChannelPermutation", {}, {image}, random);
    EXPECT_TRUE(TensorsEqual(*RunKernel("RandomChannelPermutation", {}, {floats}, random),
                             *RunKernel("TypeCast", {{"dtype", ir::StringValue("float32")}}, permuted)));
  }
}

TEST(UnitColors, AreSummedInAnyOrder) {
  std::vector<float> values(1001);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 1001.0f;
  const int64_t sum = SumValues(values.data(), 1001);
  std::reverse(values.begin(), values.end());
  EXPECT_EQ(SumValues(values.data(), 1001), sum);
  EXPECT_EQ(SumValues(values.data(), 500) + SumValues(values.data() + 500, 501), sum);
  EXPECT_NEAR(static_cast<double>(sum) * kUnitOfSums, 500, 1e-5);
}

// What takes floats of 0 … 1, with what it needs.
std::vector<Change> Takers() {
  std::vector<Change> takers = Changes();
  const Given factor = {{"factor", Real(2)}};
  for (const char* kernel : {"ColorJitter", "RandomInvert", "RandomEqualize", "RandomAutocontrast", "RandomGrayscale",
                             "RandomPhotometricDistort", "RandomLighting", "Grayscale", "GaussianNoise", "AutoAugment",
                             "RandAugment", "TrivialAugmentWide", "AugMix"}) {
    takers.push_back({kernel, {}});
  }
  takers.push_back({"RandomAdjustSharpness", factor});
  takers.push_back({"RandomPosterize", {{"bits", ir::IntValue(3)}}});
  takers.push_back({"RandomSolarize", {{"threshold", Real(0.5)}}});
  return takers;
}

TEST(UnitColors, RefuseOtherFloatsWhateverIsDrawn) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  for (const float outside : {1.0000001f, -1e-30f, 255.0f, kNone, std::numeric_limits<float>::infinity()}) {
    Tensor image = *Golden("unit").Contiguous();
    image = *RunKernel("ConvertColor", {{"source", ir::StringValue("RGB")}, {"target", ir::StringValue("BGR")}}, image);
    image.mutable_data<float>()[image.elements() - 2] = outside;
    const Tensor grey = image.Slice(2, 1, 1).Contiguous().value();
    for (const Change& taker : Takers()) {
      for (uint64_t row = 0; row < 6; ++row) {
        const RowRandom random(0, 0, {.key = row});
        for (const Tensor& each : {image, grey}) {
          const absl::StatusOr<Tensor> found = RunKernel(taker.kernel, taker.given, {each}, random);
          ASSERT_EQ(KindOf(found.status()), ErrorKind::kData) << taker.kernel << " " << outside;
          ASSERT_THAT(MessageOf(found),
                      HasSubstr(Cat("takes floats of 0 … 1, and got ", outside, ": make them by ToFloat")));
        }
      }
    }
  }
}

TEST(UnitColors, StayWithinTheirRange) {
  Tensor image = *Tensor::Allocate(DType::kFloat32, {9, 11, 3});
  for (int64_t i = 0; i < image.elements(); ++i) image.mutable_data<float>()[i] = static_cast<float>(i % 4 / 3);
  for (const Change& taker : Takers()) {
    for (uint64_t row = 0; row < 10; ++row) {
      const Tensor found = *RunKernel(taker.kernel, taker.given, {image}, RowRandom(0, 0, {.key = row}));
      for (int64_t i = 0; i < found.elements(); ++i) {
        ASSERT_TRUE(found.data<float>()[i] >= 0 && found.data<float>()[i] <= 1) << taker.kernel;
      }
    }
  }
}

TEST(UnitColors, RefuseWhatIsForBytes) {
  const Tensor unit = Golden("unit");
  EXPECT_THAT(MessageOf(RunKernel("Solarize", {{"threshold", Real(128)}}, unit)),
              HasSubstr("threshold = 128 is one of uint8, and floats are 0 … 1: give 128 / 255"));
  EXPECT_THAT(MessageOf(RunKernel("AutoContrast", {{"cutoff", Real(2)}}, unit)),
              HasSubstr("cutoff and ignore are for uint8: put it before ToFloat"));
  EXPECT_FALSE(RunKernel("RandomAutocontrast", {{"ignore", Ints({3})}, {"p", Real(0)}}, unit).ok());
  EXPECT_THAT(MessageOf(RunKernel("RandomHls", {}, unit)), HasSubstr("put it before ToFloat"));
  EXPECT_THAT(MessageOf(RunKernel("JPEG", {{"quality", Ints({50})}}, unit)), HasSubstr("put it before ToFloat"));
  const std::vector<ir::ColumnType> floats = {ir::ColumnType::Of(DType::kFloat32, {-1, -1, 3})};
  EXPECT_FALSE(InferType("Solarize", {{"threshold", Real(128)}}, floats).ok());
  EXPECT_FALSE(InferType("RandomAutocontrast", {{"cutoff", Real(2)}}, floats).ok());
  EXPECT_FALSE(InferType("RandomHls", {}, floats).ok());
  EXPECT_EQ(ir::TypeName(*InferType("Solarize", {{"threshold", Real(0.5)}}, floats)), "float32 (None, None, 3)");
  EXPECT_EQ(ir::TypeName(*InferType("ColorJitter", {}, floats)), "float32 (None, None, 3)");
  EXPECT_FALSE(RunKernel("Solarize", {{"threshold", Real(0.5)}}, *Tensor::Allocate(DType::kUInt16, {2, 2, 3})).ok());
}

// --- Policies ---

Tensor AugmentedBy(const Tensor& image, Augmentation what, double magnitude, WarpFilter filter = WarpFilter::kNearest) {
  OutputAllocator output;
  const ir::Number fill = {};
  const Augmented list[] = {{what, magnitude}};
  return *Augment(image, list, {filter, {&fill, 1}}, output);
}

TEST(UnitPolicies, MoveFloatsAsBytes) {
  const Tensor bytes = Golden("source");
  const Tensor floats = *RunKernel("ToFloat", {}, bytes);
  const std::pair<Augmentation, double> moves[] = {{Augmentation::kShearX, 0.2},
                                                   {Augmentation::kShearY, -0.2},
                                                   {Augmentation::kTranslateX, 7},
                                                   {Augmentation::kTranslateY, -5},
                                                   {Augmentation::kRotate, 20}};
  for (const auto& [what, magnitude] : moves) {
    EXPECT_TRUE(TensorsEqual(AugmentedBy(floats, what, magnitude),
                             *RunKernel("ToFloat", {}, AugmentedBy(bytes, what, magnitude))));
    const Tensor smooth = AugmentedBy(floats, what, magnitude, WarpFilter::kBicubic);
    for (int64_t i = 0; i < smooth.elements(); ++i) {
      ASSERT_TRUE(smooth.data<float>()[i] >= 0 && smooth.data<float>()[i] <= 1);
    }
  }
}

TEST(UnitPolicies, ChangeFloatsAsTheKernels) {
  const Tensor unit = Golden("unit");
  const auto expect = [&](Augmentation what, double magnitude, const char* kernel, const Given& given) {
    EXPECT_TRUE(TensorsEqual(AugmentedBy(unit, what, magnitude), *RunKernel(kernel, given, unit))) << kernel;
  };
  const Given factor = {{"factor", Real(1.5)}};
  expect(Augmentation::kBrightness, 0.5, "AdjustBrightness", factor);
  expect(Augmentation::kColor, 0.5, "AdjustSaturation", factor);
  expect(Augmentation::kContrast, 0.5, "AdjustContrast", factor);
  expect(Augmentation::kSharpness, 0.5, "AdjustSharpness", factor);
  expect(Augmentation::kPosterize, 3, "Posterize", {{"bits", ir::IntValue(3)}});
  // A threshold of 0 … 255.
  expect(Augmentation::kSolarize, 102, "Solarize", {{"threshold", Real(0.4)}});
  expect(Augmentation::kAutoContrast, 0, "AutoContrast", {});
  expect(Augmentation::kEqualize, 0, "Equalize", {});
  expect(Augmentation::kInvert, 0, "Invert", {});
  const Tensor black = AugmentedBy(unit, Augmentation::kPosterize, 0);
  EXPECT_TRUE(fixture::AllZero(black)) << "no bits";
}

TEST(UnitPolicies, MixFloatsAboutAsBytes) {
  const Tensor bytes = Golden("source");
  const Tensor floats = *RunKernel("ToFloat", {}, bytes);
  for (uint64_t row = 0; row < 20; ++row) {
    const RowRandom random(0, 0, {.key = row});
    const Tensor mixed = *RunKernel("ToFloat", {}, *RunKernel("AugMix", {}, {bytes}, random));
    EXPECT_LT(fixture::MeanDifference(*RunKernel("AugMix", {}, {floats}, random), mixed), 0.01) << row;
  }
}

TEST(UnitPolicies, FillWithinTheRange) {
  for (uint64_t row = 0; row < 10; ++row) {
    const RowRandom random(0, 0, {.key = row});
    EXPECT_THAT(MessageOf(RunKernel("RandAugment", {{"fill", Floats({128})}}, {Golden("unit")}, random)),
                HasSubstr("fill has 128, and floats are 0 … 1 here"));
    EXPECT_TRUE(RunKernel("RandAugment", {{"fill", Floats({0.5})}}, {Golden("unit")}, random).ok());
  }
}

}  // namespace
}  // namespace headrace
