// Measures the hot loops of the image kernels, on one thread, without decoding: "Time" is for one image.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"
#include "core/philox.h"
#include "core/tensor.h"
#include "ir/attributes.h"
#include "ir/graph.pb.h"
#include "ir/value.h"
#include "kernels/kernel.h"
#include "kernels/numbers/convert.h"
#include "kernels/vision/fused/pixel_kernel.h"
#include "kernels/vision/geometry/flip.h"
#include "kernels/vision/image/image.h"
#include "kernels/vision/pixels/normalize_values.h"
#include "kernels/vision/pixels/resample.h"
#include "kernels/vision/pixels/rescale_values.h"
#include "kernels/vision/pixels/split_channels.h"

namespace headrace {
namespace {

constexpr int64_t kSide = 224;

Image RandomImage(DType dtype, int64_t height, int64_t width, int64_t channels) {
  Tensor tensor = *Tensor::Allocate(dtype, {height, width, channels});
  RowRandom random(1, 0, {});
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const auto value = static_cast<uint8_t>(random.Below(256));
    if (dtype == DType::kUInt8) {
      tensor.mutable_data<uint8_t>()[i] = value;
    } else {
      tensor.mutable_data<float>()[i] = value;
    }
  }
  return *ImageOf(tensor, PixelTypes::kByteOrFloat);
}

void Resampling(benchmark::State& state, DType dtype, Filter filter) {
  const Image image = RandomImage(dtype, state.range(0), state.range(1), state.range(2));
  const SourcePart source = {image, {0, 0}, image.height, image.width};
  OutputAllocator output;
  for (auto _ : state) {
    benchmark::DoNotOptimize(Resample(source, filter, kSide, kSide, {0, 0, kSide, kSide}, output));
  }
}
void Sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"height", "width", "channels"});
  for (const auto& [height, width] : {std::pair{150, 180}, {281, 375}, {375, 500}, {900, 1200}}) {
    benchmark->Args({height, width, 3});
  }
  benchmark->Args({375, 500, 1})->Args({375, 500, 4});
}
BENCHMARK_CAPTURE(Resampling, bilinear, DType::kUInt8, Filter::kBilinear)->Apply(Sizes);
BENCHMARK_CAPTURE(Resampling, bicubic, DType::kUInt8, Filter::kBicubic)->Args({375, 500, 3});
BENCHMARK_CAPTURE(Resampling, bilinear_float32, DType::kFloat32, Filter::kBilinear)
    ->Args({375, 500, 1})
    ->Args({375, 500, 3});

std::unique_ptr<Kernel> Made(const std::string& name,
                             const std::vector<std::pair<std::string, ir::proto::Value>>& values) {
  ir::Attributes attributes;
  for (const auto& [attribute, value] : values) attributes.Set(attribute, value);
  return *MakeKernel(name, attributes);
}

void Steps(benchmark::State& state, const std::vector<const Kernel*>& kernels, MovePlan::Flips flips) {
  const Image image = RandomImage(DType::kUInt8, kSide, kSide, 3);
  OutputAllocator output;
  for (auto _ : state) {
    PixelSteps steps({image.height, image.width});
    RowRandom random(1, 0, {});
    for (const Kernel* kernel : kernels) dynamic_cast<const PixelKernel*>(kernel)->AddTo(steps, random);
    benchmark::DoNotOptimize(RunPixelSteps(image, flips, steps, output));
  }
}

// The end of a training pipeline: flip, normalise, channels first.
void NormalizedPlanes(benchmark::State& state) {
  const auto normalize = Made("Normalize", {{"mean", ir::FloatsValue(std::vector{123.675, 116.28, 103.53})},
                                            {"std", ir::FloatsValue(std::vector{58.395, 57.12, 57.375})},
                                            {"layout", ir::StringValue("HWC")}});
  const auto planes = Made("HWC2CHW", {});
  Steps(state, {normalize.get(), planes.get()}, {.left_right = state.range(0) != 0});
}
BENCHMARK(NormalizedPlanes)->ArgName("flip")->Arg(0)->Arg(1);

void Coloring(benchmark::State& state, const std::string& name) {
  const auto kernel = Made(name, {{"factor", ir::FloatValue(0.3)}});
  Steps(state, {kernel.get()}, {});
}
BENCHMARK_CAPTURE(Coloring, brightness, "AdjustBrightness");
BENCHMARK_CAPTURE(Coloring, contrast, "AdjustContrast");
BENCHMARK_CAPTURE(Coloring, saturation, "AdjustSaturation");
BENCHMARK_CAPTURE(Coloring, hue, "AdjustHue");

void Normalizing(benchmark::State& state, DType dtype) {
  const Image image = RandomImage(dtype, kSide, kSide, 3);
  Tensor target = *Tensor::Allocate(DType::kFloat32, {image.tensor.elements()});
  const NormalizePattern pattern({123.675f, 116.28f, 103.53f}, {58.395f, 57.12f, 57.375f}, 3);
  for (auto _ : state) {
    NormalizeValues(image.pixels, dtype, target.elements(), pattern, target.mutable_data<float>());
    benchmark::ClobberMemory();
  }
}
BENCHMARK_CAPTURE(Normalizing, uint8, DType::kUInt8);
BENCHMARK_CAPTURE(Normalizing, float32, DType::kFloat32);

void Rescaling(benchmark::State& state) {
  const Image image = RandomImage(DType::kUInt8, kSide, kSide, 3);
  Tensor target = *Tensor::Allocate(DType::kFloat32, {image.tensor.elements()});
  for (auto _ : state) {
    RescaleValues(image.pixels, DType::kUInt8, target.elements(), 1 / 255.0f, 0.5f, target.mutable_data<float>());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(Rescaling);

void Splitting(benchmark::State& state, DType dtype) {
  const Image image = RandomImage(dtype, kSide, kSide, 3);
  Tensor target = *Tensor::Allocate(dtype, image.tensor.shape());
  const auto item = static_cast<int64_t>(ItemSize(dtype));
  for (auto _ : state) {
    for (int64_t y = 0; y < kSide; ++y) {
      SplitChannels(image.row(y), kSide, 3, item, kSide * kSide * item, target.mutable_raw() + y * kSide * item);
    }
    benchmark::ClobberMemory();
  }
}
BENCHMARK_CAPTURE(Splitting, uint8, DType::kUInt8);
BENCHMARK_CAPTURE(Splitting, float32, DType::kFloat32);

void Flipping(benchmark::State& state, DType dtype) {
  const Image image = RandomImage(dtype, kSide, kSide, state.range(0));
  OutputAllocator output;
  for (auto _ : state) benchmark::DoNotOptimize(FlippedLeftRight(image, output));
}
BENCHMARK_CAPTURE(Flipping, uint8, DType::kUInt8)->ArgName("channels")->Arg(1)->Arg(3)->Arg(4);
BENCHMARK_CAPTURE(Flipping, float32, DType::kFloat32)->ArgName("channels")->Arg(1)->Arg(3);

void Casting(benchmark::State& state, DType from, DType to) {
  const Image image = RandomImage(from, kSide, kSide, 3);
  Tensor target = *Tensor::Allocate(to, image.tensor.shape());
  for (auto _ : state) {
    ConvertValues(image.pixels, from, target.elements(), to, target.mutable_raw());
    benchmark::ClobberMemory();
  }
}
BENCHMARK_CAPTURE(Casting, uint8_to_float32, DType::kUInt8, DType::kFloat32);
BENCHMARK_CAPTURE(Casting, uint8_to_float16, DType::kUInt8, DType::kFloat16);
BENCHMARK_CAPTURE(Casting, float32_to_uint8, DType::kFloat32, DType::kUInt8);
BENCHMARK_CAPTURE(Casting, float32_to_float16, DType::kFloat32, DType::kFloat16);
BENCHMARK_CAPTURE(Casting, float32_to_bfloat16, DType::kFloat32, DType::kBFloat16);

}  // namespace
}  // namespace headrace

BENCHMARK_MAIN();
