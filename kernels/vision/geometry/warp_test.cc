// Tests Rotate, Affine, Perspective and their random forms against Pillow, and ElasticTransform against its formula.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/testing/chi_square.h"
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
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

constexpr const char* kFilters[] = {"nearest", "bilinear", "bicubic"};

Tensor Part() { return Golden("source").Slice(0, 10, 30).Slice(1, 20, 40).Contiguous().value(); }

// With the filter and the colour of the golden files.
Given With(const char* filter, Given given) {
  given.emplace_back("interpolation", ir::StringValue(filter));
  given.emplace_back("fill", Floats({10, 20, 30}));
  return given;
}

void ExpectEqual(const Tensor& found, const Tensor& expected, const std::string& what) {
  EXPECT_EQ(fixture::LargestDifference(found, expected), 0) << what << ": " << found.TypeName();
}

TEST(Warp, RotatesAsPillow) {
  constexpr double kAngles[] = {0, 30, -77.7, 90, 180, 270, 451.5};
  for (const char* name : {"wide", "square"}) {
    const Tensor image = std::string(name) == "wide" ? Part() : Part().Slice(1, 0, 30);
    const Tensor expected = Golden(std::string("warp.rotate.") + name);
    int64_t at = 0;
    for (const char* filter : kFilters) {
      for (const double angle : kAngles) {
        const Tensor found = *RunKernel("Rotate", With(filter, {{"angle", ir::FloatValue(angle)}}), image);
        ExpectEqual(found, expected.Index(at++), std::string(name) + " " + filter + " " + std::to_string(angle));
      }
    }
  }
  const Given about = With("bilinear", {{"angle", ir::FloatValue(25)}, {"center", Floats({3, 20.5})}});
  ExpectEqual(*RunKernel("Rotate", about, Part()), Golden("warp.rotate.center"), "about a point");
}

TEST(Warp, RotatesAndExpandsAsPillow) {
  for (const char* angle : {"30", "90", "180", "307"}) {
    const Given given = With("bicubic", {{"angle", ir::FloatValue(std::stod(angle))}, {"expand", ir::BoolValue(true)}});
    const Tensor found = *RunKernel("Rotate", given, Part());
    ExpectEqual(found, Golden(std::string("warp.rotate.expand.") + angle), angle);
    const ir::ColumnType inferred = *InferType("Rotate", given, {ir::ColumnType::Of(DType::kUInt8, {30, 40, 3})});
    EXPECT_EQ(ir::TypeName(inferred), "uint8 (None, None, 3)");
  }
}

TEST(Warp, RotatesFloatsAsPillow) {
  const Tensor image = Golden("source.float32").Slice(0, 10, 30).Slice(1, 20, 40).Slice(2, 1, 1).Contiguous().value();
  const Tensor expected = Golden("warp.rotate.float32");
  for (int64_t i = 0; i < 3; ++i) {
    const Given given = {
        {"angle", ir::FloatValue(25)}, {"interpolation", ir::StringValue(kFilters[i])}, {"fill", Floats({-3.5})}};
    ExpectEqual(*RunKernel("Rotate", given, image.Reshape({30, 40})), expected.Index(i), kFilters[i]);
  }
}

TEST(Warp, IsAffineAsPillow) {
  const Tensor expected = Golden("warp.affine");
  const Given all = {{"angle", ir::FloatValue(20)},
                     {"translate", Floats({3, -2})},
                     {"scale", ir::FloatValue(1.3)},
                     {"shear", Floats({10, -5})}};
  const Given scaled = {{"scale", ir::FloatValue(0.6)}, {"translate", Floats({2.5, 1})}};
  const Given sheared = {{"shear", Floats({20})}, {"center", Floats({0, 0})}};
  const Given far = {{"scale", ir::FloatValue(0.0004)}, {"angle", ir::FloatValue(3)}};
  const Given shown = {{"startpoints", Floats({0, 0, 39, 0, 39, 29, 0, 29})},
                       {"endpoints", Floats({3, 2, 35, 0, 39, 28, 5, 25})}};
  int64_t at = 0;
  for (const char* filter : kFilters) {
    for (const Given& given : {all, scaled, sheared, far}) {
      ExpectEqual(*RunKernel("Affine", With(filter, given), Part()), expected.Index(at), std::to_string(at));
      ++at;
    }
    ExpectEqual(*RunKernel("Perspective", With(filter, shown), Part()), expected.Index(at), std::to_string(at));
    ++at;
  }
}

// torchvision has two matrices, whose last bits differ: that of transforms.v2 counts.
TEST(Warp, IsAffineToTheLastBitOfTheMatrix) {
  const auto part = [](int64_t height, int64_t width) {
    return Golden("source").Slice(0, 10, height).Slice(1, 20, width).Contiguous().value();
  };
  const Given wide = {{"angle", ir::FloatValue(-10.9)},
                      {"translate", Floats({1, -3})},
                      {"scale", ir::FloatValue(0.5)},
                      {"shear", Floats({8, -53})}};
  ExpectEqual(*RunKernel("Affine", With("bilinear", wide), part(7, 11)), Golden("warp.affine.wide"), "wide");
  const Given large = {{"angle", ir::FloatValue(18)}, {"translate", Floats({-2, 4})}, {"shear", Floats({35.6, 0})}};
  ExpectEqual(*RunKernel("Affine", With("bilinear", large), part(11, 25)), Golden("warp.affine.large"), "large");
}

TEST(Warp, TakesPixelsOfThreeBytesAsThoseOfOne) {
  for (uint64_t number = 0; number < 2000; ++number) {
    RowRandom random(1, 0, {.key = number});
    const int64_t height = 1 + random.Below(9);
    const int64_t width = 1 + random.Below(9);
    const Tensor image = Golden("source").Slice(0, 3, height).Slice(1, 5, width).Contiguous().value();
    const double x = random.Uniform(-5, 5);
    const double y = random.Uniform(-5, 5);
    const Given given = {{"angle", ir::FloatValue(random.Uniform(-180, 180))},
                         {"translate", Floats({x, y})},
                         {"scale", ir::FloatValue(random.Uniform(0.3, 3))},
                         {"fill", Floats({7})}};
    const Tensor whole = RunKernel("Affine", given, image)->Contiguous().value();
    for (int64_t channel = 0; channel < 3; ++channel) {
      const Tensor one = image.Slice(2, channel, 1).Contiguous().value();
      ExpectEqual(whole.Slice(2, channel, 1).Contiguous().value(), *RunKernel("Affine", given, one), image.TypeName());
    }
  }
}

TEST(Warp, DrawsAsTorchvision) {
  for (uint64_t row = 0; row < 4; ++row) {
    const auto at = static_cast<int64_t>(row);
    const RowRandom random(0, 0, {.key = row});
    const Given turned = With("nearest", {{"degrees", Floats({40})}});
    ExpectEqual(*RunKernel("RandomRotation", turned, {Part()}, random), Golden("warp.random_rotation").Index(at),
                "rotation");
    const Given moved = With("bilinear", {{"degrees", Floats({-15, 30})},
                                          {"translate", Floats({0.1, 0.3})},
                                          {"scale", Floats({0.7, 1.4})},
                                          {"shear", Floats({-5, 5, 1, 8})}});
    ExpectEqual(*RunKernel("RandomAffine", moved, {Part()}, random), Golden("warp.random_affine").Index(at), "affine");
    const Given shown = With("bilinear", {{"distortion_scale", ir::FloatValue(0.6)}, {"p", ir::FloatValue(1)}});
    ExpectEqual(*RunKernel("RandomPerspective", shown, {Part()}, random), Golden("warp.random_perspective").Index(at),
                "perspective");
  }
}

TEST(Warp, DrawsTranslationsUniformly) {
  if (!kCountsChances) GTEST_SKIP();
  // Each row of the image holds its number.
  constexpr int64_t kBins = 8;
  Tensor image = *Tensor::Allocate(DType::kInt32, {800, 1});
  for (int64_t y = 0; y < 800; ++y) image.mutable_data<int32_t>()[y] = static_cast<int32_t>(y);
  std::vector<int64_t> counts(kBins);
  for (uint64_t row = 0; row < 4000; ++row) {
    const Given given = {{"degrees", Floats({0})}, {"translate", Floats({0, 0.5})}};
    const Tensor found = *RunKernel("RandomAffine", given, {image}, RowRandom(5, 6, {.key = row}));
    // Moved down: where row 1 is now. Moved up: what is in row 0 now.
    int64_t moved = 0;
    while (moved < 799 && found.data<int32_t>()[moved + 1] != 1) ++moved;
    if (found.data<int32_t>()[0] > 0) moved = -found.data<int32_t>()[0];
    ++counts[static_cast<size_t>(std::min<int64_t>((moved + 400) * kBins / 801, kBins - 1))];
  }
  EXPECT_LT(std::abs(ChiSquareDeviation(counts)), kMostDeviation);
}

// Masks keep their values and their type.
TEST(Warp, TakesAnyNumbersByTheNearestPixel) {
  const Tensor image = Part();
  for (const char* dtype : {"uint16", "int64", "float64"}) {
    const Given cast = {{"dtype", ir::StringValue(dtype)}};
    const Given given = {{"angle", ir::FloatValue(33)}, {"fill", ir::IntValue(7)}};
    const Tensor turned = *RunKernel("Rotate", given, *RunKernel("TypeCast", cast, image));
    EXPECT_TRUE(TensorsEqual(turned, *RunKernel("TypeCast", cast, *RunKernel("Rotate", given, image)))) << dtype;
  }
  const Given between = With("bilinear", {{"angle", ir::FloatValue(33)}});
  const Tensor whole = *RunKernel("TypeCast", {{"dtype", ir::StringValue("int64")}}, image);
  EXPECT_THAT(MessageOf(RunKernel("Rotate", between, whole)), HasSubstr("uint8, uint16 or float32"));
}

// Rounded to the nearest number, and clamped.
TEST(Warp, TakesWordsAsFloats) {
  const Tensor image = Part();
  Tensor words = *Tensor::Allocate(DType::kUInt16, image.shape());
  for (int64_t i = 0; i < image.elements(); ++i) {
    words.mutable_data<uint16_t>()[i] = static_cast<uint16_t>(image.raw()[i] * 257);
  }
  const Tensor floats = *RunKernel("TypeCast", {{"dtype", ir::StringValue("float32")}}, words);
  const std::pair<const char*, Given> kernels[] = {
      {"Rotate", {{"angle", ir::FloatValue(33)}}},
      {"Perspective",
       {{"startpoints", Floats({0, 0, 39, 0, 39, 29, 0, 29})}, {"endpoints", Floats({3, 2, 35, 0, 39, 29, 0, 25})}}},
      {"ElasticTransform", {}}};
  for (const auto& [kernel, given] : kernels) {
    for (const char* filter : {"bilinear", "bicubic"}) {
      const Tensor found = *RunKernel(kernel, With(filter, given), words);
      const Tensor exact = *RunKernel(kernel, With(filter, given), floats);
      ASSERT_EQ(found.dtype(), DType::kUInt16);
      int64_t off = 0;
      for (int64_t i = 0; i < found.elements(); ++i) {
        const double value = std::clamp<double>(exact.data<float>()[i], 0, 65535);
        // A float holds numbers of 16 bits to 1/256.
        if (std::abs(found.data<uint16_t>()[i] - value) > 0.5 + 0.005) ++off;
      }
      EXPECT_EQ(off, 0) << kernel << " " << filter;
    }
  }
}

TEST(Warp, RefusesWhatCannotBe) {
  EXPECT_THAT(MessageOf(RunKernel("RandomRotation", {{"degrees", Floats({-3})}}, Part())), HasSubstr("degrees"));
  EXPECT_THAT(MessageOf(RunKernel("RandomRotation", {{"degrees", Floats({3, 2})}}, Part())), HasSubstr("degrees"));
  EXPECT_THAT(MessageOf(RunKernel("RandomAffine", {{"degrees", Floats({3})}, {"shear", Floats({1, 2, 4, 3})}}, Part())),
              HasSubstr("shear"));
  EXPECT_THAT(MessageOf(RunKernel("Rotate", {{"angle", ir::FloatValue(1)}, {"fill", Floats({1, 2})}}, Part())),
              HasSubstr("fill has 2 values, but the image has 3 channels"));
  const Given flat = {{"startpoints", Floats({0, 0, 1, 1, 2, 2, 0, 5})},
                      {"endpoints", Floats({0, 0, 1, 1, 2, 2, 0, 5})}};
  EXPECT_THAT(MessageOf(RunKernel("Perspective", flat, Part())), HasSubstr("on one line"));
}

TEST(Warp, RefusesAFillThatDoesNotFitWhateverIsDrawn) {
  for (uint64_t row = 0; row < 20; ++row) {
    const Given given = {{"fill", Floats({1, 2})}};
    EXPECT_THAT(MessageOf(RunKernel("RandomPerspective", given, {Part()}, RowRandom(0, 0, {.key = row}))),
                HasSubstr("fill has 2 values, but the image has 3 channels"));
  }
}

TEST(Warp, RefusesNumbersThatArePastAllImages) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double angle : {kInfinity, std::nan(""), 1e308}) {
    const Given given = {{"angle", ir::FloatValue(angle)}, {"expand", ir::BoolValue(true)}};
    EXPECT_THAT(MessageOf(RunKernel("Rotate", given, Part())), HasSubstr("angle is"));
    EXPECT_THAT(MessageOf(RunKernel("RandomRotation", {{"degrees", Floats({angle})}}, Part())),
                HasSubstr("degrees is"));
    EXPECT_THAT(MessageOf(RunKernel("Affine", {{"translate", Floats({angle, 0})}}, Part())), HasSubstr("translate is"));
    EXPECT_THAT(MessageOf(RunKernel("Affine", {{"center", Floats({0, angle})}}, Part())), HasSubstr("center is"));
    const Given shown = {{"startpoints", Floats({0, 0, 39, 0, 39, 29, 0, 29})},
                         {"endpoints", Floats({3, 2, angle, 0, 39, 28, 5, 25})}};
    EXPECT_THAT(MessageOf(RunKernel("Perspective", shown, Part())), HasSubstr("endpoints is"));
  }
}

// --- ElasticTransform ---

Given Elastic(std::initializer_list<double> alpha, std::initializer_list<double> sigma, const char* filter) {
  return With(filter, {{"alpha", Floats(alpha)}, {"sigma", Floats(sigma)}});
}

RowRandom OfRow(uint64_t row) { return {0, 0, {.key = row}}; }

TEST(Elastic, IsTorchvisions) {
  const Tensor expected = Golden("warp.elastic");
  for (int64_t row = 0; row < expected.dim(0); ++row) {
    const Tensor found = *RunKernel("ElasticTransform", Elastic({90, 60}, {2, 3}, "bilinear"), {Part()},
                                    OfRow(static_cast<uint64_t>(row)));
    EXPECT_LE(fixture::LargestDifference(found, expected.Index(row)), 1) << row;
    EXPECT_LE(fixture::MeanDifference(found, expected.Index(row)), 0.01) << row;
  }
  const Tensor strong = *RunKernel("ElasticTransform", Elastic({300, 500}, {5, 5}, "bilinear"), {Part()}, OfRow(3));
  EXPECT_LE(fixture::MeanDifference(strong, Golden("warp.elastic.strong")), 0.1);
  const Tensor nearest = *RunKernel("ElasticTransform", Elastic({30, 30}, {0, 0}, "nearest"), {Part()}, OfRow(4));
  ExpectEqual(nearest, Golden("warp.elastic.nearest"), "nearest");
}

TEST(Elastic, MovesNothingWithoutStrength) {
  for (const char* filter : kFilters) {
    EXPECT_TRUE(TensorsEqual(*RunKernel("ElasticTransform", Elastic({0, 0}, {5, 5}, filter), Part()), Part()));
  }
}

// A mask without channels, of another type, after the image.
TEST(Elastic, MovesAMaskLikeItsImage) {
  Tensor mask = *Tensor::Allocate(DType::kInt32, {30, 40});
  for (int64_t i = 0; i < mask.elements(); ++i) mask.mutable_data<int32_t>()[i] = Part().raw()[3 * i] + 1000;
  const Given given = {
      {"alpha", Floats({80, 80})}, {"sigma", Floats({3, 3})}, {"interpolation", ir::StringValue("nearest")}};
  const Tensor moved = *RunKernel("ElasticTransform", given, {Part()}, OfRow(1));
  const Tensor moved_mask = *RunKernel("ElasticTransform", given, {mask}, OfRow(1));
  for (int64_t i = 0; i < mask.elements(); ++i) {
    const int32_t of_mask = moved_mask.data<int32_t>()[i];
    ASSERT_EQ(of_mask == 0 ? 0 : of_mask - 1000, moved.raw()[3 * i]) << i;
  }
}

TEST(Elastic, FillsWithAnythingAndTakesAnySize) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Shape& shape : {Shape{1, 1}, {1, 9}, {9, 1, 3}, {25, 13, 2}}) {
    Tensor image = *Tensor::Allocate(DType::kFloat32, shape);
    for (int64_t i = 0; i < image.elements(); ++i) image.mutable_data<float>()[i] = 0.5f;
    for (const char* filter : kFilters) {
      for (const double alpha : {10.0, 1e6, -1e6}) {
        const Given given = {{"alpha", Floats({alpha, alpha})},
                             {"sigma", Floats({4, 4})},
                             {"interpolation", ir::StringValue(filter)},
                             {"fill", Floats({nan})}};
        const Tensor found = *RunKernel("ElasticTransform", given, image);
        for (int64_t i = 0; i < found.elements(); ++i) {
          const float value = found.data<float>()[i];
          ASSERT_TRUE(std::isnan(value) || value == 0.5f) << value << " " << filter;
        }
      }
    }
  }
}

// How far a pixel goes is uniform without a blur; that of x says nothing of that of y.
TEST(Elastic, DrawsDisplacementsUniformly) {
  if (!kCountsChances) GTEST_SKIP();
  // The pixel of row y and column x is 100 · y + x.
  Tensor image = *Tensor::Allocate(DType::kInt32, {100, 100});
  for (int64_t i = 0; i < image.elements(); ++i) image.mutable_data<int32_t>()[i] = static_cast<int32_t>(i);
  const Given given = {{"alpha", Floats({19.999, 19.999})},
                       {"sigma", Floats({0, 0})},
                       {"interpolation", ir::StringValue("nearest")},
                       {"fill", Floats({-1})}};
  std::vector<int64_t> counts(19 * 19);
  int64_t all = 0;
  for (uint64_t row = 0; row < 8; ++row) {
    const Tensor moved = *RunKernel("ElasticTransform", given, {image}, OfRow(row));
    for (int64_t y = 10; y < 90; ++y) {
      for (int64_t x = 10; x < 90; ++x) {
        const int32_t from = moved.data<int32_t>()[100 * y + x];
        const int64_t down = from / 100 - y + 9;
        const int64_t along = from % 100 - x + 9;
        // The outermost steps have half a pixel only.
        if (down < 0 || down > 18 || along < 0 || along > 18) continue;
        ++counts[static_cast<size_t>(19 * down + along)];
        ++all;
      }
    }
  }
  EXPECT_GT(all, 40000);
  EXPECT_LT(std::abs(ChiSquareDeviation(counts)), kMostDeviation);
}

TEST(Elastic, NamesWhatItCannotTake) {
  EXPECT_THAT(MessageOf(RunKernel("ElasticTransform", {}, *Tensor::Allocate(DType::kInt32, {4, 4}))),
              HasSubstr("uint8, uint16 or float32"));
  EXPECT_THAT(MessageOf(RunKernel("ElasticTransform", {{"fill", Floats({1, 2})}}, Part())),
              HasSubstr("fill has 2 values, but the image has 3 channels"));
  EXPECT_FALSE(RunKernel("ElasticTransform", {{"sigma", Floats({-1, -1})}}, Part()).ok());
}

}  // namespace
}  // namespace headrace
