// Runs of kernels in one pass give the bits of the kernels one after the other, on every sort of image.
#include "kernels/vision/fused/fused_image.h"

#include <cstdio>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/philox.h"
#include "core/row_warning.h"
#include "core/testing/rounds.h"
#include "gtest/gtest.h"
#include "ir/graph.pb.h"
#include "ir/value.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/jpeg_writer.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Encoded;
using fixture::Floats;
using fixture::Given;
using fixture::Golden;
using fixture::Ints;

const uint64_t kFusedImageRuns = Rounds(3000, {.quick = 400, .sanitized = 400});

constexpr const char* kFusedImageImages[] = {
    "baseline_420.jpg", "baseline_422.jpg", "baseline_444.jpg",  "cmyk.jpg",    "grey.jpg",
    "progressive.jpg",  "restarts.jpg",     "rgb.jpg",           "ycck.jpg",    "orientation_6.jpg",
    "rgb.png",          "rgba.png",         "interlaced.png",    "palette.png", "grey_alpha.png",
    "stray_bytes.jpg",  "grey_16_bits.png", "no_end_marker.jpg", "damaged.jpg", "truncated_baseline.jpg",
    "rgb_16_bits.png"};

struct FusedImageChain {
  std::vector<std::string> names;
  std::vector<std::unique_ptr<Kernel>> kernels;

  void Add(const std::string& name, const Given& given) {
    names.push_back(name);
    kernels.push_back(*fixture::MakeKernel(name, given));
  }
  std::string Text() const {
    std::string text;
    for (const std::string& name : names) text += " " + name;
    return text;
  }
  std::vector<FusedImage::Part> Parts() const {
    std::vector<FusedImage::Part> parts;
    for (size_t i = 0; i < kernels.size(); ++i) parts.push_back({kernels[i].get(), 7, i + 1});
    return parts;
  }
  absl::StatusOr<Tensor> RunPlain(Tensor image, const RowId& id) const {
    for (size_t i = 0; i < kernels.size(); ++i) {
      OutputAllocator output;
      KernelContext context(RowRandom(7, i + 1, id), output);
      HEADRACE_ASSIGN_OR_RETURN(Tensors outputs, kernels[i]->Apply({&image, 1}, context));
      image = std::move(outputs[0]);
    }
    return image;
  }
};

ir::proto::Value Size(RowRandom& random) {
  return Ints({1 + static_cast<int64_t>(random.Below(70)), 1 + static_cast<int64_t>(random.Below(90))});
}

void AddMove(RowRandom& random, FusedImageChain& chain) {
  const ir::proto::Value antialias = ir::BoolValue(random.Below(3) > 0);
  constexpr const char* kInterpolations[] = {"nearest", "bilinear", "bicubic", "area"};
  const ir::proto::Value interpolation = ir::StringValue(kInterpolations[random.Below(4)]);
  switch (random.Below(13)) {
    case 0:
      return chain.Add("RandomResizedCrop",
                       {{"size", Size(random)}, {"antialias", antialias}, {"interpolation", interpolation}});
    case 1:
      return chain.Add("Resize", {{"size", random.Below(2) == 0 ? Size(random) : Ints({20})},
                                  {"antialias", antialias},
                                  {"interpolation", interpolation}});
    case 2:
      return chain.Add("CenterCrop",
                       {{"size", Size(random)}, {"rounding", ir::StringValue(random.Below(2) == 0 ? "down" : "even")}});
    case 3:
      return chain.Add("RandomCrop", {{"size", Size(random)}, {"pad_if_needed", ir::BoolValue(true)}});
    case 4:
      return chain.Add("Pad", {{"padding", Ints({3, 1})}, {"mode", ir::StringValue("edge")}});
    case 5:
      return chain.Add("RandomHorizontalFlip", {});
    case 6:
      return chain.Add("Crop", {{"top", ir::IntValue(static_cast<int64_t>(random.Below(40)) - 10)},
                                {"left", ir::IntValue(3)},
                                {"height", ir::IntValue(20)},
                                {"width", ir::IntValue(25)}});
    case 7:
      return chain.Add("PadToSize", {{"size", Ints({150, 160})}});
    case 8:
      return chain.Add("RandomZoomOut", {{"side_range", Floats({1, 1.5})}});
    case 9:
      return chain.Add("RandomShortestSize", {{"min_size", Ints({16, 33})}, {"max_size", ir::IntValue(50)}});
    case 10:
      return chain.Add("EnlargeToSize",
                       {{"size", Size(random)}, {"antialias", antialias}, {"interpolation", interpolation}});
    case 11:
      return chain.Add(random.Below(2) == 0 ? "HorizontalFlip" : "VerticalFlip", {});
    default:
      return chain.Add("RandomVerticalFlip", {});
  }
}

enum class Values { kBytes, kUnit, kOthers };

// Steps on whole pixels, of which some draw and some count the image. They refuse floats that are not 0 … 1.
void AddPixelStep(RowRandom& random, FusedImageChain& chain, Values values) {
  const bool bytes = values == Values::kBytes;
  const Given factor = {{"factor", ir::FloatValue(random.Uniform(0, 2))}};
  switch (random.Below(16)) {
    case 0:
      return chain.Add("AdjustBrightness", factor);
    case 1:
      return chain.Add("AdjustContrast", factor);
    case 2:
      return chain.Add("AdjustSaturation", factor);
    case 3:
      return chain.Add("AdjustHue", {{"factor", ir::FloatValue(random.Uniform(-0.5, 0.5))}});
    case 4:
      return chain.Add("Grayscale", {{"output_channels", ir::IntValue(3)}});
    case 5:
      return chain.Add("RandomInvert", {});
    case 6:
      return chain.Add("Posterize", {{"bits", ir::IntValue(1 + static_cast<int64_t>(random.Below(8)))}});
    case 7:
      return chain.Add("RandomSolarize", {{"threshold", ir::FloatValue(random.Uniform(0, bytes ? 256 : 1))}});
    case 8:
      return chain.Add("Equalize", {});
    case 9:
      return chain.Add("RandomAutocontrast", {{"cutoff", ir::FloatValue(bytes ? random.Uniform(0, 5) : 0)}});
    case 10:
      return chain.Add("AdjustGamma", {{"gamma", ir::FloatValue(random.Uniform(0.3, 3))}});
    case 11:
      return random.Below(2) == 0 ? chain.Add("RandomPhotometricDistort", {}) : chain.Add("RandomLighting", {});
    case 12:
      return chain.Add("RandomColor", {});
    case 13:
      return chain.Add("RandomChannelPermutation", {});
    case 14:
      return chain.Add("RandomGrayscale", {});
    default:
      return chain.Add("ColorJitter", {{"brightness", Floats({0.5})},
                                       {"contrast", Floats({0.2, 1.7})},
                                       {"saturation", Floats({0.4})},
                                       {"hue", Floats({random.Below(2) == 0 ? 0.0 : 0.3})}});
  }
}

void AddArithmetic(RowRandom& random, FusedImageChain& chain, bool layout_first) {
  const char* order = layout_first ? "CHW" : "HWC";
  // One mean and one deviation fit either order.
  const char* any_order = random.Below(2) == 0 ? "CHW" : "HWC";
  const Given one = {{"mean", Floats({100})}, {"std", Floats({50.5})}, {"layout", ir::StringValue(any_order)}};
  const Given three = {{"mean", Floats({123.675, 116.28, 103.53})},
                       {"std", Floats({58.395, 57.12, 57.375})},
                       {"layout", ir::StringValue(order)}};
  for (uint64_t i = random.Below(3); i > 0; --i) {
    if (random.Below(2) == 0) {
      chain.Add("Rescale", {{"scale", ir::FloatValue(0.37)}, {"shift", ir::FloatValue(-3)}});
    } else {
      chain.Add("Normalize", random.Below(2) == 0 ? one : three);
    }
  }
}

// Values that some of the images cannot hold, too.
void AddErasing(RowRandom& random, FusedImageChain& chain, bool layout_first) {
  const Given values[] = {{}, {{"value", ir::IntsValue({1, 255, 7})}}, {{"value", Floats({0.5})}}};
  Given given = values[random.Below(3)];
  given.emplace_back("layout", ir::StringValue(layout_first ? "CHW" : "HWC"));
  chain.Add("RandomErasing", given);
}

void AddValueSteps(RowRandom& random, FusedImageChain& chain, Values values) {
  const bool pixels = values != Values::kOthers || random.Below(8) == 0;
  for (uint64_t i = random.Below(2) * random.Below(4); pixels && i > 0; --i) AddPixelStep(random, chain, values);
  if (values == Values::kBytes && random.Below(3) == 0) {
    chain.Add("ToFloat", {});
    for (uint64_t i = random.Below(4); i > 0; --i) AddPixelStep(random, chain, Values::kUnit);
  }
  const bool layout = random.Below(2) == 0;
  const bool layout_first = layout && random.Below(2) == 0;
  if (layout_first) chain.Add("HWC2CHW", {});
  if (random.Below(4) == 0) AddErasing(random, chain, layout_first);
  AddArithmetic(random, chain, layout_first);
  if (random.Below(3) == 0) AddErasing(random, chain, layout_first);
  // Seldom, as it refuses most of what arithmetic makes.
  if (!layout_first && random.Below(24) == 0) chain.Add("Grayscale", {{"output_channels", ir::IntValue(3)}});
  constexpr const char* kTypes[] = {"float32", "float16", "uint8", "float64"};
  if (random.Below(3) == 0) {
    chain.Add("TypeCast", {{"dtype", ir::StringValue(kTypes[random.Below(4)])}});
    // What takes any number goes on after any cast.
    if (random.Below(2) == 0) chain.Add("Rescale", {{"scale", ir::FloatValue(2.5)}});
  }
  if (layout && !layout_first) chain.Add("HWC2CHW", {});
}

TEST(FusedImage, GivesTheBitsOfThePlainKernels) {
  uint64_t compared = 0;
  for (uint64_t run = 0; run < kFusedImageRuns; ++run) {
    RowRandom random(11, 0, {.key = run});
    FusedImageChain chain;
    Tensor input;
    std::string image = "source";
    if (random.Below(4) > 0) {
      image = kFusedImageImages[random.Below(std::size(kFusedImageImages))];
      input = Encoded(image);
      if (random.Below(4) == 0) {
        image = "odd.jpg";
        std::string jpeg = fixture::WriteJpeg(fixture::AnyJpegSpec(random), random);
        fixture::DamageJpeg(random, jpeg);
        input = *Tensor::CopyBytes(DType::kBytes, jpeg);
      }
      const bool scaled = image.ends_with(".jpg") && random.Below(2) == 0;
      chain.Add("Decode", {{"orientation", ir::BoolValue(random.Below(2) == 0)},
                           {"scale", ir::IntValue(scaled ? int64_t{2} << random.Below(3) : 1)},
                           {"mode", ir::StringValue(random.Below(5) == 0 ? "unchanged" : "RGB")}});
    } else {
      constexpr const char* kArrays[] = {"source", "source.float32", "unit"};
      image = kArrays[random.Below(3)];
      input = Golden(image);
    }
    for (uint64_t i = random.Below(5); i > 0; --i) AddMove(random, chain);
    AddValueSteps(random, chain,
                  image == "source.float32" ? Values::kOthers
                  : image == "unit"         ? Values::kUnit
                                            : Values::kBytes);
    SCOPED_TRACE(std::to_string(run) + " " + image + chain.Text());
    const FusedImage fused = FusedImage::Make(chain.Parts());
    ASSERT_EQ(fused.parts(), chain.kernels.size());
    const RowId id = {.epoch = run % 3, .key = run};
    const absl::StatusOr<Tensor> expected = chain.RunPlain(input, id);
    Tensor slot;
    if (expected.ok()) slot = *Tensor::Allocate(expected->dtype(), expected->shape());
    OutputAllocator output(slot);
    const absl::StatusOr<Tensor> found = fused.Apply(input, id, output, nullptr);
    ASSERT_EQ(found.ok(), expected.ok()) << expected.status() << " / " << found.status();
    if (!expected.ok()) continue;
    ASSERT_EQ(found->TypeName(), expected->TypeName());
    ASSERT_TRUE(TensorsEqual(*found, *expected));
    const bool is_view = !found->contiguous() || found->buffer().get() == input.buffer().get();
    // A decoder that found damage has used the slot; the one after it has not.
    const bool damaged = image == "damaged.jpg" || image == "odd.jpg";
    ASSERT_TRUE(is_view || damaged || found->raw() == slot.raw());
    ++compared;
  }
  EXPECT_GT(compared, kFusedImageRuns * 3 / 4);
  std::printf("HEADRACE-COUNT variants=%llu\n", static_cast<unsigned long long>(compared));
}

TEST(FusedImage, GivesAnImageThatNothingMovesWithoutACopy) {
  FusedImageChain chain;
  chain.Add("RandomHorizontalFlip", {{"p", ir::FloatValue(0)}});
  chain.Add("CenterCrop", {{"size", Ints({60, 80})}});
  const Tensor two_channels = Golden("source").Slice(2, 1, 2);
  OutputAllocator output;
  EXPECT_EQ(FusedImage::Make(chain.Parts()).Apply(two_channels, {}, output, nullptr)->raw(), two_channels.raw());
}

TEST(FusedImage, TakesTheFirstPartsThatFit) {
  const Given one = {{"mean", Floats({1})}, {"std", Floats({1})}};
  const Given three = {{"mean", Floats({1, 2, 3})}, {"std", Floats({1})}};
  const auto fitting = [](std::initializer_list<std::pair<const char*, Given>> kernels) {
    FusedImageChain chain;
    for (const auto& [name, given] : kernels) chain.Add(name, given);
    return FusedImage::Make(chain.Parts()).parts();
  };
  EXPECT_EQ(fitting({{"Normalize", one}, {"RandomHorizontalFlip", {}}}), 1u);
  EXPECT_EQ(
      fitting({{"Decode", {}}, {"HWC2CHW", {}}, {"Normalize", three}, {"Rescale", {{"scale", ir::FloatValue(2)}}}}),
      2u);
  EXPECT_EQ(fitting({{"HWC2CHW", {}}, {"Normalize", one}, {"HWC2CHW", {}}}), 2u);
  EXPECT_EQ(fitting({{"HWC2CHW", {}}, {"Grayscale", {}}}), 1u);
  EXPECT_EQ(fitting({{"RandomErasing", {}}, {"HWC2CHW", {}}, {"RandomErasing", {}}}), 2u);
  EXPECT_EQ(fitting({{"HWC2CHW", {}}, {"RandomErasing", {{"layout", ir::StringValue("CHW")}}}}), 2u);
  EXPECT_EQ(fitting({{"RandomErasing", {{"noise", ir::BoolValue(true)}}}, {"HWC2CHW", {}}}), 0u);
  EXPECT_EQ(
      fitting({{"Decode", {}}, {"CenterCrop", {{"size", Ints({8, 8})}}}, {"CutOut", {{"length", ir::IntValue(2)}}}}),
      2u);
}

// A step that a draw leaves out refuses what it would refuse, wherever it is in the pass.
TEST(FusedImage, ChecksTheRangeOfFloats) {
  const Tensor bytes = Golden("source");
  const auto kind = [&bytes](double scale, std::initializer_list<std::pair<const char*, Given>> behind) {
    FusedImageChain chain;
    chain.Add("Rescale", {{"scale", ir::FloatValue(scale)}});
    for (const auto& [name, given] : behind) chain.Add(name, given);
    const FusedImage fused = FusedImage::Make(chain.Parts());
    EXPECT_EQ(fused.parts(), chain.kernels.size());
    OutputAllocator output;
    const absl::Status found = fused.Apply(bytes, {}, output, nullptr).status();
    EXPECT_EQ(found.code(), chain.RunPlain(bytes, {}).status().code());
    return found.ok() ? std::string("ok") : KindOf(found) == ErrorKind::kData ? "data" : "other";
  };
  const Given never = {{"p", ir::FloatValue(0)}};
  for (const auto& [name, given] : std::initializer_list<std::pair<const char*, Given>>{{"RandomInvert", {}},
                                                                                        {"RandomInvert", never},
                                                                                        {"RandomEqualize", never},
                                                                                        {"Equalize", {}},
                                                                                        {"Grayscale", {}}}) {
    EXPECT_EQ(kind(1.0 / 255, {{name, given}}), "ok");
    EXPECT_EQ(kind(1.0 / 255, {{name, given}, {"HWC2CHW", {}}}), "ok");
    EXPECT_EQ(kind(1.0 / 100, {{name, given}}), "data") << name;
    EXPECT_EQ(kind(1.0 / 100, {{name, given}, {"HWC2CHW", {}}}), "data") << name;
    EXPECT_EQ(
        kind(1.0 / 100, {{"RandomChannelPermutation", {}}, {name, given}, {"Rescale", {{"scale", ir::FloatValue(2)}}}}),
        "data")
        << name;
  }
}

// What of an image was damaged shows in the warning alone, and only where it was read.
TEST(FusedImage, DecodesNoMoreThanTheCropNeeds) {
  FusedImageChain chain;
  chain.Add("Decode", {});
  chain.Add("RandomResizedCrop", {{"size", ir::IntValue(8)}, {"scale", Floats({0.001, 0.001})}});
  const FusedImage fused = FusedImage::Make(chain.Parts());
  std::string cut = fixture::ReadTestFile("truncated_baseline.jpg");
  const Tensor closed = *Tensor::CopyBytes(DType::kBytes, cut + "\xFF\xD9");
  int warned = 0;
  for (uint64_t key = 0; key < 50; ++key) {
    OutputAllocator output;
    const Tensor truncated = Encoded("truncated_baseline.jpg");
    EXPECT_EQ(KindOf(fused.Apply(truncated, {.key = key}, output, nullptr).status()), ErrorKind::kData);
    absl::StatusOr<Tensor> found;
    {
      const RowWarning warning;
      found = fused.Apply(closed, {.key = key}, output, nullptr);
      warned += warning.text().empty() ? 0 : 1;
    }
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_TRUE(TensorsEqual(*found, *chain.RunPlain(closed, {.key = key})));
  }
  EXPECT_GT(warned, 5);
  EXPECT_LT(warned, 45);
}

}  // namespace
}  // namespace headrace
